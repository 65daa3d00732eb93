#!/bin/sh
# @kubernetes/client-node, from npm: server-side apply by two managers.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/node.sh
. "$here/node.sh"
start_server || exit 1
timeout 240 node "$here/apply.mjs" "$cache/node"
