# Every target sets up what it needs; only Python 3.11 (or newer) and a JDK 17 or 21 have to be there.
PYTHON ?= $(shell command -v python3.11 || echo python3)
BIN := .venv/bin
READY := .venv/ready
# Each process that a test starts would compile all modules anew.
export PYTHONDONTWRITEBYTECODE =

.PHONY: setup check types format test test-slow test-all test-fast campaign versions docs dist demo demo-kafka serve bench grammar console lock clean

setup: $(READY)

# The build requirements of source distributions come from a lock too, hence no build isolation.
$(READY): pyproject.toml requirements.lock requirements-build.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make PYTHON=…: it has to be 3.11 or newer" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-build.lock
	@echo "installing the locked requirements (pyspark is 450 MB: some minutes on a slow line)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-build-isolation -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) --no-print-directory types

# Of `make check` what pre-commit leaves to the environment.
types: $(READY)
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Spark's classes as a JVM has them in memory: Spark then starts in two thirds of the time.
CLASSES := .venv/spark.jsa
$(CLASSES): $(READY)
	$(BIN)/python -m tests.jvm.share_classes

# Two processes, each with a Spark of its own. Each operator, connector, format and door goes through Spark once.
test test-slow test-all: export PENSTOCK_PLANS ?= 1
test: $(READY) $(CLASSES)
	$(BIN)/pytest -n 2 -m "not slow"

# What `make test` leaves out, without the campaign: tests/slow.txt.
test-slow: $(READY) $(CLASSES)
	$(BIN)/pytest -n 2 -m slow

test-all: $(READY) $(CLASSES)
	$(BIN)/pytest -n 2

# What needs no JVM.
test-fast: $(READY)
	$(BIN)/pytest -m "not spark"

# Hours: more draws and more kills than `make test`. `make campaign PENSTOCK_STATEMENTS=50` changes a number.
campaign: export PENSTOCK_CAMPAIGN = 1
campaign: export PENSTOCK_STATEMENTS ?= 500
campaign: export PENSTOCK_SIDE_BY_SIDE ?= 500
campaign: export PENSTOCK_LAYOUTS ?= 500
campaign: export PENSTOCK_SCRIPTS ?= 500
campaign: export PENSTOCK_HISTORIES ?= 100
campaign: export PENSTOCK_NAMES ?= 500
campaign: export PENSTOCK_HOSTILE_SECONDS ?= 300
campaign: export PENSTOCK_SHARED ?= 250
campaign: export PENSTOCK_SHARED_ON_SPARK ?= 20
campaign: export PENSTOCK_TRANSLATIONS ?= 600
campaign: export PENSTOCK_TABLE_HISTORIES ?= 300
campaign: export PENSTOCK_KILLS ?= 10
campaign: export PENSTOCK_TABLE_KILLS ?= 30
campaign: export PENSTOCK_MONTHS ?= 13
campaign: export PENSTOCK_PLANS ?= 20
campaign: export PENSTOCK_TABLE_QUERIES ?= 2
campaign: export PENSTOCK_ROWS ?= 1000
campaign: export PENSTOCK_ROW_ERRORS ?= 1
campaign: export PENSTOCK_HOSTILE_TEXTS ?= 500
campaign: export PENSTOCK_HINTS ?= 4000
campaign: export PENSTOCK_SCRIPT_TESTS ?= 300
campaign: export PENSTOCK_HOSTILE_FILES ?= 50
campaign: $(READY) $(CLASSES)
	$(BIN)/pytest -n 2 -m "campaign or draws"

# A choice of the tests on each version of Spark, in environments of their own. An hour or more.
versions: $(READY)
	$(BIN)/python -m tests.spark_versions

# The site of the documents, in site/, with all links checked. It needs nothing of Penstock.
SITE := .venv/site
$(SITE)/ready: requirements-docs.lock
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
	@touch $@

docs: $(SITE)/ready
	$(SITE)/bin/zensical build --clean --strict

# A source distribution and a wheel, in dist/.
dist: $(READY)
	$(BIN)/python -m build --no-isolation

demo: $(READY)
	$(BIN)/python examples/flights/demo.py

# The flights through a broker of Kafka, which Maven fetches, and a PostgreSQL.
demo-kafka: $(READY)
	$(BIN)/python -m examples.kafka.demo

# Flights as they leave, for psql and BI tools; Ctrl-C ends it.
serve: $(READY)
	$(BIN)/python examples/flights/live.py

# Hours; `python -m bench --help` says how to run a part. Flink goes into bench/.flink.
bench: $(READY)
	$(BIN)/python -m bench --sets main,self-join,frames,bounds
	$(BIN)/python -m bench --sets hops --systems penstock-whole,penstock-partials,spark,flink
	$(BIN)/python -m bench --sets tables,table-size --systems penstock,spark,spark-rocksdb,flink,duckdb --page
	$(BIN)/python -m bench --sets small-batches --files 120 --systems penstock,spark --page
	$(BIN)/python -m bench.growth --page
	$(BIN)/python -m bench.file_latency --page
	$(BIN)/python -m bench.databases --page

# Compiles the grammar to its tables; fails if it is not LALR(1).
grammar: $(READY)
	$(BIN)/python -m penstock.grammar

# Builds what the console vendors (uPlot, dagre, CodeMirror), as the lock files pin it. Needs Node.
console:
	for part in drawing editor; do \
	  (cd server/http/vendor/$$part && npm ci --ignore-scripts --no-audit --no-fund && npm run build) || exit 1; \
	done

# Needs uv; run it after a change of the dependencies in pyproject.toml.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
lock:
	$(LOCK) pyproject.toml --extra dev --extra demo -o requirements.lock
	$(LOCK) --group docs -o requirements-docs.lock
	printf 'setuptools>=77\nwheel\n' | $(LOCK) --no-annotate - -o requirements-build.lock

clean:
	rm -rf .venv build dist site .cache *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
