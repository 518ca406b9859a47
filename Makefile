.PHONY: help test quick lint types docs bench pictures check

help: ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

test: ## Run the tests
	pytest

quick: ## Run every test that takes no cluster, browser or patience once, on one set of parameters
	pytest -q --quick -m "not (cluster or browser or slow)"

lint: ## Check style, format and the order of imports between rooms
	ruff check .
	ruff format --check .
	lint-imports

types: ## Check types
	mypy

docs: ## Build the site in build/site; a warning or a link that leads nowhere is an error
	sphinx-build --quiet --fail-on-warning --keep-going --nitpicky -d build/doctrees docs build/site
	@echo "The site is in build/site/index.html."

bench: ## Run every benchmark, briefly (make bench ARGS= for the full ones)
	@for file in $(filter-out benchmarks/measure.py,$(wildcard benchmarks/*.py)); do echo "== $$file"; python $$file $(or $(ARGS),--quick) || exit 1; done

pictures: ## Draw the pictures of the pages
	python examples/pictures.py docs
	python examples/networks.py docs

check: lint types test docs bench ## All of the above
