#!/bin/sh
# The short version of `make crash`: 200 kills, no violation.
set -u
build=${1:?usage: crash_test.sh BUILD_DIR}
echo 1..1
if "$build/tests/fault/crash" --cycles "${CRASH_CYCLES:-200}"; then
    echo "ok 1 - kill -9 at random moments and at every failpoint loses nothing"
else
    echo "not ok 1 - kill -9 at random moments and at every failpoint loses nothing"
fi
