"""Importing the package: what it loads, and when."""

import pkgutil
import subprocess
import sys

import pytest

import multiauc


def run(*lines: str) -> str:
    """What a fresh interpreter prints."""
    command = [sys.executable, "-W", "ignore::RuntimeWarning", "-c", "\n".join(lines)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_importing_loads_nothing_but_numpy():
    loaded = run(
        "import sys, numpy",
        "before = set(sys.modules)",
        "import multiauc",
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))",
    ).split()
    assert set(loaded) - set(sys.stdlib_module_names) <= {"multiauc"}


def test_using_it_loads_no_optional_library():
    loaded = run(
        "import sys, multiauc, multiauc.boosting, multiauc.dask, multiauc.ray, multiauc.training",
        "multiauc.auc_mu_score(['a', 'b', 'c'], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])",
        "multiauc.multiclass_roc([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8])",
        "print(*{name.partition('.')[0] for name in sys.modules})",
    ).split()
    optional = {"sklearn", "scipy", "pandas", "polars", "pyarrow", "torch", "jax", "lightgbm", "xgboost", "catboost"}
    optional |= {"dask", "ray"}
    assert not optional & set(loaded)


def test_every_public_name_is_there_when_first_used():
    printed = run("import multiauc", "print(*[name for name in multiauc.__all__ if getattr(multiauc, name) is None])")
    assert printed.split() == []
    assert set(multiauc.__all__) <= set(dir(multiauc))


@pytest.mark.parametrize(
    "used", ["boosting.lightgbm_metric", "training.hugging_face", "plotting.RocCurvesDisplay", "sklearn.roc_auc_score"]
)
def test_public_modules_are_there_when_first_used(used):
    assert run("import multiauc", f"print(multiauc.{used}.__name__)").strip() == used.rpartition(".")[2]


def test_public_modules_are_not_loaded_before_they_are_used():
    printed = run("import sys, multiauc", "print(*[name for name in sys.modules if name.startswith('multiauc.')])")
    assert set(printed.split()) == {"multiauc._rust"}


def test_only_public_names_are_listed():
    everything = run(
        "import multiauc, multiauc.cli, multiauc.sklearn, multiauc.plotting",
        "multiauc.evaluate, multiauc.compare",
        "print(*dir(multiauc))",
    ).split()
    modules = ["boosting", "dask", "mlflow", "plotting", "ray", "sklearn", "spark", "streaming", "training"]
    assert everything == dir(multiauc) == sorted([*multiauc.__all__, *modules])


def test_no_module_hides_a_public_name():
    assert not {module.name for module in pkgutil.iter_modules(multiauc.__path__)} & set(multiauc.__all__)


def test_what_needs_scikit_learn_says_so_where_it_is_missing():
    printed = run(
        "import sys",
        "sys.modules['sklearn'] = None",
        "try:",
        "    import multiauc.sklearn",
        "except ModuleNotFoundError as error:",
        "    print(error)",
    )
    assert printed.strip() == "multiauc.sklearn needs scikit-learn; install it with: pip install scikit-learn"


@pytest.mark.parametrize(
    ("module", "packages"), [("dask", "'dask[dataframe,distributed]' pyarrow"), ("ray", "'ray[data]' pyarrow")]
)
def test_what_needs_an_engine_says_so_where_it_is_missing(module, packages):
    printed = run(
        "import sys",
        f"sys.modules['{module}'] = None",
        "import multiauc",
        "try:",
        f"    multiauc.{module}.evaluate(None, label='y')",
        "except ModuleNotFoundError as error:",
        "    print(error)",
    )
    assert printed.startswith(f"multiauc.{module} needs ")
    assert printed.endswith(f"; install it with: pip install {packages}\n")


def test_what_needs_spark_says_so_where_it_is_missing():
    printed = run(
        "import sys",
        "sys.modules['pyspark'] = None",
        "try:",
        "    import multiauc.spark",
        "except ModuleNotFoundError as error:",
        "    print(error)",
    )
    assert printed == "multiauc.spark needs PySpark; install it with: pip install pyspark pyarrow 'pandas<3'\n"


def test_the_names_can_be_looked_through_where_scikit_learn_is_missing():
    printed = run(
        "import inspect, sys",
        "sys.modules['sklearn'] = None",
        "import multiauc",
        "print('sklearn' in dict(inspect.getmembers(multiauc)), hasattr(multiauc, 'sklearn'))",
        "try:",
        "    multiauc.sklearn",
        "except AttributeError as error:",
        "    print(error)",
        "try:",
        "    from multiauc import sklearn",
        "except ModuleNotFoundError as error:",
        "    print(error)",
    ).splitlines()
    advice = "multiauc.sklearn needs scikit-learn; install it with: pip install scikit-learn"
    assert printed == ["False False", advice, advice]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'multiauc' has no attribute 'auc_nu_score'"):
        multiauc.auc_nu_score  # noqa: B018
