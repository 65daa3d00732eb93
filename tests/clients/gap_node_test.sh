#!/bin/sh
# An informer of @kubernetes/client-node that is away while objects go and its resourceVersion
# leaves the window: back again it is told of every deletion.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/node.sh
. "$here/node.sh"
VEDETTE_WINDOW_EVENTS=40
VEDETTE_TAIL_EVENTS=10
export VEDETTE_WINDOW_EVENTS VEDETTE_TAIL_EVENTS # for the server, each time it starts
start_server || exit 1
timeout 240 node "$here/gap_informer.mjs" "$cache/node" &
serve_client $!
