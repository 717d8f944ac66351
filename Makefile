# Two commands do everything on a fresh machine: `make fuzz` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PYTHONSAFEPATH := 1

.PHONY: help fuzz test test-gpu lint types unit prove campaign mutants full bench deps clean

help:            ## list the targets
	@grep -E '^[a-z-]+: .*##|^[a-z-]+:  +##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "tang needs Python 3.11 or newer; this is $$($(PYTHON) --version). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@for extra in opencl webgpu opengl nvrtc proofs; do \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[$$extra]" \
	  || echo "tang: the extra '$$extra' cannot be installed here; what needs it will not run"; done
	@touch $@

fuzz: $(STAMP)   ## a differential campaign over every backend that runs here
	$(BIN)/tang fuzz --backends available --examples 500 --seconds 120 --seed 1 --out build/findings

test: lint types prove unit campaign mutants   ## everything that gates a merge (under 15 minutes on two cores)

test-gpu: $(STAMP)   ## the self-test, profiles, both conformance suites and 100 draws on every backend of a machine with a GPU
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[cuda]' || true
	$(BIN)/tang atoms --selftest
	$(BIN)/python tools/gpu.py --draws 100 --out results/gpu.json
	$(BIN)/python -m pytest -m gpu tests/device

lint: $(STAMP)   ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)  ## strict types, over a link tree
	$(BIN)/python tools/typecheck.py

unit: $(STAMP)   ## fast, device, bug and golden tests
	$(BIN)/python -m pytest -n 2

prove: $(STAMP)   ## every theorem, built from source by Lean
	$(BIN)/tang prove --fresh

campaign: $(STAMP)   ## a minute of fuzzing
	$(BIN)/tang fuzz --backends available --examples 1000 --seconds 60 --seed 1 --out build/findings

mutants: $(STAMP)    ## a tenth of the mutants, another tenth every day
	$(BIN)/tang fuzz --power --rotate 10 --seeds 1 --backends c --examples 2000

full: $(STAMP)   ## every "Done when" table, written to results/ with the commit tested
	$(BIN)/python tools/full.py

bench: $(STAMP)  ## the speed ratios
	$(BIN)/python tools/full.py --only benchmarks

deps:            ## Debian packages: C and C++ compilers, software Vulkan and OpenGL
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
	  gcc g++ libc6-dev binutils python3-venv mesa-vulkan-drivers libvulkan1 libegl1 libgl1-mesa-dri

clean:           ## remove what the other targets made
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
