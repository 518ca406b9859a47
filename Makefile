ARGS ?= --quick
BENCHMARKS = $(filter-out benchmarks/measure.py,$(wildcard benchmarks/*.py))

.PHONY: help test quick slow lint size types wasm docs notebooks oldest bench pictures constraints sdist package check $(BENCHMARKS)

help: ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

test: ## Run the tests on all cores
	pytest -n auto

quick: ## Run the fast tests, with all their parameters, while you edit: under a minute
	pytest -n auto -q --quick -m "not (cluster or browser or slow)"

slow: ## Find the tests that are too slow for `make quick`, and write them to tests/slow.txt
	pytest -n auto -q --durations=0 --durations-min=0.005 -m "not (cluster or browser)" | python tests/find_slow.py

lint: ## Check style, format, the order of imports between rooms, and docstrings of public names
	ruff check .
	ruff format --check .
	lint-imports
	python docs/docstrings.py

size: ## Print lines, words, options and parameters beside their budgets in tests/size.json
	python tests/test_size.py

types: ## Check types
	mypy

wasm: ## Compile the kernels of the lab to WebAssembly; needs wasm-ld (Debian: lld)
	python wasm/build.py src/rosenblatt/lab/web/engine.wasm

docs: ## Build the site in build/site; a warning or a link that leads nowhere is an error
	sphinx-build --jobs auto --quiet --fail-on-warning --keep-going --nitpicky -d build/doctrees docs build/site
	@echo "The site is in build/site/index.html."

bench: $(BENCHMARKS) ## Run every benchmark, briefly (make bench ARGS= for the full ones)

$(BENCHMARKS):
	@echo "== $@"
	@python $@ $(ARGS)

notebooks: ## Write the lessons of the course as notebooks in build/course
	mkdir -p build/course
	cp examples/course/plot_*.py build/course
	cd build/course && sphinx_gallery_py2jupyter plot_*.py && rm plot_*.py
	@echo "The notebooks are in build/course."

oldest: ## Test with the oldest versions of what is needed, in an environment of its own in build/oldest
	python -m venv build/oldest
	build/oldest/bin/pip install --quiet '.[test]' --constraint tests/oldest.txt
	NUMBA_CACHE_DIR=build/oldest/numba build/oldest/bin/pytest -q --quick -n auto \
		-m "not (cluster or browser or slow)" -W ignore::DeprecationWarning

pictures: ## Draw the pictures of the pages
	python examples/pictures.py docs
	python examples/networks.py docs
	python examples/history.py docs

constraints: ## Write the versions of all that is installed to build/constraints.txt, for pip
	mkdir -p build
	pip list --format=freeze --exclude rosenblatt > build/constraints.txt

sdist: ## Build the sdist in dist, and check what an index will show
	rm -rf dist
	python -m build --sdist --outdir dist .
	twine check --strict dist/*

package: sdist ## Build the wheel, too, for every processor of this kind
	ROSENBLATT_BUILD=everywhere python -m build --wheel --outdir dist .
	twine check --strict dist/*

check: lint types test docs bench ## All of the above
