#!/bin/sh
# Requests that are sent before the answers to those before them have come (pipeline.mjs).
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
here=$top/tests/api
# shellcheck source=tests/api/identities.sh
. "$here/identities.sh"
listen=127.0.0.1:0
start --access-log off --store memory || exit 1
tokens >tokens.json <<END
root system:masters
END
cp data/pki/ca.crt ca.crt
timeout 300 node "$here/pipeline.mjs" . "$http" "$https" && stop
