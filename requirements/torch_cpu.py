"""Let the CPU half of PyPI's torch load on a machine without CUDA.

On Linux the wheel of torch on PyPI is linked against CUDA libraries: some 2.5 GB of further packages, of which a run on
the CPU calls nothing. (The CPU-only build lives on a package index of its own.) So the environments that need torch
install the wheel without its dependencies, add the two small CUDA packages that are called while torch loads, and run
this script, which compiles stand-ins for the other libraries. A stand-in has the file name, the symbols and the symbol
versions that torch's libraries ask for; each of its functions stops the process if it is ever called. The CPU kernels
are torch's own, untouched.

Run it with the interpreter that has torch: ``python torch_cpu.py``. It needs a C compiler (``cc``) and pyelftools.
"""

import importlib.util
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

#: File names of CUDA libraries; the driver itself (libcuda) is looked for at run time and rightly not found.
LIBRARY_PREFIXES = ("libcublas", "libcudnn", "libcuf", "libcus", "libnv", "libnccl")
#: Symbols of the CUDA libraries that have no symbol versions.
UNVERSIONED_PREFIXES = ("nccl", "cuFile", "cusparseLt")


def needed_libraries(elf: Any) -> list[str]:
    """Return the file names of the libraries that `elf` is linked against."""
    return [tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")]


def imported_symbols(elf: Any) -> Iterator[tuple[str, str, str]]:
    """Yield (library, version, name) of the symbols `elf` takes from elsewhere; unversioned ones have "" for both."""
    sources: dict[int, tuple[str, str]] = {}
    requirements = elf.get_section_by_name(".gnu.version_r")
    if requirements is None:
        return
    for library, versions in requirements.iter_versions():
        for version in versions:
            sources[version["vna_other"]] = (library.name, version.name)
    version_numbers = elf.get_section_by_name(".gnu.version")
    for index, symbol in enumerate(elf.get_section_by_name(".dynsym").iter_symbols()):
        if symbol["st_shndx"] == "SHN_UNDEF":
            library, version = sources.get(version_numbers.get_symbol(index)["ndx"], ("", ""))
            if library or symbol.name.startswith(UNVERSIONED_PREFIXES):
                yield library, version, symbol.name


def compile_stand_in(path: Path, symbols: dict[str, set[str]]) -> None:
    """Compile the shared library `path` with `symbols` (version → names); every function in it is a trap."""
    source = "".join(f"void {name}(void) {{ __builtin_trap(); }}\n" for names in symbols.values() for name in names)
    script = "".join(f"{version} {{ global: {'; '.join(sorted(names))}; }};\n" for version, names in symbols.items())
    with tempfile.NamedTemporaryFile("w", suffix=".map") as version_script:
        version_script.write(script)
        version_script.flush()
        options = [f"-Wl,-soname,{path.name}", f"-Wl,--version-script={version_script.name}", "-o", str(path)]
        command = ["cc", "-w", "-fPIC", "-shared", "-nostdlib", *options, "-x", "c", "-"]
        subprocess.run(command, input=source, text=True, check=True)


def main() -> None:
    """Put a stand-in for every CUDA library that is missing beside torch's own libraries."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        sys.exit("torch is not installed")
    folder = Path(spec.origin).parent / "lib"
    present = {path.name for path in folder.iterdir()}
    present |= {path.name for path in folder.parent.parent.glob("nvidia/*/lib/*")}
    missing: set[str] = set()
    symbols: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path in sorted(folder.glob("lib*.so")):
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            missing |= {name for name in needed_libraries(elf) if name.startswith(LIBRARY_PREFIXES)} - present
            for library, version, symbol in imported_symbols(elf):
                symbols[library][version].add(symbol)
    for name in sorted(missing):
        compile_stand_in(folder / name, symbols.get(name, symbols[""]))
    print(f"torch: {len(missing)} CUDA libraries stood in for" if missing else "torch: nothing to stand in for")


if __name__ == "__main__":
    main()
