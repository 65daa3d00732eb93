#!/bin/sh
# Random histories, pushed to a server and to a simple model (git_model.py). GIT_MODEL_STEPS pushes,
# VEDETTE_SEED to do a run again.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"
command -v python3 >/dev/null || skip_all "there is no python3"

histories() {
    seed=${VEDETTE_SEED:-$(date +%s)}
    timeout 600 python3 "$here/git_model.py" "$http" "$token" "${GIT_MODEL_STEPS:-60}" "$seed"
}

start_server >/dev/null
open_shop >/dev/null
repository model 'branches: [main, "release/*"]' >/dev/null 2>&1
tap "random histories" histories
tap_end
