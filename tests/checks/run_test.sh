#!/bin/sh
# tests/run.sh counts what each test says, and none speaks for another: not for one of the same
# name in another folder, nor for the same one in another run.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/tap.sh"

tree=$scratch/tree
mkdir -p "$tree/tests/good" "$tree/tests/bad" "$tree/build/tests"
cp "$top/tests/run.sh" "$tree/tests/"

# script NAME: what it reads becomes a test of the tree.
script() { cat >"$tree/tests/$1_test.sh"; }
script good/same <<'END'
echo "ok 1 - good"
echo "ok 2 - $WORD"
END
script bad/same <<'END'
echo "ok 1 - so far"
echo "not ok 2 - but then"
END
script bad/silent <<'END'
true
END
script bad/dies <<'END'
echo "ok 1 - and then"
kill -9 $$
END
script bad/hangs <<'END'
echo "ok 1 - and then"
exec sleep 600
END

# runs STATUS LINE PATTERN [DEADLINE]: how a run over the tree ends.
runs() {
    WORD=alone TEST_DEADLINE_S=${4:-60} sh "$tree/tests/run.sh" "$tree/build" "$3" >"$scratch/run"
    runs_status=$?
    cat "$scratch/run"
    [ "$runs_status" -eq "$1" ] && [ "$(tail -n 1 "$scratch/run")" = "$2" ]
}
tap "what passes" runs 0 '2 passed, 0 failed' good
tap "what fails" runs 1 '1 passed, 1 failed' bad/same
tap "both, by the same name" runs 1 '3 passed, 1 failed' same
tap "silence is a failure" runs 1 '0 passed, 1 failed' silent
tap "death is a failure" runs 1 '1 passed, 1 failed' dies
tap "a test has a deadline" runs 1 '1 passed, 1 failed' hangs 1
tap "no test at all is no success" runs 1 '0 passed, 0 failed' nobody

# Scripts first: they are the long ones.
printf '#!/bin/sh\necho "ok 1 - short"\n' >"$tree/build/tests/a_test"
chmod +x "$tree/build/tests/a_test"
scripts_first() {
    WORD=alone TEST_JOBS=1 sh "$tree/tests/run.sh" "$tree/build" 'good/same\|a_test' >"$scratch/run"
    cat "$scratch/run"
    [ "$(awk '{print $1}' "$scratch/run" | xargs)" = "good/same_test.sh a_test 3" ]
}
tap "scripts run before executables" scripts_first

# Two runs at a time: the first one's test goes on when the second has come and gone.
script good/both <<'END'
if [ "$WORD" = first ]; then
    : >"$GATE.reached"
    for i in $(seq 600); do [ -e "$GATE.open" ] && break; sleep 0.1; done
fi
echo "ok 1 - $WORD"
END
export GATE="$scratch/gate"
two_runs() {
    WORD=first sh "$tree/tests/run.sh" "$tree/build" both >"$scratch/first" &
    two_first=$!
    # shellcheck disable=SC2016 # the inner shell's
    timeout 60 sh -c 'until [ -e "$GATE.reached" ]; do sleep 0.1; done'
    WORD=second sh "$tree/tests/run.sh" "$tree/build" both || return 1
    grep -q -x 'ok 1 - second' "$tree"/build/test-logs/latest/*.log || return 1
    : >"$GATE.open"
    wait "$two_first" || return 1
    [ "$(tail -n 1 "$scratch/first")" = '1 passed, 0 failed' ] &&
        grep -q -x 'ok 1 - first' "$tree"/build/test-logs/[0-9]*/good-both_test.sh.log
}
tap "two runs at a time keep apart" two_runs
tap_end
