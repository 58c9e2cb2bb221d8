# Every command of the project. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
# Whatever the compiled extension is made of; a change of any of them builds it again.
RUST := Cargo.toml Cargo.lock $(shell find crates -type f \( -name '*.rs' -o -name 'Cargo.toml' \))

# Which paths are hot, as `make profile` has counted them. A compiler that cannot read it does without.
PROFILE := benches/optcp.profdata
# The tool of the compiler's own LLVM: counts of another version cannot be read.
PROFDATA ?= $(shell rustc --print target-libdir)/../bin/llvm-profdata
# Code that has changed since is compiled without it, which LLVM would say of each function.
HOT := -Cprofile-use=$(CURDIR)/$(PROFILE) -Cllvm-args=-no-pgo-warn-mismatch
RELEASE := RUSTFLAGS="$(RUSTFLAGS) $(HOT)"
# The papers are a package of their own, of Python alone: an edit of it needs no new installation.
ADD_PAPERS := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable papers
DEVELOP := PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --locked --quiet --profile

# What is given away: no path of this machine is in it, and its files have the time of the commit, so that a commit is
# always the same bytes. An archive without git has the oldest time that a ZIP file can have.
DIST := target/dist
PORTABLE := $(HOT) --remap-path-prefix=$(CURDIR)=optcp --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=cargo
wheel sdist release-check: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2> /dev/null || echo 315532800)
# What only releases need, apart from .venv: it is large.
TOOLS := target/tools
TOOL := $(TOOLS)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
# On Linux zig links against an old C library, so that the wheel runs wherever that or a newer one is.
LINKED := $(if $(filter Linux,$(shell uname -s)),--zig --compatibility manylinux2014)

.PHONY: help setup develop reproduce evidence tables test test-rust test-python test-long worlds fuzz lint bench claims profile docs lock
.PHONY: wheel sdist test-wheel release-check

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)$$/  make \1|\2/' | column -t -s '|'

$(STAMPS)/env: requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "optcp needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	mkdir -p $(STAMPS) && touch $@

$(STAMPS)/build: $(STAMPS)/env pyproject.toml papers/pyproject.toml $(RUST) $(PROFILE)
	$(RELEASE) $(DEVELOP) release
	$(ADD_PAPERS)
	rm -f $(STAMPS)/develop && touch $@

$(STAMPS)/develop: $(STAMPS)/env pyproject.toml papers/pyproject.toml $(RUST)
	$(DEVELOP) develop
	$(ADD_PAPERS)
	rm -f $(STAMPS)/build && touch $@

setup: $(STAMPS)/build ## Make .venv with the command .venv/bin/optcp (nothing to do when nothing changed)

develop: $(STAMPS)/develop ## Make the same in seconds after an edit; runs take twice as long

# What tests need: the extension as it was built last, where it is of today's code.
extension:
	@$(MAKE) --question $(STAMPS)/build > /dev/null 2>&1 || $(MAKE) --no-print-directory --silent $(STAMPS)/develop
.PHONY: extension

reproduce: setup ## Re-run the papers' experiments at their quick size and write results/report/index.html
	$(BIN)/optcp reproduce --quick --out results

evidence: setup ## Compare TCP with evidence from outside and write docs/details/tcp-evidence.md (6 minutes)
	$(BIN)/optcp evidence --write-page docs/details/tcp-evidence.md

tables: setup ## Write what the stored long runs of the LBAS paper say to results/lbas and docs/details/lbas.md
	$(BIN)/optcp reproduce lbas/table1 lbas/table2 lbas/table3 --out target/lbas
	$(BIN)/optcp reproduce lbas/trends --quick --out target/lbas
	$(BIN)/python -m optcp_papers.lbas.published target/lbas

test: test-rust test-python ## Run the tests, Rust and Python, but the long ones

# Examples and documentation have no tests in them; `make lint` compiles the examples.
test-rust:
	cargo test --workspace --tests --locked --quiet

# A file's tests share what they have made, and so a process.
PYTEST := $(BIN)/python -m pytest --quiet -n auto --dist loadfile

test-python: extension
	$(PYTEST) --ignore tests/python/long

test-long: setup playground wheel ## Run the long tests: whole studies, browsers, clusters, the wheel in clean environments
	$(PYTEST) tests/python/long

worlds: ## Check generated worlds from FROM to TO (0 to 200000; some 70 minutes); goes on with the FROM reached
	WORLDS_FROM=$(or $(FROM),0) WORLDS_TO=$(or $(TO),200000) \
	    cargo test --package optcp-runs --locked --test worlds -- --nocapture

HOURS ?= 1
fuzz: setup ## Give everything that reads files made-up ones, for HOURS=1 (needs `cargo install cargo-fuzz`)
	$(BIN)/python fuzz/run.py --hours $(HOURS) $(TARGET)

lint: extension ## Check formatting, lints, types, spelling, language and commit subjects
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	cd python && ../$(BIN)/python -m mypy.stubtest optcp._core
	$(BIN)/codespell
	$(BIN)/python tools/prose/check.py
	$(BIN)/python tools/prose/subjects.py

.PHONY: site
site: setup ## Build the documentation as a site: target/site/html/index.html, which any browser opens
	$(BIN)/python docs/site/build.py

.PHONY: playground
playground: setup ## Write the page that simulates in a browser: target/playground/index.html (needs a compiler for WebAssembly)
	$(BIN)/python playground/build.py

bench: setup ## Measure the speed of the simulator
	$(BIN)/optcp bench
	$(RELEASE) cargo bench --workspace --locked

claims: setup ## Compare each stated figure of speed, memory and repeatability with a measurement (30 minutes with peers)
	@for script in identical speed memory bursts flow_list start; do $(BIN)/python benches/claims/$$script.py || exit 1; done

profile: $(STAMPS)/env ## Count anew which paths are hot (needs `rustup component add llvm-tools`)
	@command -v $(PROFDATA) > /dev/null || { echo "no $(PROFDATA): run rustup component add llvm-tools" >&2; exit 1; }
	RUSTFLAGS="-Cprofile-generate=$(CURDIR)/target/profile/counts" CARGO_TARGET_DIR=target/profile $(DEVELOP) release
	$(ADD_PAPERS)
	rm -rf target/profile/counts
	$(BIN)/python benches/train.py
	$(PROFDATA) merge --sparse --function=optcp \
	    --output=$(PROFILE) target/profile/counts
	$(MAKE) setup

docs: setup ## Build the documentation of the Rust crates
	cargo doc --workspace --no-deps --locked

lock: ## Write requirements.lock from what .venv has, and release/requirements.lock from target/tools
	( echo '# Every package of the development environment, exact. Renew: make lock'; \
	  $(BIN)/python -m pip freeze --exclude optcp --exclude optcp-papers ) > requirements.lock
	test ! -x $(TOOL)/python || \
	( echo '# What builds and checks a release, exact. Renew: make lock'; \
	  $(TOOL)/python -m pip freeze --all --exclude pip --exclude setuptools ) > release/requirements.lock

$(TOOLS)/.ready: release/requirements.lock
	test -x $(TOOL)/python || $(PYTHON) -m venv $(TOOLS)
	$(TOOL)/python -m pip install --quiet --disable-pip-version-check -r release/requirements.lock
	touch $@

wheel: $(TOOLS)/.ready ## Build the wheels, that of optcp for this platform, into target/dist
	rm -rf $(DIST)/*.whl target/wheel
	mkdir -p $(DIST)
	$(TOOL)/python docs/site/pack.py
	PATH="$(abspath $(TOOL)):$$PATH" RUSTFLAGS="$(RUSTFLAGS) $(PORTABLE)" \
	    maturin build --release --locked --strip $(LINKED) --quiet --out target/wheel
	$(TOOL)/wheel unpack --dest target/wheel target/wheel/*.whl
	@# The bill of materials that maturin puts into a wheel says where the checkout is.
	perl -pi -e 's#path\+file://[^"]*?/crates/#path+file:///crates/#g' target/wheel/optcp-*/*.dist-info/sboms/*.json
	$(TOOL)/wheel pack --dest-dir $(DIST) target/wheel/optcp-*/
	cd papers && $(abspath $(TOOL))/hatchling build --target wheel --directory $(abspath $(DIST))

sdist: $(TOOLS)/.ready ## Build the source archives into target/dist
	rm -f $(DIST)/*.tar.gz
	$(TOOL)/python docs/site/pack.py
	$(TOOL)/maturin sdist --out $(DIST)
	cd papers && $(abspath $(TOOL))/hatchling build --target sdist --directory $(abspath $(DIST))

test-wheel: setup wheel ## Try the wheel in clean environments, with the oldest and the newest of what it needs
	$(BIN)/python -m pytest --quiet tests/python/long/test_wheel.py

release-check: setup $(TOOLS)/.ready ## Check what a release needs, and say what cannot be checked here (15 minutes)
	PATH="$(abspath $(TOOL)):$$PATH" $(BIN)/python release/check.py
