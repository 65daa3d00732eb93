#!/bin/sh
# @kubernetes/client-node, from npm: a definition, its objects, and an informer that outlives the
# server and a new version of the definition.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/node.sh
. "$here/node.sh"
start_server || exit 1
timeout 240 node "$here/crd_informer.mjs" "$cache/node" &
serve_client $!
