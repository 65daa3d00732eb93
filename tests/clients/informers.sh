#!/bin/sh
# client-go, as it is in Debian's source of Kubernetes: see go/informers. `make clients-go` runs it;
# compiling client-go takes too long for `make test`.
#
#   tests/clients/informers.sh BUILD_DIR
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/go.sh
. "$here/go.sh"
sh "$here/kubernetes_source.sh" "$cache/kubernetes" || exit 1
build_go informers "$cache/kubernetes" || exit 1
timeout 570 ./informers "$vedette" "$scratch/data" 2>log
go_status=$?
[ "$go_status" -eq 0 ] || tail -n 40 log data.log | sed 's/^/# /'
exit "$go_status"
