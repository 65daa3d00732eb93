#!/bin/sh
# Users share the workers that check definitions (fair_checks.mjs).
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
here=$top/tests/api
# shellcheck source=tests/api/identities.sh
. "$here/identities.sh"
# shellcheck disable=SC2034 # for server.sh
listen=127.0.0.1:0
start --store memory || exit 1
crew
timeout 500 node "$here/fair_checks.mjs" . "$http" "$https" "$server" || exit 1
stop
