#!/bin/sh
# Runs every test of a build folder, two at a time, and ends with `N passed, N failed`.
#
#   tests/run.sh BUILD_DIR [PATTERN]
#
# A test is an executable BUILD_DIR/tests/*_test or a script tests/**/*_test.sh; each prints TAP
# lines (`ok ...`, `not ok ...`). One that dies, hangs past its deadline or prints no `ok` counts as
# failed. What each has printed is kept in BUILD_DIR/test-logs, in a folder for each run: `latest`
# leads to the newest, and those of other days go.
#
# Scripts start servers and take long, executables are short: scripts run first, so that no long
# test runs alone at the end. The ten that took longest are listed.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?usage: tests/run.sh BUILD_DIR [PATTERN]}" && pwd) || exit 2
pattern=${2:-.}
deadline_s=${TEST_DEADLINE_S:-600}

if [ "${3:-}" = one ]; then # run one test: called back by xargs below
    logs=$4
    test=$5
    name=${test#"$top/tests/"}
    name=${name#"$build/tests/"}
    log=$logs/$(echo "$name" | tr / -).log
    start=$(date +%s)
    case $test in
    *.sh) set -- sh "$test" "$build" ;;
    *) set -- "$test" ;;
    esac
    CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 10 "$deadline_s" "$@" >"$log" 2>&1
    status=$?
    # cmocka says "not ok N # SKIP" of a test that skips itself: it neither passed nor failed.
    passed=$(grep -c '^ok ' "$log")
    failed=$(grep '^not ok ' "$log" | grep -vc '^not ok [0-9]* # SKIP')
    skipped=$(grep -c '^not ok [0-9]* # SKIP' "$log")
    # Only a test's own word can pass it: a crash, a time-out or silence is a failure.
    if [ "$failed" -eq 0 ] && { [ "$status" -ne 0 ] || [ $((passed + skipped)) -eq 0 ]; }; then
        failed=1
        echo "not ok - $name ended with status $status" >>"$log"
    fi
    seconds=$(($(date +%s) - start))
    echo "$passed $failed $seconds $name" >"$log.count"
    printf '%-32s %4d passed %3d failed  %3ds\n' "$name" "$passed" "$failed" "$seconds"
    if [ "$failed" -ne 0 ]; then grep -v '^ok ' "$log" | tail -n 60 | sed 's/^/    /'; fi
    exit 0
fi

mkdir -p "$build/test-logs"
find "$build/test-logs" -mindepth 1 -maxdepth 1 -mtime +0 -exec rm -rf {} +
logs=$(mktemp -d "$build/test-logs/$(date +%H%M%S).XXXXXX") || exit 2
ln -sfn "$(basename "$logs")" "$build/test-logs/latest"
{
    find "$top/tests" -name '*_test.sh' | sort
    find "$build/tests" -maxdepth 1 -type f -perm -u+x -name '*_test' | sort
} | grep -e "$pattern" >"$logs/list"
xargs -P "${TEST_JOBS:-$(nproc)}" -I{} sh "$0" "$build" "$pattern" one "$logs" {} <"$logs/list"

if [ "$(wc -l <"$logs/list")" -gt 10 ]; then
    echo "slowest:" "$(cat "$logs"/*.count | sort -n -r -k 3,3 | head -n 10 |
        awk '{printf "%s%s %ss", (NR > 1 ? ", " : ""), $4, $3}')"
fi
# shellcheck disable=SC2046 # the counts are two numbers a file
set -- $(cat "$logs"/*.count 2>/dev/null | awk '{p += $1; f += $2} END {print p + 0, f + 0}')
echo "$1 passed, $2 failed"
[ "$2" -eq 0 ] && [ "$1" -gt 0 ]
