#!/bin/sh
# Debian's python3-kubernetes: patches, a watch whose server is killed and comes back, and a Lease
# that two want.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
python=/usr/bin/python3 # Debian's own, which has Debian's modules
"$python" -c 'import kubernetes' 2>/dev/null || skip_all "no python3-kubernetes here"

start_server || exit 1
timeout 240 "$python" "$here/client.py" &
serve_client $!
