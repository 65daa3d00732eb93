#!/bin/sh
# Authorization: every verb x kind x identity, and what the reviews say of the same (matrix.mjs).
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
here=$top/tests/api
# shellcheck source=tests/api/identities.sh
. "$here/identities.sh"
listen=127.0.0.1:0
start --access-log off || exit 1
node --input-type=module -e "
    import { identities } from 'file://$here/matrix_policy.mjs';
    for (const { name, groups, by } of identities)
        if (by === 'token') console.log(name, groups.slice(0, -1).join(','));" | tokens >tokens.json
certificate || exit 1
timeout 300 node "$here/matrix.mjs" . "$http" "$https"
