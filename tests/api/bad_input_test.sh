#!/bin/sh
# Bad input of every sort: a Status with the right code each time, and the server lives on.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
here=$top/tests/api
# shellcheck source=tests/api/identities.sh
. "$here/identities.sh"
listen=127.0.0.1:0
start --access-log off || exit 1
echo root system:masters | tokens >tokens.json
cp data/pki/ca.crt ca.crt
timeout 300 node "$here/bad_input.mjs" . "$http" "$https" "$server" && stop
