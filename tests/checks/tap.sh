# shellcheck shell=sh
# Sourced by every check of this folder and by other tests: TAP lines, waiting with an end, and a
# scratch folder that goes away by itself.
#
# The build folder is the script's first argument; `make test` gives it.
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck disable=SC2034 # for the script that sources this
build=${1:-$top/build-test}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tap_count=0
tap_failed=0

# tap NAME COMMAND...: passes when the command succeeds; what it prints is shown when it fails.
tap() {
    tap_name=$1
    shift
    tap_count=$((tap_count + 1))
    if "$@" >"$scratch/tap.out" 2>&1; then
        echo "ok $tap_count - $tap_name"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_count - $tap_name"
        sed 's/^/# /' "$scratch/tap.out"
    fi
}

# silent COMMAND...: succeeds when the command prints nothing; what it prints goes on.
silent() {
    "$@" >"$scratch/silent.out" 2>&1
    cat "$scratch/silent.out"
    [ ! -s "$scratch/silent.out" ]
}

# complains TEXT COMMAND...: succeeds when the command prints a line with the text.
complains() {
    complains_text=$1
    shift
    "$@" >"$scratch/complains.out" 2>&1
    grep -q -F -e "$complains_text" "$scratch/complains.out" && return 0
    echo "no line says: $complains_text"
    cat "$scratch/complains.out"
    return 1
}

# until_true COMMAND...: tries for 60 s; what the last try printed is shown when none succeeds.
until_true() {
    until_deadline=$(($(date +%s) + 60))
    until "$@" >"$scratch/until.out" 2>&1; do
        if [ "$(date +%s)" -ge "$until_deadline" ]; then
            cat "$scratch/until.out"
            return 1
        fi
        sleep 0.05
    done
}

# tap_end: the plan, and the script's exit status.
tap_end() {
    echo "1..$tap_count"
    [ "$tap_failed" -eq 0 ]
}
