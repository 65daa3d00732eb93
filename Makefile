# The front door. meson and ninja do the work; `make help` lists the targets.

BUILD ?= build
N ?= 1000

.DEFAULT_GOAL := build

build: $(BUILD)/build.ninja ## build build/vedette, the release binary
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@tools/packages.sh build
	@meson setup $(BUILD) --buildtype=release -Db_lto=true -Dstrip=true >/dev/null

# Test builds have failpoints compiled in; the release binary never has.
build-test/build.ninja:
	@tools/packages.sh build test
	@meson setup build-test --buildtype=debugoptimized -Dtests=true -Dfailpoints=true >/dev/null

test: build build-test/build.ninja ## install what is missing, build, run all tests
	@tools/packages.sh test
	@ninja -C build-test --quiet
	@tests/run.sh build-test '$(TEST)'

build-asan/build.ninja:
	@tools/packages.sh build test
	@meson setup build-asan --buildtype=debugoptimized -Dtests=true -Dfailpoints=true -Db_sanitize=address,undefined -Db_lundef=false >/dev/null

build-tsan/build.ninja:
	@tools/packages.sh build test
	@meson setup build-tsan --buildtype=debugoptimized -Dtests=true -Dfailpoints=true -Db_sanitize=thread -Db_lundef=false >/dev/null

asan: build-asan/build.ninja ## all tests under AddressSanitizer and UBSan
	@ninja -C build-asan --quiet
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 tests/run.sh build-asan '$(TEST)'

tsan: build-tsan/build.ninja ## all tests under ThreadSanitizer
	@ninja -C build-tsan --quiet
	@TSAN_OPTIONS=halt_on_error=1 tests/run.sh build-tsan '$(TEST)'

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

clean: ## remove every build folder
	rm -rf build build-test build-asan build-tsan build-fuzz build-cover

.PHONY: build test asan tsan help clean
