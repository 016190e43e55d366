"""Reading predictions and costs from files; what is wrong with a file is a ``ValueError`` that names it.

Needs pyarrow (``pip install multiauc[cli]``). A row of a message is counted from 1, without the header.
"""
