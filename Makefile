# `make matrix` measures, `make test` runs all tests. Each sets everything up by itself. `make mission`
# begins as `make matrix` does, and takes three quarters of an hour, or an hour where wrk2 loads.
PYTHON ?= python3
VENV := .venv/bin
# Where a host forbids it, every test that starts Python would compile the project again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: matrix mission setup test test-pure test-fast test-thorough test-real test-alone lint java-test bench provoke drivers lock clean

matrix: .venv-run
	@$(VENV)/matrix run --profile quick

mission: .venv-run
	@$(VENV)/matrix run --profile mission

setup: .venv-run
	@$(VENV)/matrix setup

test:
	@$(MAKE) --no-print-directory --jobs 3 test-real lint test-pure NICE="nice -n 10"
	@$(MAKE) --no-print-directory test-alone

.PHONY: .venv-run .venv-test
.venv-run:
	@$(PYTHON) runner/bootstrap.py run

.venv-test:
	@$(PYTHON) runner/bootstrap.py test

lint: .venv-test
	cd runner && ../$(VENV)/ruff check . && ../$(VENV)/ruff format --check . && ../$(VENV)/mypy && ../$(VENV)/lint-imports --no-logo

java-test: .venv-run
	@$(VENV)/matrix setup # compiles what is tested
	$(VENV)/python -m jdkmatrix.provision.maven -q verify

test-real: java-test .venv-test # the flake is built of what Maven has fetched
	cd runner && ../$(VENV)/pytest -m "real and not alone" -n 5 --dist loadfile --no-loadscope-reorder --durations=10

test-alone: .venv-test
	cd runner && ../$(VENV)/pytest -m alone

# What needs no server, browser or Nix: in `make test` with the CPU time that the real ones leave. `test-fast` tries ten examples
# of each property, for the everyday loop, and `test-thorough` two hundred, once a week (.github/workflows/ci.yml).
test-fast: EXAMPLES := --hypothesis-profile few-examples
test-thorough: EXAMPLES := --hypothesis-profile many-examples
test-pure test-fast test-thorough: .venv-test
	cd runner && $(NICE) ../$(VENV)/pytest -m "not real" -n 2 --dist worksteal $(EXAMPLES)

bench: .venv-test
	@$(VENV)/matrix setup
	@missed=0; $(VENV)/python bench/help_bench.py || missed=1; \
	$(VENV)/python bench/plan_bench.py || missed=1; \
	$(VENV)/python bench/protocols_bench.py bench/protocols/*.json || missed=1; \
	$(VENV)/python bench/aa_bench.py bench/protocols/*.json bench/again/*.json || missed=1; \
	$(VENV)/python bench/site_bench.py || missed=1; \
	$(VENV)/python bench/loadgen_bench.py || missed=1; exit $$missed

# Disturb real windows on purpose, for the page of the method: an hour and a quarter, on a host on which nothing else runs.
provoke: .venv-test
	@$(VENV)/matrix setup
	@missed=0; $(VENV)/python bench/provoke.py --json report-templates/provoked.json || missed=1; \
	$(VENV)/python bench/provoke.py --at-rates --windows 25 --json report-templates/provoked-at-rates.json || missed=1; \
	exit $$missed

# Compare wrk2 and loadgen on the same forks, for the same page; needs wrk2 on PATH, too.
drivers: .venv-test
	@$(VENV)/matrix setup
	$(VENV)/python bench/drivers.py --json report-templates/drivers.json

# Rewrite the lock files from what they are made of; the diff is for review.
PIP_COMPILE := $(VENV)/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links \
	--no-emit-trusted-host --strip-extras --allow-unsafe --no-header
lock: .venv-test
	cd runner && ../$(PIP_COMPILE) -o requirements.txt requirements.in
	cd runner && ../$(PIP_COMPILE) -o requirements-dev.txt requirements-dev.in
	cd runner && older=$$(../$(VENV)/python -m tests.nix.older_packages) && \
		echo "$$older" | ../$(PIP_COMPILE) -o tests/nix/nixpkgs/python/requirements.txt -
	$(VENV)/python -m jdkmatrix.provision.maven --record

clean:
	rm -rf .venv .build site workloads/*/target workloads/*/*/target
