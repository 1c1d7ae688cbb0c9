# `make` alone prints this list. The first two targets are README's two commands.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PARITY := .venv-parity
TORCH := torch==2.13.0
# Three on two cores, because tests wait for servers and processes of their own. conftest.py puts the long modules first.
PYTEST := MALLOC_ARENA_MAX=2 $(BIN)/pytest --numprocesses=3 --dist=loadfile --no-loadscope-reorder
COVERED = --cov=chains --cov-report= && $(BIN)/coverage report --include='chains/*' --fail-under=95
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check
# uv installs the same lock ten times faster than pip, which does it where uv cannot. It would read our constraints as unpinned.
FROM_LOCK = $(BIN)/uv pip install --no-config --quiet --python $(2)/bin/python --no-deps --require-hashes -r $(1) 2>/dev/null || \
	$(2)/bin/python -m pip --quiet --quiet --disable-pip-version-check install --no-deps --require-hashes -r $(1)
LOCK := uv pip compile --universal --generate-hashes --no-header --python-version 3.11 --quiet

ask: $(VENV)/.base ## Answer a question: make ask Q="What documents do I need to ship sea freight from Singapore to Indonesia?"
	@$(BIN)/waypoint ask "$${Q:?give a question, like: make ask Q=\"What documents do I need to ship sea freight from Singapore to Indonesia?\"}"

test test-slow test-browser test-all: export PYTHONDONTWRITEBYTECODE = # Else each process of the tests compiles the project anew.
test: $(VENV)/.dev ## Run the tests but the slow and the browser's, with the coverage of chains/ held at 95 %
	$(PYTEST) -m "not slow" --ignore=tests/web $(COVERED)

test-slow: $(VENV)/.dev ## Run the slow tests: killed ingestions, the installed package, Ray, filings, OpenAPI, two hosts, a few questions of each measuring command
	$(PYTEST) -m slow --ignore=tests/web tests

test-browser: $(VENV)/.dev ## Run the tests of the page in Chromium
	$(PYTEST) tests/web

test-all: $(VENV)/.dev ## Run all of these in one go, as CI does
	$(PYTEST) $(COVERED)

check: $(VENV)/.dev ## Everything that CI checks: format, lint, types, import rules, dependencies, the ratchet of lines, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --num-workers=2
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/python -m benchmarks.house --ratchet
	$(MAKE) test-all

release: export REQUIRE_SERVICES = 1
release: ## All that a release has to pass: check, the installed wheel, bench, load, soak, hostile; nothing is uploaded
	$(MAKE) check
	$(MAKE) test-wheel
	$(MAKE) bench
	$(MAKE) load
	$(MAKE) soak
	$(MAKE) hostile

format: $(VENV)/.dev ## Format the code and mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev ## Measure speed, memory and size, and print them as a table
	$(BIN)/python -m benchmarks.bench

eval: $(VENV)/.dev ## Run the question sets through every retrieval strategy, and print the table of docs/measurements.md
	$(BIN)/python -m benchmarks.ways

load: $(VENV)/.dev ## Load the service with 16, 50 and 200 users, and print the table
	$(BIN)/python -m benchmarks.load

soak: $(VENV)/.dev ## Ask 2,000 questions while one call in five fails, and print what was promised and held
	$(BIN)/python -m benchmarks.soak

hostile: $(VENV)/.dev ## Try malformed requests, damaged files, settings and commands, and print what held
	$(BIN)/python -m benchmarks.hostile

types-page: ## Check the types of the page's modules with TypeScript (needs npx; CI runs it where there is one)
	npx --yes --package typescript@7.0.2 tsc --project tests/web/tsconfig.json

screenshots: $(VENV)/.dev ## Draw every view of the page into screenshots/, and the pictures of README and docs again
	$(BIN)/python -m tests.web.screenshots --docs

parity: $(PARITY)/.done ## Compare the two embedding backends, in an environment of their own with torch
	$(PARITY)/bin/python -m benchmarks.parity

docs: $(VENV)/.dev ## Write the generated parts of README and docs again, and build the site of the docs into site/
	$(BIN)/python -m benchmarks.first_answer
	$(BIN)/python -m app.settings.table env > .env.example
	$(BIN)/python -m cogapp -r -I . README.md docs/*.md
	$(BIN)/zensical build --strict --clean
	@echo "Read it at http://127.0.0.1:8000/ with: $(BIN)/python -m http.server --bind 127.0.0.1 --directory site" >&2

model: $(VENV)/.dev ## Fetch the small language model that tests ask, or MODEL=large; about 130 MB, or 1.2 GB
	$(BIN)/python -m benchmarks.models.weights $(MODEL)

services: ## Start what some tests need and skip without: Redis, RabbitMQ; install them, nginx, Chromium, tesseract and Azurite where absent
	.ci/services

serve: $(VENV)/.base ## Serve the HTTP API on port 3000
	@$(BIN)/waypoint serve

ingest: $(VENV)/.base ## Ingest the sample corpus again
	@$(BIN)/waypoint ingest

wheel: $(VENV)/.dev ## Build the wheel into dist/
	$(BIN)/python -m pip --quiet --quiet wheel --no-deps --wheel-dir dist .

test-wheel: wheel ## Install the wheel from the lock into a clean environment, and ask a question outside the tree
	.ci/wheel

lock: $(VENV)/.dev ## Resolve the dependencies again and pin them with hashes
	$(BIN)/$(LOCK) pyproject.toml --extra all --output-file requirements.lock
	$(BIN)/$(LOCK) --group postgres --constraint requirements.lock --output-file requirements-postgres.lock
	$(BIN)/$(LOCK) --group build --constraint requirements.lock --output-file requirements-build.lock
	$(BIN)/$(LOCK) pyproject.toml --extra all --group dev --constraint requirements-build.lock --constraint requirements.lock --constraint requirements-postgres.lock \
		--output-file requirements-dev.lock
	printf '%s\n' 'huggingface-hub>=0.33' $(TORCH) | $(BIN)/$(LOCK) pyproject.toml --extra all --extra huggingface --constraint requirements.lock \
		--override - --no-emit-package torch --output-file requirements-huggingface.lock

clean: ## Remove the environments, the index and what tools left behind
	rm -rf $(VENV) $(PARITY) storage site .cache dist build *.egg-info .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

help: ## Print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=python3.12, say")'
	@echo "Making $(VENV) ..." >&2
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.base: requirements.lock pyproject.toml | $(VENV)/bin/python
	@echo "Installing the dependencies (once, under a minute) ..." >&2
	@sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.lock > $(VENV)/uv.lock
	-@$(PIP) install --no-deps --require-hashes -r $(VENV)/uv.lock
	@$(call FROM_LOCK,requirements.lock,$(VENV))
	@$(PIP) install --no-deps --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.base
	@$(call FROM_LOCK,requirements-dev.lock,$(VENV))
	@touch $@

$(PARITY)/.done: requirements-huggingface.lock pyproject.toml | $(VENV)/.base
	@$(PYTHON) -m venv $(PARITY)
	@$(call FROM_LOCK,requirements-huggingface.lock,$(PARITY))
	@$(PARITY)/bin/python -m pip --quiet --quiet install --no-deps $(TORCH)
	@$(PARITY)/bin/python -m pip --quiet --quiet install --no-deps --editable .
	@touch $@

.PHONY: ask test test-slow test-browser test-all test-wheel check release docs hostile format bench eval load soak parity serve ingest wheel lock clean help screenshots services types-page model
