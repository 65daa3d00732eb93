#!/bin/sh
# @kubernetes/client-node, from npm: typed calls and errors, a watch, and an informer whose server
# is killed and comes back.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
command -v node >/dev/null && command -v npm >/dev/null || skip_all "no node or npm here"

# install: once for each build folder and version.
install() {
    cmp -s "$here/package.json" "$cache/node/installed.json" && return 0
    mkdir -p "$cache/node" && cp "$here/package.json" "$cache/node/" || return 1
    (cd "$cache/node" && timeout 240 npm install --no-audit --no-fund --ignore-scripts) \
        >npm.out 2>&1 && cp "$here/package.json" "$cache/node/installed.json"
}

install || skip_all "npm could not install @kubernetes/client-node"
start_server || exit 1
timeout 240 node "$here/informer.mjs" "$cache/node" &
serve_client $!
