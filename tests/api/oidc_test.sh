#!/bin/sh
# Tokens of other issuers (oidc.mjs).
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
vedette=$(cd "$build" && pwd)/vedette
timeout 500 node "$top/tests/api/oidc.mjs" "$vedette" "$scratch"
