# The front door. meson and ninja do the work; `make help` lists the targets.
#
# Every target installs what it needs (tools/packages.sh) and sets its build folder up, anew when
# meson, the compiler or the options have changed (tools/configure.sh).

BUILD ?= build
# A pattern that picks tests, fuzz targets or benchmarks by name; all when empty.
TEST ?=
# Cycles of `make crash`, `make crash-git` and `make torture`, sequences of `make clients-go`, and
# seconds that `make fuzz` gives each target.
N ?= 1000
FUZZ_S ?= 60
# Options of `make run`: ARGS='--listen 127.0.0.1:8081'.
ARGS ?=
# Where `make install` puts things; DESTDIR is a root to put them below.
PREFIX ?= /usr/local
DESTDIR ?=

release := --buildtype=release -Db_lto=true
# Test builds have failpoints compiled in; the release binary never has.
tests := --buildtype=debugoptimized -Dtests=true -Dfailpoints=true
asan := -Db_sanitize=address,undefined -Db_lundef=false
tsan := -Db_sanitize=thread -Db_lundef=false
sources = $(shell find src include cmd tests bench -name '*.[ch]' -o -name '*.cc' 2>/dev/null)
scripts = $(shell find .ci tools tests bench -name '*.sh' -o -path .ci/run)

.DEFAULT_GOAL := build

build: ## build build/vedette, the release binary
	@tools/packages.sh build
	@tools/configure.sh $(BUILD) $(release) -Dstrip=true
	@tools/build.sh $(BUILD)

run: build ## build, and start the server (ARGS=options); its data is in vedette-data; Ctrl-C stops it
	@exec tools/run.sh $(BUILD)/vedette $(ARGS)

# Built by whoever made it, so that root does not compile: `make && sudo make install`.
install: ## install what make has built below PREFIX, /usr/local by default, and DESTDIR
	@[ -x $(BUILD)/vedette ] || { echo "there is no $(BUILD)/vedette: run make first" >&2; exit 1; }
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' tools/install.sh install $(BUILD)/vedette

uninstall: ## remove what make install has installed; data stays
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' tools/install.sh uninstall

# Builds with tests in them: build-test is the plain one, the others are named for what they add.
build-test:
	@tools/packages.sh build test
	@tools/configure.sh $@ $(tests)
	@tools/build.sh $@

build-asan:
	@tools/packages.sh build test
	@tools/configure.sh $@ $(tests) $(asan)
	@tools/build.sh $@

build-tsan:
	@tools/packages.sh build test
	@tools/configure.sh $@ $(tests) $(tsan)
	@tools/build.sh $@

build-cover:
	@tools/packages.sh build test cover
	@tools/configure.sh $@ $(tests) -Db_coverage=true
	@tools/build.sh $@

build-clang:
	@tools/packages.sh build test clang
	@CC=clang CXX=clang++ tools/configure.sh $@ $(tests)
	@tools/build.sh $@

build-fuzz:
	@tools/packages.sh build test clang
	@tools/packages.sh fuzz
	@CC=clang CXX=clang++ tools/configure.sh $@ $(tests) $(asan) -Dfuzz=true
	@tools/build.sh $@ fuzz

build-bench:
	@tools/packages.sh build test
	@tools/configure.sh $@ $(release) -Dtests=true
	@tools/build.sh $@ vedette benches

test: build build-test ## install what is missing, build, run all tests (TEST=pattern: some)
	@tests/run.sh build-test '$(TEST)'

asan: build-asan ## all tests under AddressSanitizer and UBSan
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 tests/run.sh build-asan '$(TEST)'

tsan: build-tsan ## all tests under ThreadSanitizer
	@TSAN_OPTIONS=halt_on_error=1:suppressions=$(CURDIR)/tests/tsan.supp tests/run.sh build-tsan '$(TEST)'

clang: build-clang ## build everything, tests too, with clang

fuzz: build-fuzz ## run each fuzz target for FUZZ_S seconds, 60 by default (TEST=pattern: some)
	@tests/fuzz/run.sh build-fuzz $(FUZZ_S) '$(TEST)'

crash: build-test ## kill and reopen the store N times, 1000 by default
	@build-test/tests/fault/crash --cycles $(N)

torture: build-test ## cut and resume watches of a dying server N times, 1000 by default
	@tests/api/resume_torture_test.sh build-test $(N)

crash-git: build-test ## kill a server that is pushed to, and its git processes, N times, 500 by default
	@GIT_CRASH_CYCLES=$(if $(filter command line environment,$(origin N)),$(N),500) \
		tests/fault/git_crash_test.sh build-test

races: build-test ## 16 writers race for 100 statuses, 300,000 writes
	@VEDETTE_STATUS_WRITES=300000 build-test/tests/kube_status_race_test

clients-go: build-test ## client-go's informers and elections; N runs beside its apply library
	@tools/packages.sh clients-go
	@tests/clients/informers.sh build-test
	@tests/clients/merge.sh build-test $(N)

clients-kubectl: build-test ## the tests of kubectl with every version of it here, not with some
	@VEDETTE_KUBECTLS=all tests/run.sh build-test 'clients/\(.*kubectl\|apply\)_test'

bench: build-bench ## run the benchmarks in a release build (TEST=pattern: some)
	@bench/run.sh build-bench '$(TEST)'

cover: build-cover ## run the tests and show which lines they reach (build-cover/coverage)
	@find build-cover -name '*.gcda' -delete
	@tests/run.sh build-cover '$(TEST)'
	@mkdir -p build-cover/coverage
	@gcovr --root . --filter src/ --filter cmd/ --print-summary --txt \
		--html-details build-cover/coverage/index.html build-cover

fmt: ## put the C sources into the house format
	@tools/packages.sh lint
	@clang-format -i $(sources)

# A file that several libraries compile is gone through once: it is enough, and clang-tidy forgets
# what va_start is when it sees a file for the second time.
lint: build-clang ## check the format, clang-tidy's findings and the shell scripts
	@tools/packages.sh lint
	@clang-format --dry-run -Werror $(sources)
	@mkdir -p build-clang/once
	@jq 'unique_by(.file)' build-clang/compile_commands.json >build-clang/once/compile_commands.json
	@printf '%s\n' $(filter %.c,$(sources)) | \
		xargs -P $$(nproc) -n 1 clang-tidy --quiet -p build-clang/once
	@shellcheck $(scripts)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' Makefile

clean: ## remove every build folder
	rm -rf build build-test build-asan build-tsan build-cover build-clang build-fuzz build-bench

.PHONY: build run install uninstall test asan tsan clang fuzz crash crash-git torture races clients-go
.PHONY: clients-kubectl bench cover fmt lint help clean
# They are folders too, but ninja knows better than their time stamps whether they are up to date.
.PHONY: build-test build-asan build-tsan build-cover build-clang build-fuzz build-bench
