#!/bin/sh
# What only the server writes of a Repository's status: whoever could write it would move refs.
set -u
build=${1:?usage: repository_status_test.sh BUILD_DIR}
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
command -v jq >/dev/null || {
    echo "ok 1 # SKIP no jq here"
    echo "1..1"
    exit 0
}

repository=/apis/git.vedette.dev/v1/namespaces/default/repositories/catalog
status=$repository/status
commit=1111111111111111111111111111111111111111

# write METHOD TYPE BODY
write() { admin "$status$query" -A test -X "$1" -H "Content-Type: application/$2" -d "$3"; }

# refused FIELD METHOD TYPE BODY: 422 that names the field, and nothing has changed.
refused() {
    refused_field=$1
    shift
    refused_before=$(admin "$repository" -A test)
    write "$@" >refused.out
    jq -e --arg field "status.$refused_field" '.code == 422 and .reason == "Invalid" and
        (.message | contains("only the server writes this field")) and
        ([.details.causes[].field] == [$field])' refused.out >/dev/null || {
        cat refused.out
        return 1
    }
    [ "$(admin "$repository" -A test)" = "$refused_before" ]
}

# taken METHOD TYPE BODY
taken() {
    write "$@" >taken.out
    jq -e '.kind == "Repository"' taken.out >/dev/null && return 0
    cat taken.out
    return 1
}

# changed FILTER: the object as it is, with another status.
changed() { admin "$repository" -A test | jq -c "$1"; }

# applied STATUS
applied() {
    printf '{"apiVersion":"git.vedette.dev/v1","kind":"Repository","metadata":{"name":"catalog"},'
    printf '"status":%s}' "$1"
}

ready() {
    admin "$repository" | jq -e '.status.conditions[]? | select(.type == "Ready" and .status ==
        "True")' >/dev/null
}

tap "a server starts" start
query=
tap "a repository" said 201 catalog "${repository%/*}" -X POST -H 'Content-Type: application/json' \
    -d '{"metadata":{"name":"catalog"}}'
tap "it is ready" until_true ready
branches="[{\"name\":\"main\",\"commit\":\"$commit\"}]"
for query in '' '?dryRun=All'; do
    tap "PUT: branches $query" refused branches PUT json "$(changed ".status.branches = $branches")"
    tap "PUT: lastAdmission $query" refused lastAdmission PUT json \
        "$(changed '.status.lastAdmission = {"commit": "1"}')"
    tap "PUT: resources $query" refused resources PUT json "$(changed '.status.resources = 7')"
    tap "PUT: lastReset $query" refused lastReset PUT json "$(changed '.status.lastReset = "1"')"
    tap "PUT: drift $query" refused drift PUT json \
        "$(changed '.status.drift = [{"resource": "configmaps", "name": "x", "user": "bob"}]')"
    tap "PUT: cascadesElsewhere $query" refused cascadesElsewhere PUT json \
        "$(changed '.status.cascadesElsewhere = true')"
    tap "merge patch $query" refused branches PATCH merge-patch+json \
        "{\"status\":{\"branches\":$branches}}"
    tap "JSON patch $query" refused resources PATCH json-patch+json \
        '[{"op":"add","path":"/status/resources","value":3}]'
done
query='?fieldManager=me&force=true'
tap "apply" refused branches PATCH apply-patch+yaml "$(applied "{\"branches\":$branches}")"
tap "apply of resources" refused resources PATCH apply-patch+yaml "$(applied '{"resources":1}')"
tap "apply of lastReset" refused lastReset PATCH apply-patch+yaml "$(applied '{"lastReset":"1"}')"
tap "the rest of it is free to apply" taken PATCH apply-patch+yaml "$(applied '{"lastError":"x"}')"
query=
tap "and to patch" taken PATCH merge-patch+json '{"status":{"lastError":"y"}}'
tap "and to put" taken PUT json "$(changed '.status.lastError = "z"')"
tap "the main endpoint ignores it" said 200 '"name":"catalog"' "$repository" -X PATCH \
    -H 'Content-Type: application/merge-patch+json' \
    -d "{\"status\":{\"branches\":$branches,\"resources\":4}}"
# No name and no group makes somebody the Git pipeline.
group_refused() {
    group=$("$vedette" token create --data data --user system:vedette:git \
        --groups system:masters,system:vedette:git)
    until_true ask "$repository" -f -o group.out -H "Authorization: Bearer $group" &&
        ask "$status" -X PATCH -H "Authorization: Bearer $group" -o group.out \
            -H 'Content-Type: application/merge-patch+json' -d '{"status":{"resources":5}}' &&
        jq -e '.code == 422' group.out >/dev/null
}
tap "a token of the name and the group system:vedette:git" group_refused
none() {
    changed '[.status | .branches, .resources, .lastReset, .drift]' |
        grep -qx '\[null,null,null,null\]'
}
tap "as before" none
tap "the server stops" stop
tap_end
