# Everything runs from .venv, which need not be activated. `make` alone lists the targets.

SHELL := bash
MAKEFLAGS += --no-print-directory

# Another interpreter: make .venv PYTHON=python3.13
PYTHON ?= python3
# How many stages run at the same time.
JOBS ?= 1

BIN := .venv/bin
INSTALLED := .venv/installed
INSTALL_LOG := .venv/install.log

# DVC sends usage reports from any repository that does not say no, as those that tests make.
export DVC_NO_ANALYTICS := 1

.PHONY: help
help: ## List the targets
	@sed -nE 's/^([a-z.]+):[^#]*## (.*)/  make \1 @\2/p' $(firstword $(MAKEFILE_LIST)) \
	  | while IFS=@ read -r name text; do printf '%-16s%s\n' "$$name" "$$text"; done

.PHONY: .venv
.venv: $(INSTALLED) ## Install the pinned packages into .venv, if they changed

# pip's whole output goes to the log; what is shown is a line now and then. Compiling
# every module at once takes longer than all the rest: Python compiles what it imports.
$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "$(PYTHON) is not Python 3.11 or newer; name one that is: make .venv PYTHON=python3.13" >&2; exit 1; }
	@echo "Installing $$(grep -c '^[^#]' requirements.lock) pinned packages into .venv (minutes, the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@set -o pipefail; \
	$(BIN)/python -m pip install --disable-pip-version-check --no-compile --progress-bar off \
	  -r requirements.lock 2>&1 | tee $(INSTALL_LOG) | { n=0; while read -r word name _; do \
	    case $$word in \
	      Collecting) n=$$((n + 1)); [ $$((n % 20)) -gt 0 ] || echo "  package $$n: $$name" ;; \
	      Installing) [ "$$name" != collected ] || echo "  installing what was fetched" ;; \
	    esac; done; } || { tail -n 20 $(INSTALL_LOG) >&2; exit 1; }
	@$(BIN)/python -m pip install --disable-pip-version-check --no-deps --no-build-isolation -e . \
	  >> $(INSTALL_LOG) 2>&1 || { tail -n 20 $(INSTALL_LOG) >&2; exit 1; }
	@touch $@
	@echo "Installed."

.PHONY: demo
demo: $(INSTALLED) ## Run a small copy of the whole pipeline
	@$(BIN)/python -m remeasure.pipeline.demo

.PHONY: test
test: $(INSTALLED) ## Check style and types, then run the tests
	@echo "ruff check"
	@$(BIN)/ruff check
	@echo "ruff format"
	@$(BIN)/ruff format --check
	@echo "mypy"
	@$(BIN)/mypy
	@echo "pytest"
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -v -n 2 --dist loadfile -rs

.PHONY: repro
repro: $(INSTALLED) ## Bring every result up to date; JOBS=n runs n stages at a time
	@$(BIN)/python -m remeasure.pipeline.repro --jobs $(JOBS)

.PHONY: bench
bench: $(INSTALLED) ## Time the training loop beside a plain PyTorch one; let nothing else run
	@$(BIN)/python -m remeasure.speed

.PHONY: reconfirm
reconfirm: $(INSTALLED) ## After a change of code alone: check 50 steps, not all; STAGES="..." for some
	@$(BIN)/python -m remeasure.pipeline.reconfirm --jobs $(JOBS) $(STAGES)

.PHONY: verify
verify: $(INSTALLED) ## Train NAME=one_block again and compare; STEPS=n for the first n steps
	@$(BIN)/python -m remeasure.pipeline.verify $(NAME) $(if $(STEPS),--steps $(STEPS))

.PHONY: faults
faults: $(INSTALLED) ## Break the pipeline on purpose: kills, full disks, damaged files; long
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -v -m faults -rs

.PHONY: ledger
ledger: $(INSTALLED) ## Hold the book's claims against what was measured
	@$(BIN)/python -m remeasure.ledger

.PHONY: plots
plots: $(INSTALLED) ## DVC's plots as a page, offline; REV=commit compares with that commit
	@$(BIN)/python -m remeasure.pipeline.plots $(REV)

.PHONY: compare
compare: $(INSTALLED) ## Compare two commits, branches or experiments: A=main B=mine
	@$(BIN)/python -m remeasure.compare "$(A)" "$(B)"

.PHONY: table
table: $(INSTALLED) ## Experiments in one table: headline numbers, differing parameters
	@$(BIN)/python -m remeasure.compare.table

.PHONY: queue
queue: $(INSTALLED) ## Run the queued experiments, JOBS=n side by side
	@$(BIN)/python -m remeasure.pipeline.queue --jobs $(JOBS)

.PHONY: readme
readme: $(INSTALLED) ## Make the README's headline table anew from the ledger
	@$(BIN)/python -m remeasure.ledger.readme

.PHONY: format
format: $(INSTALLED) ## Format the code and mend what can be mended
	@$(BIN)/ruff check --fix --exit-zero --quiet
	@$(BIN)/ruff format
	@$(BIN)/ruff check

.PHONY: clean
clean: ## Remove caches and the demo; keep .venv, results and DVC's cache
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache build demo
	find src stages tests -name __pycache__ -type d -prune -exec rm -rf {} +
