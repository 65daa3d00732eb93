#!/bin/sh
# What one user may hold of the server over HTTP/2 (fair_http2.mjs).
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
here=$top/tests/api
# shellcheck source=tests/api/identities.sh
. "$here/identities.sh"
listen=127.0.0.1:0
start --access-log off --store memory --audit-log audit.log --audit-mode blocking \
    --limits-user-requests 20 --limits-user-watches 50 || exit 1
crew
timeout 300 node "$here/fair_http2.mjs" . "$http" "$https" "$server" && stop
