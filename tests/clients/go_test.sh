#!/bin/sh
# Go's net/http, the HTTP/2 that client-go and all its controllers speak: see go/main.go.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
command -v go >/dev/null || skip_all "no go here"

# No module and no download: the standard library is all. What was compiled is kept.
mkdir -p "$cache"
GOCACHE=$cache/go-build GO111MODULE=off GOFLAGS='' CGO_ENABLED=0 \
    go build -o go-client "$here"/go/*.go || exit 1
timeout 570 ./go-client "$vedette" "$scratch/data"
go_status=$?
[ "$go_status" -eq 0 ] || tail -n 20 data.log | sed 's/^/# /'
exit "$go_status"
