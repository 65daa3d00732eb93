#!/bin/sh
# Compares the JSON parser with node's JSON.parse: node_diff_test.sh BUILD_DIR
# The corpus and the rules of comparison are in node_diff.js.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v node >/dev/null; then
    echo "not ok 1 - node is missing: apt-get install nodejs"
    exit 1
fi
exec node "$here/node_diff.js" "${1:?usage: node_diff_test.sh BUILD_DIR}/tests/json_tool"
