#!/bin/sh
# Custom objects in several versions that a real webhook converts (conversion.mjs).
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
vedette=$(cd "$build" && pwd)/vedette
timeout 500 node "$top/tests/api/conversion.mjs" "$vedette" "$scratch"
