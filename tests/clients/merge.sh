#!/bin/sh
# Server-side apply beside the library of Kubernetes, structured-merge-diff: see go/merge.
# `make clients-go` runs it.
#
#   tests/clients/merge.sh BUILD_DIR SEQUENCES
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/go.sh
. "$here/go.sh"
build_go merge /usr/share/gocode || exit 1
# shellcheck disable=SC2086 # no seed, no argument
./merge "$vedette" "$scratch/data" "${2:-1000}" ${VEDETTE_SEED:-}
go_status=$?
[ "$go_status" -eq 0 ] || tail -n 20 data.log | sed 's/^/# /'
exit "$go_status"
