"""``python -m multiauc``: the command line."""

from multiauc.cli import main

if __name__ == "__main__":
    main()
