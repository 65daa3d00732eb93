#!/bin/sh
# Starts the server for `make run`, and gives it the demo repository when it has started.
#
#   tools/run.sh PROGRAM [OPTION...]
#
# The server takes the place of this shell, so that signals and the exit status are its own. What it
# prints goes through tools/demo.sh.
set -eu
program=${1:?usage: tools/run.sh PROGRAM [OPTION...]}
shift
folder=$(mktemp -d)
mkfifo "$folder/output"
"$(dirname "$0")/demo.sh" "$program" <"$folder/output" &
exec 3>"$folder/output" # opens when demo.sh has opened it
rm -r "$folder"
exec "$program" serve "$@" >&3 3>&-
