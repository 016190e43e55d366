"""Every public name has an example in its docstring, and all examples print what they show.

Examples stand alone: they import what they use, so that a reader can run them as they are.
"""

import doctest
import inspect
import pkgutil
import re
from importlib import import_module

import pytest

import multiauc

#: The compiled core has no examples; those of other libraries run in tests/integrations, where the libraries are.
ELSEWHERE = {
    *("multiauc._rust", "multiauc.dask", "multiauc.ray", "multiauc.spark", "multiauc.mlflow"),
    *("multiauc.training.torch_metric", "multiauc.training.keras_callback"),
}
MODULES = [module.name for module in pkgutil.walk_packages(multiauc.__path__, "multiauc.")]
PUBLIC = [
    (module, name)
    for module in ("multiauc", "multiauc.boosting", "multiauc.training", "multiauc.plotting", "multiauc.sklearn")
    for name in import_module(module).__all__
    if name != "__version__"
]


@pytest.mark.parametrize("name", [name for name in MODULES if name not in ELSEWHERE])
def test_examples_of_a_module(name):
    assert doctest.testmod(import_module(name), globs={}).failed == 0


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=[".".join(names) for names in PUBLIC])
def test_a_public_name_has_an_example(module, name):
    """Scorers, which are objects, have the docstring and the example of their class."""
    value = getattr(import_module(module), name)
    assert "Examples\n--------\n" in inspect.getdoc(value)
    finder = doctest.DocTestFinder(recurse=False)
    (test,) = finder.find(value, name, module=False, globs={})
    assert test.examples


def test_examples_of_public_names_are_those_of_modules():
    """So that none is left out where the examples are run."""
    run = {
        test.docstring
        for name in MODULES
        if name not in ELSEWHERE
        for test in doctest.DocTestFinder().find(import_module(name), globs={})
        if test.examples
    }
    missing = [name for module, name in PUBLIC if getattr(import_module(module), name).__doc__ not in run]
    assert not missing


def test_shared_parameter_texts_take_the_place_of_their_names():
    """Indented as the docstring is, and none is left out: also of methods."""
    assert "    labels : sequence of K labels, optional\n        The classes, in" in multiauc.auc_mu_score.__doc__
    assert "        level : float, default 0.95\n            The " in multiauc.Estimate.confidence_interval.__doc__
    documented = [
        value
        for name in MODULES
        if name not in ELSEWHERE - {"multiauc._rust", "multiauc.dask", "multiauc.ray"}  # those need their libraries
        for owner in (import_module(name), *vars(import_module(name)).values())
        for value in getattr(owner, "__dict__", {}).values()
        if callable(value)
    ]
    assert len(documented) > 1000
    assert not [value for value in documented if re.search(r"^ *\{\w+\}$", value.__doc__ or "", re.MULTILINE)]
