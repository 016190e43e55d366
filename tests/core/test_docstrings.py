"""The examples in the docstrings print what they say, and every public name has one."""

import doctest
import importlib
import pkgutil

import pytest

import multiauc

MODULES = [module.name for module in pkgutil.iter_modules(multiauc.__path__) if module.name != "_rust"]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    outcome = doctest.testmod(importlib.import_module(f"multiauc.{name}"))
    assert outcome.failed == 0


@pytest.mark.parametrize("name", [name for name in multiauc.__all__ if name != "__version__"])
def test_public_names_are_documented(name):
    assert len(getattr(multiauc, name).__doc__) > 40
