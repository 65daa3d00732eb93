#!/bin/sh
# `make help` lists every public target, and every target that it lists exists.
#
# Public targets are those of .PHONY that are no build folders.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/tap.sh"

# This may run below another make, whose flags are not for the one here.
unset MAKEFLAGS MFLAGS MAKELEVEL
quiet_make() { make -s --no-print-directory -C "$top" "$@"; }

listed=$(quiet_make help | awk '$1 == "make" {print $2}')
public=$(sed -n 's/^\.PHONY: *//p' "$top/Makefile" | tr ' ' '\n' | grep -v '^build-')

is_listed() { printf '%s\n' "$listed" | grep -q -x -e "$1"; }

tap "help lists something" test -n "$listed"
for target in $public; do
    tap "help lists $target" is_listed "$target"
done
for target in $listed; do
    tap "make $target exists" quiet_make -n "$target"
done
# A target without .PHONY would stop working the day a file of its name appears.
for target in $listed; do
    tap "$target is phony" grep -q -E "^\.PHONY:.* $target( |\$)" "$top/Makefile"
done
tap_end
