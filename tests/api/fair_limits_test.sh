#!/bin/sh
# What one user may hold of the server, and what is reserved (fair_limits.mjs).
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
here=$top/tests/api
# shellcheck source=tests/api/identities.sh
. "$here/identities.sh"
listen=127.0.0.1:0
start --access-log off --limits-user-requests 20 --limits-user-watches 50 \
    --limits-user-queued-bytes 1MiB --limits-requests 40 || exit 1
tokens >tokens.json <<END
root system:masters
kim system:monitoring
ann crew
bob crew
cem crew
END
cp data/pki/ca.crt ca.crt
timeout 300 node "$here/fair_limits.mjs" . "$http" "$https" "$server" && stop
