"""Files that say the same thing in several places agree."""

import re
import tomllib
from pathlib import Path

import multiauc

ROOT = Path(__file__).parents[2]
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def text_of(name):
    return (ROOT / name).read_text("utf-8")


def test_there_is_one_version():
    locked = tomllib.loads(text_of("Cargo.lock"))["package"]
    (cited,) = re.findall(r"^version: (.+)$", text_of("CITATION.cff"), re.MULTILINE)
    versions = {
        CARGO["package"]["version"],
        CARGO["dependencies"]["multiauc"]["version"],
        *(package["version"] for package in locked if package["name"].startswith("multiauc")),
        cited,
        multiauc.__version__,
    }
    assert len(versions) == 1, versions


def test_the_oldest_rust_is_the_same_everywhere():
    assert re.findall(r"Needs Rust ([\d.]+[\d])", text_of("rust/multiauc/README.md")) == [
        CARGO["package"]["rust-version"]
    ]


def test_every_supported_python_is_tested():
    versions = [word.rpartition(" ")[2] for word in PROJECT["classifiers"] if "Python :: 3." in word]
    (tested,) = re.findall(r"^ +python: \[(.*)\]$", text_of(".github/workflows/checks.yml"), re.MULTILINE)
    assert re.findall(r'"(.*?)"', tested) == versions
    assert PROJECT["requires-python"] == f">={versions[0]}"


def test_actions_are_pinned_to_one_commit_each():
    uses = [
        line
        for path in WORKFLOWS
        for line in re.findall(r"^ +(?:- )?uses: (.*)$", path.read_text("utf-8"), re.MULTILINE)
    ]
    foreign = [line for line in uses if not line.startswith("./")]
    assert len(foreign) > 10
    pins = {}
    for line in foreign:
        pin = re.fullmatch(r"([\w./-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)", line)
        assert pin, line
        pins.setdefault(pin[1], set()).add((pin[2], pin[3]))
    assert [action for action, versions in pins.items() if len(versions) > 1] == []


def test_requirements_are_pinned():
    pin = re.compile(r"[\w.-]+(?:\[[\w,]+\])?==[\w.]+(?:; .*)?")
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith(("#", "-r "))]
        assert lines
        assert [line for line in lines if not pin.fullmatch(line)] == [], path.name


def test_what_is_installed_together_has_one_version():
    pins = {}
    for name in ("dev", "test", "test-browser", "audit"):
        for package, version in re.findall(r"^([\w.-]+)==([\w.]+)", text_of(f"requirements/{name}.txt"), re.MULTILINE):
            pins.setdefault(package.lower(), set()).add(version)
    assert {package: versions for package, versions in pins.items() if len(versions) > 1} == {}


def test_the_changelog_has_the_form_it_names():
    headings = re.findall(r"^(##+) (.*)$", text_of("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == ("##", "[Unreleased]")
    releases = [title for level, title in headings[1:] if level == "##"]
    assert [title for title in releases if not re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", title)] == []
    kinds = {title for level, title in headings if level == "###"}
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
