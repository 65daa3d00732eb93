#!/bin/sh
# A watch ends when its right does, in whatever way it had it and lost it (stream_rights.mjs).
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
here=$top/tests/api
# shellcheck source=tests/api/identities.sh
. "$here/identities.sh"
listen=127.0.0.1:0
start --access-log off || exit 1
tokens >tokens.json <<EOF
root system:masters
member club,others
$(printf '%s\n' edited wide narrow through global dropped olds table some twice every)
EOF
certificate || exit 1
timeout 300 node "$here/stream_rights.mjs" . "$http" "$https"
