# SPDX-License-Identifier: Apache-2.0
# The commands, each from nothing: install what is missing, configure, build, run. A second call repeats no build.

JOBS := $(shell nproc 2>/dev/null || echo 2)
REPORT := build/demo-report

.PHONY: help demo figures single-header test check docs verify clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    install what is missing, build, and run the default benchmark; its report begins with who is first"
	@echo "             FULL=1: all chapters, with sweeps of sizes and threads, latencies and YCSB"
	@echo "make single-header  write all public headers as one, build/cubby_all.hpp"
	@echo "make test    install what is missing, build, run the tests of the public API under AddressSanitizer"
	@echo "make check   make test, and the other parts of it: both compilers, ThreadSanitizer, programs, fuzzers, AArch64, ..."
	@echo "make docs    install what is missing, and build the documentation with its search into build/site (half a minute)"
	@echo "             CHECK=1: open it in headless Chromium, too, and fail on what a reader would see go wrong"
	@echo "make figures run the commands behind the generated figures of docs/performance, and write pages and plots (an hour and a half after the build)"
	@echo "             goes on where it was cut off; wants a committed tree; ONLY=ID,... those alone; FRESH=1: also what this machine has results of"
	@echo "make verify  make check, and what takes longer: sanitizers over all tests, models, mutants, ... (about an hour)"
	@echo "             FULL=1: all of its parts and each mutant, however long that takes; without it each day has its parts (docs/testing.md)"
	@echo "make clean   remove build/"
	@echo
	@echo "One part alone: tools/run_tests.py --only PART or tools/run_verify.py --only PART (--list names them)"

# The program of the default run alone compiles in a fifth of the time.
demo:
	@tools/install_packages.sh demo
	@tools/unpack_rivals.sh
	@test -f build/release/build.ninja || cmake --preset release
	@cmake --build --preset release -j $(JOBS) --target $(if $(FULL),cubby_program,cubby_demo)
	@build/release/$(if $(FULL),,demo/)cubby bench $(if $(FULL),--full )--report $(REPORT)
	@echo "The report: $(CURDIR)/$(REPORT)/index.html"

single-header:
	@python3 tools/single_header.py build/cubby_all.hpp
	@echo "All public headers in one file: $(CURDIR)/build/cubby_all.hpp"

test:
	@tools/install_packages.sh test
	@python3 tools/run_tests.py

check:
	@tools/install_packages.sh test
	@tools/unpack_rivals.sh
	@python3 tools/run_tests.py --check

docs:
	@tools/install_packages.sh docs$(if $(CHECK),_check)
	@python3 tools/build_docs.py$(if $(CHECK), --check)

verify:
	@tools/install_packages.sh verify
	@tools/unpack_rivals.sh
	@$(if $(FULL),CUBBY_VERIFY_FULL=$(FULL) )python3 tools/run_verify.py

figures:
	@tools/install_packages.sh demo
	@tools/install_packages.sh stores
	@tools/unpack_rivals.sh
	@test -f build/release/build.ninja || cmake --preset release
	@targets=$$(tools/figures.py targets $(if $(ONLY),--only $(ONLY))) && cmake --build --preset release -j $(JOBS) --target $$targets
	@tools/figures.py run $(if $(ONLY),--only $(ONLY)) $(if $(FRESH),--fresh)

clean:
	rm -rf build
