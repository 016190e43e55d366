"""Exact areas under the ROC curve for classifiers of more than two classes.

One number: `auc_mu_score`, `hand_till_score`, `one_vs_rest_score`, `pdi_score`. All pairs and all classes:
`auc_mu_matrix`, `hand_till_matrix`, `one_vs_rest_per_class`, `roc_curves`. One curve for all pairs: `multiclass_roc`.
With standard errors and intervals: `evaluate` for one model, `compare` for several, `compare_samples` for different
rows, `evaluate_slices` for parts of the rows; `sample_size` plans how many rows they need. Files larger than memory:
`evaluate_dataset`; rows on several machines: `multiauc.dask`, `multiauc.ray`. Volumes, about one row of every class at
a time: `pdi`, `hum`, `ordered_vus`, `landgrebe_duin_score`, `ferri_vus_score`. Labels may be of any kind, scores in any
memory layout.
"""

from importlib import import_module

from multiauc._rust import __version__ as __version__
from multiauc._rust import debug_build

# The stub beside this file is the one list of public names: type checkers read it, and so does this. A module is loaded
# when one of its names is first used, so `import multiauc` takes no longer than importing NumPy.
with open(f"{__file__}i", encoding="utf-8") as _stub:  # noqa: PTH123 - pathlib would double the time of the import
    _SOURCES = {name: module for _, module, _, name, *_ in map(str.split, _stub)}
# Submodules are not in `__all__`: some of them need other libraries.
__all__ = sorted(name for name, module in _SOURCES.items() if module != __name__)  # noqa: PLE0605


def __getattr__(name: str) -> object:
    module = _SOURCES.get(name)
    if module is None:
        raise AttributeError(f"module 'multiauc' has no attribute {name!r}")
    if module != __name__:
        value = globals()[name] = getattr(import_module(module), name)
        return value
    try:
        return import_module(f"multiauc.{name}")
    except ModuleNotFoundError as error:
        # What looks at all names of a module expects no other error for a name that is not there.
        raise AttributeError(str(error)) from error


def __dir__() -> list[str]:
    return sorted(_SOURCES)


if debug_build:
    import warnings

    warnings.warn("multiauc was compiled without optimisation and is very slow", RuntimeWarning, stacklevel=2)
    del warnings

del debug_build
