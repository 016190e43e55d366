"""One layout of JSON for the command line, `to_dict`, `to_json` and reports, described by docs/result.schema.json."""

import dataclasses
import hashlib
import json
import pickle
import platform
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from jsonschema import Draft202012Validator
from pyarrow import parquet

import multiauc
from command_line import COSTS, columns, sample, write_files
from multiauc._display import model as views
from result_schema import SCHEMA, problems

VERSIONS = {"multiauc": multiauc.__version__, "NumPy": np.__version__, "Python": platform.python_version()}

pytestmark = pytest.mark.usefixtures("files")


@pytest.fixture
def files(rng, in_empty_folder):
    """What the files hold, as arrays."""
    return write_files(rng)


def checked(text):
    """The JSON, if it fits the schema."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    found = json.loads(text, parse_constant=refuse)
    assert problems(found) == []
    return found


def test_the_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


def numbers_of(page):
    return checked(re.search(r'id="multiauc-numbers">(.*?)</script>', Path(page).read_text("utf-8"), re.DOTALL)[1])


COMMANDS = [
    "evaluate one.parquet -l y",
    "evaluate one.parquet -l y --sample-weight w --groups user --sampling iid --level 0.8 --worst 2",
    "evaluate one.parquet -l y --bootstrap 40 --metrics pdi,auc_mu",
    "evaluate one.parquet -l y --metrics one_vs_rest --fail-under one_vs_rest=0.1 --fail-on-interval",
    "evaluate one.parquet -l y --partition costs.csv --pair-weights size_sum",
    "evaluate one.parquet -l y --by user,w --metrics hand_till,auc_mu --sample-weight w --level 0.9",
    "evaluate one.parquet -l y --by w",
    "evaluate gap.parquet -l y --by w --absent ignore",
    "evaluate gap.parquet -l y --absent nan",
    "evaluate gap.parquet -l y --absent ignore",
    "compare one.parquet two.parquet -l y",
    "compare both.parquet -l y -s a_* -s b_* --metric hand_till --level 0.9",
    "compare one.parquet two.parquet -l y --id id --bootstrap 50 --seed 2 --fail-if-worse 0.9",
    "compare one.parquet two.parquet -l y --metric multiclass_roc",
    "compare one.parquet two.parquet -l y --metric multiclass_roc --bootstrap 40",
    "compare gap.parquet x=gap.parquet -l y --absent nan",
    "roc one.parquet -l y",
    "roc one.parquet -l y --bootstrap 20 --level 0.8",
    "roc one.parquet -l y --kind one_vs_rest",
    "roc one.parquet -l y --kind pairwise",
    "roc gap.parquet -l y --absent nan",
    "roc gap.parquet -l y --absent nan --kind pairwise",
    "decide one.parquet -l y --costs costs.csv",
    "decide one.parquet -l y --costs costs.csv --sample-weight w --groups user --level 0.8",
    "decide one.parquet -l y --costs costs.csv --judge two.parquet",
    "decide gap.parquet -l y --costs costs.csv --absent ignore",
]


@pytest.fixture
def gap(files):
    """A file without rows of one class."""
    table = parquet.read_table("one.parquet")
    parquet.write_table(table.filter(pa.compute.field("y") != "bee"), "gap.parquet")


@pytest.mark.usefixtures("gap")
@pytest.mark.parametrize("line", COMMANDS)
def test_the_command_line_fits_the_schema(cli, line):
    found = checked(cli(*line.split(), "-f", "json"))
    level = re.search(r"--level ([0-9.]+)", line)
    assert found["level"] == (float(level[1]) if level else 0.95)
    assert found["version"] == 1
    assert found["rows"] == sum(found["counts"]) == (60 if "gap" in line else 90)
    assert found["provenance"]["versions"] == VERSIONS


VIEWS = {
    "estimate": views.Estimate,
    "class": views.Class,
    "pair": views.Pair,
    "difference": views.Difference,
    "gate": views.Gate,
    "cost_difference": views.CostDifference,
    "slice": views.Slice,
    "slice_table": views.Slices,
    "evaluation": views.Evaluation,
    "runs_estimate": views.RunsEstimate,
    "runs": views.Runs,
    "comparison": views.Compared,
    "multiclass_roc": views.MulticlassRoc,
    "roc_curves": views.RocCurves,
    "decisions": views.Costs,
    "report": views.Report,
}


@pytest.mark.parametrize("name", VIEWS)
def test_the_schema_describes_what_is_shown(name):
    """Every field of a dataclass is described, what may be left out is not required, and nothing else is there."""

    def names(view):
        for field in dataclasses.fields(view):
            if field.metadata == views.INLINE:
                part = getattr(views, str(field.type).split(" |")[0])
                for inner, optional in names(part):
                    yield inner, optional or field.default is None
            elif field.metadata != views.HIDDEN:
                yield field.metadata.get("name", field.name), field.metadata == views.OPTIONAL

    schema, fields = SCHEMA["$defs"][name], dict(names(VIEWS[name]))
    around = {"version", "kind", "provenance"} if "kind" in schema["properties"] else set()
    assert set(schema["required"]) <= {field for field, optional in fields.items() if not optional} | around
    if not schema.get("additionalProperties"):
        bounds = {"guaranteed_low", "guaranteed_high", "exact"}  # differences and slices have none
        assert set(schema["properties"]) | bounds == set(fields) | around | bounds


class TestProvenance:
    def test_files_with_size_digest_and_rows(self, cli):
        found = checked(cli("compare one.parquet x=two.parquet -l y --partition costs.csv -f json"))
        expected = [
            ("one.parquet", "predictions", 90),
            ("two.parquet", "predictions", 90),
            ("costs.csv", "costs", None),
        ]
        assert found["provenance"]["files"] == [
            {
                "name": name,
                "size": Path(name).stat().st_size,
                "sha256": hashlib.sha256(Path(name).read_bytes()).hexdigest(),
                "holds": holds,
                "rows": rows,
            }
            for name, holds, rows in expected
        ]

    def test_a_file_of_several_models_is_there_once(self, cli):
        found = checked(cli("compare both.parquet -l y -s a_* -s b_* -f json"))
        assert [file["name"] for file in found["provenance"]["files"]] == ["both.parquet"]

    def test_options(self, cli):
        chosen = "--sample-weight w --groups user --bootstrap 30 --seed 5 --level 0.9 --metrics auc_mu"
        line = f"evaluate one.parquet -l y {chosen}"
        options = checked(cli(*line.split(), "--threads", 1, "-f", "json"))["provenance"]["options"]
        expected = {"label": "y", "sample_weight": "w", "groups": "user", "bootstrap": 30, "seed": 5, "level": 0.9}
        assert options | expected == options
        assert options["metrics"] == ["auc_mu"]
        assert not {"threads", "style", "output", "force", "files"} & set(options)

    def test_options_of_python(self, files):
        labels, first, second, extra = files
        result = multiauc.evaluate(labels, first, partition=COSTS, sample_weight=extra["w"], sampling="iid")
        provenance = checked(result.to_json())["provenance"]
        assert provenance["files"] == []
        assert provenance["options"] == {
            "metrics": ["auc_mu", "hand_till", "one_vs_rest", "one_vs_rest_prevalence"],
            "partition": COSTS.tolist(),
            "pair_weights": None,
            "sample_weight": True,
            "groups": False,
            "folds": False,
            "sampling": "iid",
            "absent": "raise",
            "outputs": None,
        }
        comparison = multiauc.compare(labels, {"a": first, "b": second}, groups=extra["user"], metric="hand_till")
        options = checked(comparison.to_json())["provenance"]["options"]
        assert (options["metrics"], options["groups"]) == (["hand_till"], True)
        folds = np.arange(len(labels)) // 3 % 3
        assert checked(multiauc.evaluate(labels, first, folds=folds).to_json())["provenance"]["options"]["folds"]


class TestOneLayout:
    def test_the_command_line_and_python(self, cli, rng):
        labels, scores = sample(rng, 180)  # so many that both take the same kind of interval
        second = sample(rng, 180)[1]
        for name, matrix in (("one", scores), ("two", second)):
            parquet.write_table(pa.table({"y": labels} | columns(matrix)), f"{name}.parquet")
        for level in (0.95, 0.8):
            found = checked(cli("evaluate", "one.parquet", "-l", "y", "--level", level, "-f", "json"))
            python = checked(multiauc.evaluate(labels, scores).to_json(level))
            for name in set(python) - {"provenance", "per_class"}:
                assert found[name] == python[name], name
            for ours, theirs in zip(found["per_class"], python["per_class"], strict=True):
                assert ours | theirs == ours
            assert set(found) - set(python) == {"model", "worst_pairs"}
            found = checked(cli("compare", "one.parquet", "two.parquet", "-l", "y", "--level", level, "-f", "json"))
            python = checked(multiauc.compare(labels, {"one": scores, "two": second}).to_json(level))
            for name in set(python) - {"provenance", "differences"}:
                assert found[name] == python[name], name
            for ours, theirs in zip(found["differences"], python["differences"], strict=True):
                assert ours | theirs == ours
            assert set(found) - set(python) == {"order", "correction", "verdict"}

    @pytest.mark.parametrize("models", ["one.parquet", "one.parquet two.parquet"])
    def test_reports(self, cli, models):
        cli(f"report {models} -l y --bootstrap 20 --level 0.9 --partition costs.csv -o page.html")
        page = numbers_of("page.html")
        assert (page["kind"], page["level"], page["version"]) == ("report", 0.9, 1)
        names = [file["name"] for file in page["provenance"]["files"]]
        assert names == [*models.split(), "costs.csv"]
        assert page["provenance"]["options"]["bootstrap"] == 20
        for model in page["models"]:
            line = f"evaluate {model['name']}.parquet -l y --level 0.9 --partition costs.csv --worst 5 -f json"
            found = checked(cli(line))
            assert found["per_class"] == model["per_class"]
            assert found["worst_pairs"] == model["worst_pairs"]
            assert found["metrics"] == {name: model["metrics"][name] for name in found["metrics"]}
        if page["comparison"] is not None:
            found = checked(cli(f"compare {models} -l y --level 0.9 --partition costs.csv -f json"))
            assert found["differences"] == page["comparison"]["differences"]
            assert found["order"] == page["comparison"]["order"]

    def test_reports_of_python(self, files):
        labels, scores, *_ = files
        multiauc.evaluate(labels, scores).report("page.html", n_resamples=0)
        page = numbers_of("page.html")
        assert page["provenance"]["files"] == []
        assert page["provenance"]["options"]["sampling"] == "stratified"

    def test_unpickled_results_have_the_same(self, files):
        labels, scores, second, extra = files
        for result in (
            multiauc.evaluate(labels, scores, groups=extra["user"]),
            multiauc.compare(labels, {"a": scores, "b": second}, sample_weight=extra["w"]),
        ):
            copy = pickle.loads(pickle.dumps(result))
            assert copy.to_json(0.9) == result.to_json(0.9)
            assert pickle.loads(pickle.dumps(copy)).to_dict() == result.to_dict()


class TestValues:
    def test_levels(self, files):
        labels, scores, second, _ = files
        evaluation = multiauc.evaluate(labels, scores)
        found = evaluation.to_dict(0.5)
        assert found["level"] == 0.5
        estimate = evaluation.one_vs_rest
        assert found["metrics"]["one_vs_rest"] == estimate.to_dict(0.5)
        assert (estimate.to_dict(0.5)["low"], estimate.to_dict(0.5)["high"]) == tuple(estimate.confidence_interval(0.5))
        difference = multiauc.compare(labels, {"a": scores, "b": second}).difference("a", "b")
        interval = difference.to_dict(0.6)
        assert (interval["low"], interval["high"]) == tuple(difference.confidence_interval(0.6))
        with pytest.raises(ValueError, match="level must be"):
            evaluation.to_json(95)

    def test_labels_and_names_of_every_kind(self, rng):
        codes, scores = sample(rng)
        codes = np.unique(codes, return_inverse=True)[1]
        for labels in ([False, True, "x"], [1.5, 2, "x"], [np.int64(1), b"2", "\ud800"]):
            truth = np.empty(len(codes), dtype=object)
            truth[:] = [labels[code] for code in codes]
            checked(multiauc.evaluate(truth, scores, labels=labels).to_json())
        names = [("a", 1), None, frozenset({2})]
        found = checked(
            multiauc.compare(
                codes, dict(zip(names, (scores, scores**2, scores**3), strict=True)), metric="kappa"
            ).to_json()
        )
        shown = list(found["estimates"])
        pairs = [(one["first"], one["second"]) for one in found["differences"]]
        assert pairs == [(shown[0], shown[1]), (shown[0], shown[2]), (shown[1], shown[2])]

    def test_what_is_not_known_is_null(self):
        found = checked(multiauc.evaluate([0, 0, 1, 1], np.full(4, 0.5)).to_json())
        assert found["metrics"]["auc_mu"] == {"value": 0.5, "standard_error": 0.0, "low": None, "high": None}


class TestValidator:
    """The validator of these tests finds what is wrong."""

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"version": 2}, "version: 1 was expected"),
            ({"level": "0.95"}, "level: '0.95' is not of type"),
            ({"level": 95}, "level: 95 is greater than"),
            ({"counts": [1, -1]}, "-1 is less than"),
            ({"counts": [1, 1.5]}, "1.5 is not of type"),
            ({"counts": [True]}, "True is not of type"),
            ({"typo": 1}, "'typo' was unexpected"),
            ({"metrics": {"auc_mu": {"value": 1.0}}}, "'standard_error' is a required"),
            ({"gates": [{"of": "high"}]}, "'high' is not one of"),
            ({"kind": "evaluations"}, "'evaluation' was expected"),
        ],
    )
    def test_what_does_not_fit(self, files, change, problem):
        labels, scores, *_ = files
        found = json.loads(multiauc.evaluate(labels, scores).to_json())
        assert problems(found) == []
        said = problems(found | change, "evaluation")
        assert any(problem in one for one in said), said
        assert problems(found | change)

    def test_digests(self):
        file = {"name": "a", "size": 1, "sha256": "0" * 64, "holds": "costs", "rows": None}
        assert problems(file, "file") == []
        assert problems(file | {"sha256": "0" * 63}, "file")
