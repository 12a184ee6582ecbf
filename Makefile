# Every target does its own set-up in .venv and asks for nothing but python3 (3.11 to 3.13), python3-venv, make and git.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: help demo test coverage aqua test-aqua judge test-judge launchers test-launchers test-approval test-reproductions formats test-formats servers test-servers browser test-browser test-web postgres test-postgres bench bench-aqua docs figures lint format lock clean

PYTHON ?= python3
TESTS ?=
UV ?= uv
# One worker more than cores: tests wait for clocks, processes and servers.
WORKERS ?= 3
# Each worker begins with a part of the modules, so that what tests of a module share is made once, and then takes from the other's.
PARALLEL = -n $(WORKERS) --dist worksteal

BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(PIP) --require-hashes --no-build-isolation
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate $(UPGRADE)
GROUPS := build test lint docs coverage browser postgres
# The extras aqua and judge lie in one environment of their own, above .venv, so that everything else goes on being tested without them.
AQUA := .venv-aqua
TORCH ?= torch==2.13.0
NO_TORCH := torch triton cuda-bindings cuda-pathfinder cuda-toolkit $(addprefix nvidia-,cublas cuda-cccl cuda-cupti cuda-nvrtc cuda-runtime \
	cudnn-cu13 cufft cufile cusolver cusparse cusparselt-cu13 nccl-cu13 nvjitlink nvshmem-cu13 nvtx)
# Programs whose formats are exported lie in an environment of their own, since they share no package with delibsim.
FORMATS := .venv-formats
# Servers of language models, which are tried with a tiny model of random weights, likewise.
SERVERS := .venv-servers
LAUNCHERS := --extra joblib --extra slurm --extra ray

# Without bytecode the command line would be slow to start.
unexport PYTHONDONTWRITEBYTECODE

help:
	@echo 'make demo    hold one deliberation offline and show what it changed'
	@echo 'make test    all checks, then all tests: about twelve minutes on two cores'
	@echo 'make coverage  the tests again, with the share of lines and branches they reach'
	@echo 'make launchers  install joblib, submitit and Ray into .venv, 300 MB of packages'
	@echo 'make test-approval  five studies give what they gave: every report, table, export and page, two minutes'
	@echo 'make test-launchers  the tests that need them: they take minutes'
	@echo 'make formats  install ConvoKit and Inspect into .venv-formats, 700 MB'
	@echo 'make test-formats  they read what delibsim exports for them; they are installed'
	@echo 'make servers  install the servers of llama.cpp and of transformers (torch) into .venv-servers'
	@echo 'make test-servers  sessions, ratings, codes, pairs and judgments with a model of random weights behind them; they are installed'
	@echo 'make browser  install the packages that drive a browser into .venv, not the browser'
	@echo 'make test-browser  reports in a real browser: needs Chromium; the packages are installed'
	@echo 'make test-web  the reader and the pages for people in a real browser: needs Chromium; the packages are installed'
	@echo 'make postgres  install the driver of PostgreSQL into .venv, not PostgreSQL'
	@echo 'make test-postgres  the register on a PostgreSQL server of its own, databases that fail: needs PostgreSQL; the driver is installed'
	@echo 'make lint    the checks alone: ruff, ty, import layers'
	@echo 'make format  lay out the code as the checks want it'
	@echo 'make aqua    install the extras aqua and judge (torch and what builds on it) into .venv-aqua, above .venv'
	@echo 'make test-aqua   the tests that need the extra aqua'
	@echo 'make judge   the same as make aqua'
	@echo 'make test-judge  the tests of the trained judge, which need the extra judge'
	@echo 'make bench-aqua  its benchmark, by hand: takes minutes'
	@echo 'make bench   run the benchmarks one after another'
	@echo 'make docs    build the guide into site/, offline'
	@echo 'make figures draw the pictures of the README and the guide anew'
	@echo 'make lock    compile requirements/ anew (needs uv; UPGRADE=--upgrade for newer versions)'
	@echo 'make clean   remove what make made; runs/ stays'

# delibsim is not on the path of the shell that called make, so the commands it proposes get their folder.
DEMO := $(BIN)/delibsim run demo topic=ccps treatment=normative seed=7
demo: .venv/.project
	@echo '$(DEMO)'
	@if [ -t 1 ]; then export FORCE_COLOR=1 COLUMNS="$$(tput cols || true)"; fi; \
	$(DEMO) | sed 's#^\(Next\)\?\( *\)delibsim #\1\2$(BIN)/delibsim #'

test: lint
	@echo '== all tests: about twelve minutes on two cores'
	$(BIN)/python -m pytest $(PARALLEL) -m 'not heavy'

# A target of its own, without a bound: what it measures is no aim, and measuring takes time.
# TESTS=tests/measures measures a part. On the full disk of one test coverage.py could not write either.
UNMEASURED := --deselect tests/conduct/test_faults.py::test_a_full_disk_stops_the_session_with_a_clear_error_and_no_further_call
coverage: .venv/.coverage
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(PARALLEL) -m 'not heavy' $(UNMEASURED) $(TESTS) || failed=1; \
	$(BIN)/coverage combine --quiet; \
	$(BIN)/coverage report --skip-covered; \
	exit "$${failed:-0}"

# CHROMIUM names the browser; it is not installed here.
browser: .venv/.browser

test-browser: .venv/.browser
	$(BIN)/python -m pytest -m heavy tests/browser

test-web: .venv/.browser
	$(BIN)/python -m pytest -m heavy tests/web

postgres: .venv/.postgres

# POSTGRES names the folder of its programs; it is not installed here.
test-postgres: .venv/.postgres
	$(BIN)/python -m pytest -m heavy tests/store/people tests/databases
	$(BIN)/python -m pytest -p on_postgres -m 'not heavy' tests/people tests/web/people tests/cli/test_people.py

test-aqua: $(AQUA)/.ready
	$(AQUA)/bin/python -m pytest -m heavy tests/scorers/aqua tests/cli/test_aqua.py

judge: $(AQUA)/.ready

test-judge: $(AQUA)/.ready
	$(AQUA)/bin/python -m pytest -m heavy tests/scorers/judge

launchers: .venv/.launchers

test-approval: .venv/.test
	$(BIN)/python -m pytest $(PARALLEL) -m heavy tests/approval

test-reproductions: .venv/.test
	$(BIN)/python -m pytest $(PARALLEL) -m heavy tests/test_reproductions.py

formats: $(FORMATS)/.ready

test-formats: .venv/.test $(FORMATS)/.ready
	$(BIN)/python -m pytest -m heavy tests/formats

servers: $(SERVERS)/.ready

test-servers: .venv/.test $(SERVERS)/.ready
	$(BIN)/python -m pytest -m heavy tests/servers

test-launchers: .venv/.launchers
	$(BIN)/python -m pytest -m heavy tests/launchers

aqua: $(AQUA)/.ready

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/ty check
	$(BIN)/lint-imports --no-logo --no-cache

format: .venv/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/.project
	for script in $(filter-out bench/aqua.py bench/judge.py bench/record.py,$(wildcard bench/*.py)); do echo "== $$script"; $(BIN)/python "$$script"; done
	$(BIN)/python bench/record.py

bench-aqua: $(AQUA)/.ready
	$(AQUA)/bin/python bench/aqua.py
	$(AQUA)/bin/python bench/judge.py

# A page missing from the navigation, or from docs/, is an error the builder would not report; so is an asset of another host.
docs: .venv/.docs
	$(BIN)/python docs/api/make.py
	diff <(sed -n 's/.*= "\(.*\.md\)".*/\1/p' zensical.toml | sort) <(cd docs && ls *.md api/*.md reproductions/*.md | sort)
	$(BIN)/zensical build --clean --strict
	! grep -rnoE --include='*.html' '<(script|link|img|iframe)[^>]*(src|href)="?(https?:)?//[^">]*' site

# Both are the same to the byte when they are drawn again with the same packages.
figures: .venv/.project
	$(BIN)/python docs/images/figure.py
	$(BIN)/python docs/images/compare.py
	$(BIN)/python docs/images/run.py

.venv/.core: requirements/build.txt requirements/core.txt
	$(PYTHON) -c 'import sys; (3, 11) <= sys.version_info[:2] <= (3, 13) or sys.exit("needs Python 3.11 to 3.13: make PYTHON=...")'
	@echo '== an environment in .venv, and the tools that build packages'
	$(PYTHON) -m venv .venv
	$(LOCKED) -r requirements/build.txt
	@echo '== the packages that delibsim needs, about 120 of them: a minute or two, once, and silent until it is done'
	$(LOCKED) -r requirements/core.txt
	touch $@

.venv/.project: .venv/.core pyproject.toml
	@echo '== delibsim itself'
	$(PIP) --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q delibsim
	touch $@

.venv/.test: .venv/.project requirements/test.txt
	@echo '== the packages that the checks and the tests need: under a minute, once'
	$(LOCKED) -r requirements/test.txt
	touch $@

# torch is no part of the lock: which build is right (processor or CUDA) is for the machine to say, as in TORCH="torch --index-url URL".
$(AQUA)/.ready: .venv/.test requirements/aqua.txt
	$(PYTHON) -m venv $(AQUA)
	$(AQUA)/bin/python -c 'import pathlib, sysconfig; place = sysconfig.get_paths()["purelib"]; pathlib.Path(place, "core.pth").write_text( \
	"import site; site.addsitedir(" + repr(place.replace("$(AQUA)", ".venv")) + ")\n")'
	$(AQUA)/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	$(AQUA)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --no-build-isolation -r requirements/aqua.txt
	$(AQUA)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

$(FORMATS)/.ready: requirements/formats.txt
	$(PYTHON) -m venv $(FORMATS)
	$(FORMATS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/formats.txt
	touch $@

$(SERVERS)/.ready: requirements/servers.txt
	$(PYTHON) -m venv $(SERVERS)
	$(SERVERS)/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	$(SERVERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/servers.txt
	touch $@

.venv/.coverage: .venv/.test requirements/coverage.txt
	$(LOCKED) -r requirements/coverage.txt
	touch $@

.venv/.launchers: .venv/.test requirements/launchers.txt
	$(LOCKED) -r requirements/launchers.txt
	touch $@

.venv/.browser: .venv/.test requirements/browser.txt
	$(LOCKED) -r requirements/browser.txt
	touch $@

.venv/.postgres: .venv/.test requirements/postgres.txt
	$(LOCKED) -r requirements/postgres.txt
	touch $@

.venv/.docs: .venv/.core requirements/docs.txt
	$(LOCKED) -r requirements/docs.txt
	touch $@

# All groups are resolved together first, so that they agree wherever they share a package and can be installed side by side.
lock:
	all=$$(mktemp) && trap 'rm -f "$$all"' EXIT; cat requirements/*.txt > "$$all" 2>/dev/null || true; \
	$(COMPILE) pyproject.toml $(LAUNCHERS) $(GROUPS:%=--group %) --output-file "$$all"; \
	$(COMPILE) pyproject.toml --constraints "$$all" --output-file requirements/core.txt; \
	$(COMPILE) --group build --constraints "$$all" --output-file requirements/build.txt; \
	$(COMPILE) pyproject.toml --group test --group lint --constraints "$$all" --output-file requirements/test.txt; \
	$(COMPILE) pyproject.toml $(LAUNCHERS) --constraints "$$all" --output-file requirements/launchers.txt; \
	$(COMPILE) --group docs --constraints "$$all" --output-file requirements/docs.txt; \
	$(COMPILE) --group coverage --constraints "$$all" --output-file requirements/coverage.txt; \
	$(COMPILE) --group browser --constraints "$$all" --output-file requirements/browser.txt; \
	$(COMPILE) --group postgres --constraints "$$all" --output-file requirements/postgres.txt
	# The extra needs older versions of two packages of the core, so it is resolved by itself, as near to the core as can be.
	test -s requirements/aqua.txt || cp requirements/core.txt requirements/aqua.txt
	$(COMPILE) pyproject.toml --extra aqua --extra judge $(NO_TORCH:%=--no-emit-package %) --output-file requirements/aqua.txt
	$(COMPILE) --group formats --output-file requirements/formats.txt
	echo 'convokit>=5' | $(COMPILE) --no-deps - >> requirements/formats.txt
	$(COMPILE) --group servers $(NO_TORCH:%=--no-emit-package %) --output-file requirements/servers.txt
	! grep -nE '^-|://' requirements/*.txt

clean:
	rm -rf .venv $(AQUA) $(FORMATS) $(SERVERS) build dist site .coverage* docs/api/*.md .cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find delibsim tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
