ARGS ?= --quick
BENCHMARKS = $(filter-out benchmarks/measure.py,$(wildcard benchmarks/*.py))

.PHONY: help test quick lint types docs bench pictures check $(BENCHMARKS)

help: ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

test: ## Run the tests on all cores
	pytest -n auto

quick: ## Run every test that takes no cluster, browser or patience once, on one set of parameters
	pytest -n auto -q --quick -m "not (cluster or browser or slow)"

lint: ## Check style, format, the order of imports between rooms, and docstrings of public names
	ruff check .
	ruff format --check .
	lint-imports
	python docs/docstrings.py

types: ## Check types
	mypy

docs: ## Build the site in build/site; a warning or a link that leads nowhere is an error
	sphinx-build --quiet --fail-on-warning --keep-going --nitpicky -d build/doctrees docs build/site
	@echo "The site is in build/site/index.html."

bench: $(BENCHMARKS) ## Run every benchmark, briefly (make bench ARGS= for the full ones)

$(BENCHMARKS):
	@echo "== $@"
	@python $@ $(ARGS)

pictures: ## Draw the pictures of the pages
	python examples/pictures.py docs
	python examples/networks.py docs
	python examples/lattice.py docs

check: lint types test docs bench ## All of the above
