#!/bin/sh
# The scenarios of Kubernetes' own storage tests, by name, over REST; first with the window that a
# server has by default, then with one that compaction soon passes.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
here=$top/tests/api
command -v node >/dev/null || {
    echo "ok 1 # SKIP no node here"
    echo "1..1"
    exit 0
}

# scenarios TABLE...: their TAP lines, counted on.
scenarios() {
    node "$here/scenarios.mjs" "${https##*:}" "$scratch/data/pki" "$@" >scenarios.out 2>&1
    while IFS= read -r line; do
        case $line in
        ok* | 'not ok'*)
            tap_count=$((tap_count + 1))
            case $line in not*) tap_failed=$((tap_failed + 1)) ;; esac
            echo "${line%%ok *}ok $tap_count -${line#*-}"
            ;;
        1..*) ;;
        *) echo "# $line" ;;
        esac
    done <scenarios.out
    tail -n 1 scenarios.out | grep -q '^1\.\.[1-9]'
}

tap "a server starts" start --watch-bookmark-period 1s
scenarios watch store || tap "the scenarios come to their end" false
tap "it stops" stop
tap "it starts with a window of few events" start --window-events 40 --tail-events 10
scenarios compacted || tap "the scenarios come to their end" false
tap "it stops" stop
tap_end
