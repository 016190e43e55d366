# Entry point: every target does its own set-up. Needs Python >= 3.11 and a Rust toolchain with a C linker, nothing else.

PYTHON ?= python3
VENV := .venv
BENCH_VENV := .venv-bench
INTEGRATIONS_VENV := .venv-integrations
SPARK_VENV := .venv-spark
WHEEL_VENV := .venv-wheel
PY := $(VENV)/bin/python
BENCH_PY := $(BENCH_VENV)/bin/python
INTEGRATIONS_PY := $(INTEGRATIONS_VENV)/bin/python
SPARK_PY := $(SPARK_VENV)/bin/python
WHEEL_PY := $(WHEEL_VENV)/bin/python
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
MATURIN := VIRTUAL_ENV=$(CURDIR)/$(VENV) $(VENV)/bin/maturin
CARGO := cargo
# One interpreter for every Rust build, so that cargo and maturin share what they compile.
export PYO3_PYTHON := $(CURDIR)/$(PY)

PYTHON_SOURCES := python tests examples benches studies requirements docs .ci
TYPED := python/multiauc benches studies requirements docs/_site docs/papers

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-rust test-python test-browser test-integrations test-spark test-wheel screenshots check check-rust check-python \
        check-workflows check-wheel audit develop wheel sdist docs notebooks figures fuzz coverage-study bench bench-quick bench-smoke bench-spark bench-figures bench-kernels \
        bench-install clean
.NOTPARALLEL:

help:  ## Show what there is
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

demo: develop  ## Train three models on the digits data, evaluate them, write a report
	$(PY) examples/demo.py

test: test-rust test-python  ## Run the quick tests of both languages (minutes)

test-all: test-rust develop  ## Run all of them: long simulations, pages, notebooks and processes too
	HYPOTHESIS_PROFILE=ci $(PY) -m pytest --numprocesses logical

test-rust: $(VENV)/.installed
	$(CARGO) test --locked --profile develop --package multiauc

test-python: develop
	$(PY) -m pytest -m "not slow" --numprocesses logical

# In a process of their own: they fork, which JAX warns of where other tests have loaded it.
CLUSTER_TESTS := tests/integrations/test_dask.py tests/integrations/test_ray.py
test-integrations: wheel $(INTEGRATIONS_VENV)/.installed  ## Run the tests with the real libraries (installs 3 GB)
	$(INTEGRATIONS_PY) $(PIP_INSTALL) --no-deps --force-reinstall dist/multiauc-*.whl
	$(INTEGRATIONS_PY) -m pytest tests/integrations $(CLUSTER_TESTS:%=--ignore=%)
	$(INTEGRATIONS_PY) -m pytest $(CLUSTER_TESTS)

test-spark: wheel $(SPARK_VENV)/.installed  ## Run the tests with a real local Spark (needs Java 17; installs 1 GB)
	$(SPARK_PY) $(PIP_INSTALL) --no-deps --force-reinstall dist/multiauc-*.whl
	$(SPARK_PY) -m pytest tests/integrations/test_spark.py tests/integrations/test_spark_cluster.py
	$(SPARK_PY) -m pytest tests/integrations/test_columns_of_clusters.py -k spark

test-browser: docs $(VENV)/.browser  ## Open reports and the site in a real browser (installs Debian's chromium if there is none)
	$(PY) -m pytest tests/browser

# Part of them: make test-wheel TESTS=tests/core/test_package.py
TESTS ?= tests/core
test-wheel: wheel  ## Run the tests of Python with the wheel, in an environment made for it, without Rust
	rm -rf $(WHEEL_VENV)
	$(PYTHON) -m venv $(WHEEL_VENV)
	$(WHEEL_PY) $(PIP_INSTALL) -r requirements/test.txt dist/multiauc-*.whl
	PATH=$(CURDIR)/$(WHEEL_VENV)/bin:/usr/bin:/bin $(WHEEL_PY) -m pytest --numprocesses logical $(TESTS)

screenshots: develop $(VENV)/.browser  ## Screenshots of reports, into target/screenshots, and those of the docs
	$(PY) tests/browser/screenshots.py

check: check-rust check-python check-workflows  ## Formatting, lints, import contracts, types, stubs, workflows

check-rust: $(VENV)/.installed
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps --package multiauc

check-python: develop
	$(VENV)/bin/ruff check $(PYTHON_SOURCES)
	$(VENV)/bin/ruff format --check $(PYTHON_SOURCES)
	$(VENV)/bin/lint-imports --no-cache
	$(PY) .ci/layer_size.py
	$(PY) .ci/wording.py | tail -1
	$(PY) -m mypy --strict $(TYPED)
	$(PY) -m mypy.stubtest multiauc._rust

# The schemas are part of check-jsonschema: nothing is fetched.
CHECK_SCHEMA := $(VENV)/bin/check-jsonschema --quiet --builtin-schema
check-workflows: $(VENV)/.installed  ## Look over workflows, issue forms and CITATION.cff
	$(VENV)/bin/zizmor --offline --persona pedantic --quiet .github
	$(CHECK_SCHEMA) vendor.github-workflows .github/workflows/*.yml
	$(CHECK_SCHEMA) custom.github-workflows-require-timeout .github/workflows/*.yml
	$(CHECK_SCHEMA) vendor.dependabot .github/dependabot.yml
	$(CHECK_SCHEMA) vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(CHECK_SCHEMA) vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(CHECK_SCHEMA) vendor.citation-file-format --force-filetype yaml CITATION.cff

audit: $(VENV)/.audit  ## Look for known vulnerabilities and licences that do not fit (needs cargo-deny and the network)
	$(PY) -m pip_audit --strict --disable-pip --no-deps $(addprefix -r ,$(wildcard requirements/*.txt))
	$(CARGO) deny --locked check

develop: $(VENV)/.installed  ## Build the extension and put the package into .venv
	$(MATURIN) develop --profile develop --locked

# Zig, from the registry, links against the glibc of 2014, whatever the machine has: the wheel runs on any Linux since.
# For another Linux: make wheel TARGET=aarch64-unknown-linux-musl, with Rust's library for it (rustup target add).
TARGET ?=
LIBC := $(if $(findstring musl,$(TARGET)),musllinux_1_2,manylinux_2_17)
WHEEL := $(if $(filter GNU/Linux,$(shell uname -o 2> /dev/null)),--zig --compatibility $(LIBC)) $(if $(TARGET),--target $(TARGET))
wheel: $(VENV)/.installed  ## Build the wheel into dist/
	rm -f dist/*.whl
	CARGO_ZIGBUILD_PYTHON_PATH=$(CURDIR)/$(PY) $(MATURIN) build --release --locked $(WHEEL) --out dist

check-wheel: wheel  ## Look whether the wheel keeps what its name promises: an old glibc, every Python from 3.11 on
	$(if $(findstring manylinux,$(WHEEL)),$(VENV)/bin/auditwheel show dist/multiauc-*.whl > target/auditwheel.txt)
	$(if $(findstring manylinux,$(WHEEL)),grep -E '"manylinux_2_(5|12|17)_' target/auditwheel.txt || { cat target/auditwheel.txt; exit 1; })
	$(VENV)/bin/twine check --strict dist/multiauc-*.whl
	$(VENV)/bin/abi3audit --strict --verbose dist/multiauc-*.whl

sdist: $(VENV)/.installed  ## Build the source distribution into dist/
	rm -f dist/*.tar.gz
	$(MATURIN) sdist --out dist
	$(VENV)/bin/twine check --strict dist/multiauc-*.tar.gz

bench: bench-install $(BENCH_VENV)/.torch  ## Measure everything, and put the figures into README and docs (25 minutes)
	$(BENCH_PY) benches/compare.py --output benches/RESULTS.md
	$(BENCH_PY) benches/two_classes.py --output benches/RESULTS-two-classes.md
	$(BENCH_PY) benches/cliffs.py --output benches/RESULTS-cliffs.md
	$(BENCH_PY) benches/ratios.py --output benches/RESULTS-ratios.md
	$(BENCH_PY) benches/drop_in.py --output benches/RESULTS-drop-in.md
	$(BENCH_PY) benches/multiclass_roc_speed.py
	$(BENCH_PY) benches/volumes.py --output benches/RESULTS-volumes.md
	$(BENCH_PY) benches/streaming.py --output benches/RESULTS-streaming.md
	$(BENCH_PY) benches/bootstrap_speed.py
	$(BENCH_PY) benches/sparse.py --output benches/RESULTS-sparse.md
	$(BENCH_PY) benches/bare_kernels.py --output benches/RESULTS-bare-kernels.md
	$(BENCH_PY) benches/files.py --output benches/RESULTS-files.md
	$(MAKE) bench-spark
	$(MAKE) bench-figures

bench-figures: $(VENV)/.installed  ## Put the figures of benches/RESULTS*.md into the chart, README and docs
	$(PY) studies/refresh_figures.py
	$(PY) studies/figures_speed.py

bench-spark: wheel $(SPARK_VENV)/.installed  ## Compare with Spark's own metrics and write benches/RESULTS-spark.md (5 minutes)
	$(SPARK_PY) $(PIP_INSTALL) --no-deps --force-reinstall dist/multiauc-*.whl
	$(SPARK_PY) benches/spark.py --output benches/RESULTS-spark.md

# -n and -W: a link, a reference or a name that leads nowhere is an error; -E: also the second time.
docs: develop $(VENV)/.docs  ## Build the docs into target/docs (open target/docs/index.html)
	$(VENV)/bin/sphinx-build -b html -E -n -W --keep-going --quiet --doctree-dir target/doctrees docs target/docs

notebooks: develop  ## Run the notebooks of examples/ and keep their outputs
	$(PY) studies/notebooks.py

figures: develop  ## Draw the figures of the docs, and compute the pages of the papers (ten minutes)
	$(PY) studies/figures_speed.py
	$(PY) studies/figures_multiclass_roc.py
	$(PY) studies/figures_summary_roc.py
	$(PY) studies/figures_plots.py
	$(PY) studies/figures_definitions.py
	$(PY) studies/figures_tutorial.py
	$(PY) studies/figures_which_metric.py
	$(PY) docs/papers/auc_mu.py
	$(PY) docs/papers/auc_mu_properties.py
	$(PY) docs/papers/auc_mu_ties.py
	$(PY) docs/papers/auc_mu_growth.py
	$(PY) docs/papers/hand_till.py
	$(PY) docs/papers/extensions.py
	$(PY) docs/papers/multiclass_roc.py

# Another budget: make fuzz FUZZ="--cases 1000000" WEIGHTED_CASES=20000. The first goes on where the last one stopped; the weighted
# cases, which are compared with a slow way in Rust, are new ones each time (the same again: WEIGHTED_SEED=7).
FUZZ ?= --seconds 60
WEIGHTED_CASES ?= 1000000
WEIGHTED_SEED ?= $(shell date +%s)
fuzz: develop  ## Random small samples against exact arithmetic or the slow way, until the first difference (six minutes)
	$(PY) studies/fuzz.py --state target/fuzz.json $(FUZZ)
	MULTIAUC_FUZZ_SEED=$(WEIGHTED_SEED) MULTIAUC_FUZZ_CASES=$(WEIGHTED_CASES) \
	    $(CARGO) test --locked --profile develop --package multiauc --lib weighted_pairs_and_columns -- --nocapture

coverage-study: develop  ## How often intervals cover: docs/coverage.csv and its figure; goes on where it was (an hour)
	MULTIAUC_NUM_THREADS=1 $(PY) studies/coverage.py docs/coverage.csv
	$(PY) studies/figures_coverage.py

bench-quick: bench-install  ## The same on a few sizes, printed only (two minutes)
	$(BENCH_PY) benches/compare.py --quick

bench-smoke: develop  ## Run the comparison once on tiny data with the peers that are there (seconds)
	$(PY) benches/compare.py --smoke --output target/bench-smoke.md
	$(PY) benches/cliffs.py --smoke --output target/bench-smoke-cliffs.md
	$(PY) benches/two_classes.py --smoke --output target/bench-smoke-two-classes.md
	$(PY) benches/ratios.py --smoke --output target/bench-smoke-ratios.md
	$(PY) benches/drop_in.py --smoke --output target/bench-smoke-drop-in.md
	$(PY) benches/multiclass_roc_speed.py --quick
	$(PY) benches/bare_kernels.py --smoke --output target/bench-smoke-bare-kernels.md
	$(PY) benches/volumes.py --smoke --output target/bench-smoke-volumes.md
	$(PY) benches/files.py --smoke --output target/bench-smoke-files.md
	$(PY) benches/streaming.py --smoke --output target/bench-smoke-streaming.md
	$(PY) benches/sparse.py --smoke --output target/bench-smoke-sparse.md

bench-kernels: $(VENV)/.installed  ## Criterion benches of the Rust kernels
	$(CARGO) bench --locked --package multiauc-benches

bench-install: wheel $(BENCH_VENV)/.installed
	$(BENCH_PY) $(PIP_INSTALL) --no-deps --force-reinstall dist/multiauc-*.whl

clean:  ## Remove everything that was built or installed here
	rm -rf target dist build $(VENV) $(BENCH_VENV) $(INTEGRATIONS_VENV) $(SPARK_VENV) $(WHEEL_VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f python/multiauc/*.so python/multiauc/*.pyd
	find $(PYTHON_SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

# Environments: made once, brought up to date when their requirements change.

$(PY) $(BENCH_PY) $(INTEGRATIONS_PY) $(SPARK_PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "multiauc needs Python >= 3.11; name one with: make PYTHON=/path/to/python ..." >&2; exit 1; }
	$(PYTHON) -m venv $(patsubst %/bin/python,%,$@)

$(VENV)/.installed: requirements/dev.txt requirements/test.txt | $(PY)
	$(PY) $(PIP_INSTALL) -r $<
	touch $@

$(VENV)/.browser: requirements/test-browser.txt | $(VENV)/.installed
	$(PY) $(PIP_INSTALL) -r $<
	test -n "$$CHROMIUM" || command -v chromium > /dev/null \
	    || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; }
	touch $@

$(VENV)/.docs: requirements/docs.txt | $(VENV)/.installed
	$(PY) $(PIP_INSTALL) -r $<
	touch $@

$(VENV)/.audit: requirements/audit.txt | $(VENV)/.installed
	$(PY) $(PIP_INSTALL) -r $<
	touch $@

$(BENCH_VENV)/.installed: requirements/bench.txt | $(BENCH_PY)
	$(BENCH_PY) $(PIP_INSTALL) -r $<
	touch $@

$(INTEGRATIONS_VENV)/.installed: requirements/test-integrations.txt requirements/no-dependencies.txt requirements/torch-cpu.txt requirements/torch_cpu.py | $(INTEGRATIONS_PY)
	$(INTEGRATIONS_PY) $(PIP_INSTALL) -r $<
	$(INTEGRATIONS_PY) $(PIP_INSTALL) --no-deps -r requirements/torch-cpu.txt -r requirements/no-dependencies.txt
	$(INTEGRATIONS_PY) requirements/torch_cpu.py
	touch $@

$(SPARK_VENV)/.installed: requirements/test-spark.txt | $(SPARK_PY)
	$(SPARK_PY) $(PIP_INSTALL) -r $<
	touch $@

# The comparison goes on without torchmetrics, and says so, where torch cannot be had.
$(BENCH_VENV)/.torch: requirements/torch-cpu.txt requirements/torch_cpu.py | $(BENCH_VENV)/.installed
	if $(BENCH_PY) $(PIP_INSTALL) --no-deps -r $< && $(BENCH_PY) requirements/torch_cpu.py \
	    && $(BENCH_PY) -c 'import torchmetrics'; \
	    then touch $@; else echo "torch could not be installed: torchmetrics will be left out" >&2; fi
