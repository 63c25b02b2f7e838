# One command each. The virtual environment is made once and again whenever setup.py changes.
.DEFAULT_GOAL := help
.PHONY: help demo test lint test-long fuzz bench-fixed java clean

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
PYTHON ?= $(shell .ci/find-python)

SQLFLUFF := $(BIN)/sqlfluff lint --disable-progress-bar
# A macro is Jinja around pieces of SQL: its tags and lines have a layout of their own, its SQL is linted as generated.
MACRO_RULES := jinja,layout.long_lines,layout.end_of_file,layout.start_of_file
# Nobody lays out generated SQL by hand: it must parse, and every name in it must mean one thing. Its columns are symbols
# that are unique in the whole statement, so they need no table before them, and aliases of nested queries may repeat.
GENERATED_RULES := ambiguous,references.from,structure.unused_cte

SEED ?= 0
SECONDS ?= 300

help:
	@echo "make demo    build a small shop on embedded Spark, change its sources, refresh, compare with a recompute"
	@echo "make test    the whole suite"
	@echo "make test-long   a dbt process killed at every statement of every strategy (many minutes)"
	@echo "make lint    ruff, mypy, sqlfluff"
	@echo "make fuzz    random views and changes: SEED=$(SEED) SECONDS=$(SECONDS)"
	@echo "make bench-fixed   what a refresh costs when nothing changed"
	@echo "make clean   remove what the others made"

$(STAMP): setup.py
	@test -n "$(PYTHON)" || { echo "Python 3.10 or newer is needed and was not found. Install it, or: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	@echo "installing into $(VENV) (first time: a few minutes) ..."
	@"$(PYTHON)" -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --config-settings editable_mode=compat --editable ".[dev]"
	@touch $@

# Before the installation: it is the slow part, and without Java it would be in vain.
java:
	@.ci/check-java

demo: java
	@$(MAKE) --no-print-directory --silent $(STAMP)
	@$(BIN)/python integration_tests/demo.py

test: java
	@$(MAKE) --no-print-directory --silent $(STAMP)
	$(BIN)/python -m pytest

test-long: java
	@$(MAKE) --no-print-directory $(STAMP)
	$(BIN)/python -m pytest -m long

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(SQLFLUFF) integration_tests/models
	$(SQLFLUFF) --rules $(MACRO_RULES) macros
	@if [ -d tests/fixtures/generated ]; then \
	    set -x; $(SQLFLUFF) --templater raw --rules $(GENERATED_RULES) tests/fixtures/generated; \
	fi

fuzz: java
	@$(MAKE) --no-print-directory --silent $(STAMP)
	$(BIN)/python -m tests.properties.fuzz --seed $(SEED) --seconds $(SECONDS)

bench-fixed: java
	@$(MAKE) --no-print-directory $(STAMP)
	$(BIN)/python -m benchmarks.fixed_cost

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis target logs
	cd integration_tests && rm -rf target logs dbt_packages package-lock.yml spark-warehouse metastore_db derby.log
