#!/bin/sh
# Go's net/http, the HTTP/2 that client-go and all its controllers speak: see go/http2.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/go.sh
. "$here/go.sh"
build_go http2 || exit 1
timeout 570 ./http2 "$vedette" "$scratch/data"
go_status=$?
[ "$go_status" -eq 0 ] || tail -n 20 data.log | sed 's/^/# /'
exit "$go_status"
