#!/bin/sh
# Controllers built on @kubernetes/client-node that share statuses, see controller.mjs.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/node.sh
. "$here/node.sh"

start_server || exit 1
TOKEN=$("$vedette" token create --data data --user gauge-controller | grep -o 'vd_[^ ]*')
export TOKEN
timeout 240 node "$here/controller.mjs" "$cache/node"
