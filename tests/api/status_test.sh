#!/bin/sh
# Status over the real server: rights by subresource, what watchers see, the strict boundary and
# versions that a kind can demand, and kinds and objects that Git owns.
set -u
build=${1:?usage: status_test.sh BUILD_DIR}
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
# shellcheck source=tests/support/push.sh
. "$top/tests/support/push.sh"

# compact TOKEN PATH ARGUMENT...: answers on one line, as programs get them.
compact() { as "$@" -A status-test; }

# token USER GROUPS
token() {
    "$vedette" token create --data data --user "$1" --groups "$2" | grep -o 'vd_[^ ]*'
}

# definition KIND PLURAL ANNOTATIONS: a CustomResourceDefinition.
definition() {
    cat <<CRD
{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
 "metadata":{"name":"$2.example.com","annotations":{$3}},
 "spec":{"group":"example.com","scope":"Namespaced","names":{"kind":"$1","plural":"$2"},
  "versions":[{"name":"v1","served":true,"storage":true,
   "subresources":{"status":{},
    "scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
   "schema":{"openAPIV3Schema":{"type":"object","properties":{
    "spec":{"type":"object","properties":{"color":{"type":"string"},"replicas":{"type":"integer"}}},
    "status":{"type":"object","properties":{"note":{"type":"string"},"replicas":{"type":"integer"},
     "conditions":{"type":"array","x-kubernetes-list-type":"map",
      "x-kubernetes-list-map-keys":["type"],"items":{"type":"object",
       "required":["type","status"],"properties":{"type":{"type":"string"},
       "status":{"type":"string"},"reason":{"type":"string"},"message":{"type":"string"},
       "observedGeneration":{"type":"integer"},
       "lastTransitionTime":{"type":"string","format":"date-time"}}}}}}}}}}]}}
CRD
}

items=/apis/example.com/v1/namespaces/default

# says CODE TEXT TOKEN METHOD PATH [BODY]: the answer has the code and the text.
says() {
    says_code=$1
    says_text=$2
    says_token=$3
    says_method=$4
    says_path=$5
    says_type=application/json
    if [ "$says_method" = PATCH ]; then says_type=application/merge-patch+json; fi
    if [ "$says_method" = JSONPATCH ]; then
        says_method=PATCH says_type=application/json-patch+json
    fi
    compact "$says_token" "$says_path" -X "$says_method" -H "Content-Type: $says_type" \
        -d "${6:-}" -o says.out -w '%{http_code}' >says.code
    [ "$(cat says.code)" = "$says_code" ] && grep -q -F -e "$says_text" says.out && return 0
    echo "wanted $says_code with: $says_text; got $(cat says.code):"
    cat says.out
    return 1
}

is_live() { says 200 '"items"' "$root" GET "$items/$1"; }

# makes KIND PLURAL ANNOTATIONS: the kind, live.
makes() {
    definition "$1" "$2" "$3" >crd.json
    says 201 "$2.example.com" "$root" POST \
        /apis/apiextensions.k8s.io/v1/customresourcedefinitions "$(cat crd.json)" || return 1
    until_true is_live "$2"
}

# object KIND NAME SPEC [METADATA]
object() {
    printf '{"apiVersion":"example.com/v1","kind":"%s","metadata":{"name":"%s"%s},"spec":%s}' \
        "$1" "$2" "${4:-}" "$3"
}

# field PATH KEY: the value of the first such key.
field() { compact "$root" "$1" | grep -o "\"$2\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }

# spec PATH: what the object wants.
spec() { compact "$root" "$1" | grep -o '"spec":{[^}]*}'; }

# ---- rights ----

# role NAME RULES: for the user of that name.
role() {
    role_api=/apis/rbac.authorization.k8s.io/v1
    role_group='"apiGroup":"rbac.authorization.k8s.io"'
    says 201 "$1" "$root" POST $role_api/clusterroles \
        "{\"metadata\":{\"name\":\"$1\"},\"rules\":[$2]}" || return 1
    says 201 "$1" "$root" POST $role_api/clusterrolebindings \
        "{\"metadata\":{\"name\":\"$1\"},\"subjects\":[{$role_group,\"kind\":\"User\",\
\"name\":\"$1\"}],\"roleRef\":{$role_group,\"kind\":\"ClusterRole\",\"name\":\"$1\"}}"
}

rule() { printf '{"apiGroups":["example.com"],"resources":[%s],"verbs":[%s]}' "$1" "$2"; }

rights() {
    tap "a controller's role" role controller \
        "$(rule '"widgets"' '"get","list","watch"'),$(rule '"widgets/status"' '"update","patch"')"
    tap "an author's role" role author "$(rule '"widgets"' '"*"')"
    tap "a scaler's role" role scaler "$(rule '"widgets/scale"' '"get","update","patch"')"
    until_true says 200 w1 "$controller" GET "$items/widgets/w1" >/dev/null
    until_true says 200 w1 "$author" GET "$items/widgets/w1" >/dev/null
    until_true says 200 replicas "$scaler" GET "$items/widgets/w1/scale" >/dev/null
    version=$(field "$items/widgets/w1" resourceVersion)
    before=$(spec "$items/widgets/w1")
    whole=$(object Widget w1 '{"color":"green","replicas":9}' ",\"resourceVersion\":\"$version\"")
    while read -r who code method path body; do
        matrix_token=
        eval "matrix_token=\$$who"
        tap "$who: $method $path is $code" says "$code" '"kind"' "$matrix_token" "$method" \
            "$items/$path" "$body"
    done <<MATRIX
controller 200 GET widgets/w1
controller 200 GET widgets
controller 403 GET widgets/w1/status
controller 403 POST widgets $(object Widget w2 '{}')
controller 403 PUT widgets/w1 $whole
controller 403 PATCH widgets/w1 {"spec":{"color":"green"}}
controller 403 PATCH widgets/w1 {"metadata":{"labels":{"a":"b"}}}
controller 403 PATCH widgets/w1/scale {"spec":{"replicas":9}}
controller 403 DELETE widgets/w1
controller 403 DELETE widgets
controller 200 PATCH widgets/w1/status {"spec":{"color":"green"},"status":{"note":"patched"}}
controller 409 PUT widgets/w1/status $whole
controller 200 JSONPATCH widgets/w1/status [{"op":"replace","path":"/spec","value":{}}]
author 403 PATCH widgets/w1/status {"status":{"note":"mine"}}
author 403 PUT widgets/w1/status $whole
author 403 GET widgets/w1/status
author 403 PATCH widgets/w1/scale {"spec":{"replicas":9}}
author 200 PATCH widgets/w1 {"status":{"note":"mine"}}
scaler 403 GET widgets/w1
scaler 403 PATCH widgets/w1 {"spec":{"replicas":9}}
scaler 403 PATCH widgets/w1/status {"status":{"note":"mine"}}
MATRIX
    tap "no spec has changed" test "$before" = "$(spec "$items/widgets/w1")"
    tap "status is the controller's" says 200 '"note":"patched"' "$root" GET "$items/widgets/w1"
    tap "the generation is the first" says 200 '"generation":1' "$root" GET "$items/widgets/w1"
    tap "scale changes replicas" says 200 '"replicas":9' "$scaler" PATCH "$items/widgets/w1/scale" \
        '{"metadata":{"labels":{"a":"b"}},"spec":{"replicas":9,"color":"green"},
        "status":{"replicas":7}}'
    tap "and nothing else" test "$(spec "$items/widgets/w1")" = \
        "$(echo "$before" | sed 's/"replicas":[0-9]*/"replicas":9/')"
    tap "nor labels" silent grep -o '"labels"' says.out
    tap "spec has a new generation" says 200 '"generation":2' "$root" GET "$items/widgets/w1"
}

# ---- watches ----

count() { [ "$(wc -l <"$1")" -ge "$2" ] || { cat "$1"; return 1; }; }

# watched: each write of status is one event, a write of nothing is none.
watched() {
    version=$(compact "$root" "$items/widgets" | grep -o '"resourceVersion":"[0-9]*"' | head -n 1 |
        cut -d '"' -f 4)
    watch events -H "Authorization: Bearer $root" \
        "$https$items/widgets?watch=1&resourceVersion=$version"
    for note in one two two two three; do
        says 200 "\"note\":\"$note\"" "$controller" PATCH "$items/widgets/w1/status" \
            "{\"status\":{\"note\":\"$note\"}}" || return 1
    done
    says 201 end "$root" POST "$items/widgets" "$(object Widget end '{}')" || return 1
    until_true count events 4 || return 1
    kill "$stream"
    grep -o '"type":"[A-Z]*"\|"note":"[a-z]*"' events | tr '\n' ' ' >seen
    wanted=
    for note in one two three; do
        wanted="$wanted\"type\":\"MODIFIED\" \"note\":\"$note\" "
    done
    [ "$(cat seen)" = "$wanted\"type\":\"ADDED\" " ] && return 0
    cat seen
    return 1
}

# conflict: the same answer twice, and it names the version that the object has.
conflict() {
    current=$(field "$items/widgets/w1" resourceVersion)
    stale='{"metadata":{"resourceVersion":"1"},"status":{"note":"late"}}'
    want="{\"reason\":\"CurrentResourceVersion\",\"message\":\"$current\""
    says 409 "$want" "$controller" PATCH "$items/widgets/w1/status" "$stale" || return 1
    cp says.out first.out
    says 409 "$want" "$controller" PATCH "$items/widgets/w1/status" "$stale" || return 1
    cmp first.out says.out
}

# ---- a strict kind ----

strict() {
    tap "a strict kind" makes Strict stricts \
        '"vedette.dev/status-boundary":"strict","vedette.dev/status-precondition":"required"'
    says 201 s1 "$root" POST "$items/stricts" "$(object Strict s1 '{"color":"red"}')"
    version=$(field "$items/stricts/s1" resourceVersion)
    tap "no version is 428" says 428 '"reason":"PreconditionRequired"' "$root" PATCH \
        "$items/stricts/s1/status" '{"status":{"note":"a"}}'
    tap "a touched spec is 422" says 422 '"field":"spec.color"' "$root" PATCH \
        "$items/stricts/s1/status" \
        "{\"metadata\":{\"resourceVersion\":\"$version\"},\"spec\":{\"color\":\"blue\"}}"
    tap "a stale version is 409" says 409 '"reason":"CurrentResourceVersion"' "$root" PATCH \
        "$items/stricts/s1/status" '{"metadata":{"resourceVersion":"1"},"status":{"note":"a"}}'
    tap "the right one is 200" says 200 '"note":"a"' "$root" PUT "$items/stricts/s1/status" \
        "{\"metadata\":{\"name\":\"s1\",\"resourceVersion\":\"$version\"},
        \"status\":{\"note\":\"a\"}}"
    version=$(field "$items/stricts/s1" resourceVersion)
    tap "a bad condition is 422" says 422 \
        'status.conditions[0].observedGeneration: Invalid value: 9: must not be above' "$root" \
        PATCH "$items/stricts/s1/status" "{\"metadata\":{\"resourceVersion\":\"$version\"},
        \"status\":{\"conditions\":[{\"type\":\"A\",\"status\":\"True\",
        \"observedGeneration\":9}]}}"
}

# ---- Git ----

# manifest COLLECTION/NAME: the file that the object is from.
manifest() { echo "work/${1%/*}-${1#*/}.json"; }

# pushes: what the folder work has, to the repository catalog.
pushes() { push_folder work "$(echo "$https" | sed "s|//|//x:$root@|")/default/catalog.git"; }

# brings: a kind that Git owns, two objects of it, and one of another kind.
brings() {
    mkdir work
    object Product p1 '{"color":"red"}' >"$(manifest products/p1)"
    object Product p2 '{"color":"red"}' >"$(manifest products/p2)"
    object Widget g1 '{"color":"red","replicas":1}' >"$(manifest widgets/g1)"
    says 201 catalog "$root" POST /apis/git.vedette.dev/v1/namespaces/default/repositories \
        '{"apiVersion":"git.vedette.dev/v1","kind":"Repository","metadata":{"name":"catalog"}}' &&
        until_true pushes
}

changes() {
    object Product p1 '{"color":"blue"}' >"$(manifest products/p1)"
    object Widget g1 '{"color":"blue","replicas":1}' >"$(manifest widgets/g1)"
    pushes
}

deletes() { rm "$(manifest products/p1)" "$(manifest widgets/g1)" && pushes; }

owned() {
    mark='"vedette.dev/git-repository":"shop/catalog","vedette.dev/git-path":"w/g1",
        "vedette.dev/git-commit":"4f1c2e9"'
    tap "a kind that Git owns" makes Product products '"vedette.dev/spec-owner":"git"'
    tap "nobody creates one" says 403 '"reason":"SpecOwnedByGit"' "$root" POST "$items/products" \
        "$(object Product p1 '{"color":"red"}')"
    tap "nobody else marks an object" says 403 SpecOwnedByGit "$root" PATCH "$items/widgets/w1" \
        "{\"metadata\":{\"annotations\":{$mark}}}"
    tap "a push does both" brings
    commit=$(pushed_commit work)
    for path in products/p1 widgets/g1; do
        told='its spec belongs to Git: repository default/catalog, branch main'
        told="$told, path $(basename "$(manifest $path)"), commit $commit"
        while read -r method sub body; do
            tap "$path: $method $sub $body" says 403 "$told" "$root" "$method" "$items/$path$sub" \
                "$body"
        done <<WRITES
PATCH ? {"spec":{"color":"blue"}}
PATCH ? {"metadata":{"labels":{"a":"b"}}}
PATCH ? {"metadata":{"annotations":{"a":"b"}}}
PATCH ? {"metadata":{"annotations":null}}
PATCH ?dryRun=All {"spec":{"color":"blue"}}
PATCH /scale {"spec":{"replicas":5}}
JSONPATCH ? [{"op":"remove","path":"/spec"}]
DELETE ? {}
DELETE ?propagationPolicy=Foreground {}
WRITES
        tap "$path: status is free" says 200 '"note":"s"' "$root" PATCH "$items/$path/status" \
            '{"status":{"note":"s"}}'
        tap "$path: so are finalizers" says 200 e.x/f "$root" PATCH "$items/$path" \
            '{"metadata":{"finalizers":["e.x/f"]}}'
    done
    tap "a push writes spec" changes
    for path in products/p1 widgets/g1; do
        tap "$path: spec is Git's" says 200 '"color":"blue"' "$root" GET "$items/$path"
        tap "$path: status is as it was" grep -q '"note":"s"' says.out
    done
    tap "a push deletes" deletes
    for path in products/p1 widgets/g1; do
        tap "$path: its finalizer keeps it" says 200 deletionTimestamp "$root" GET "$items/$path"
        tap "$path: the finalizer's owner lets it go" says 200 '"kind"' "$root" PATCH \
            "$items/$path" '{"metadata":{"finalizers":null}}'
        tap "$path: it is gone" says 404 NotFound "$root" GET "$items/$path"
    done
    tap "nobody speaks for the pipeline" complains '"reason":"SpecOwnedByGit"' compact "$root" \
        "$items/products/p2" -X PATCH -H 'Content-Type: application/merge-patch+json' \
        -H 'Impersonate-User: root' -H 'Impersonate-Group: system:masters' \
        -H 'Impersonate-Group: system:vedette:git' -d '{"spec":{"color":"blue"}}'
    tap "deletecollection" says 403 'its spec belongs to Git' "$root" DELETE "$items/products"
}

tap "a server starts" start
root=$(token root system:masters)
controller=$(token controller nobody)
author=$(token author nobody)
scaler=$(token scaler nobody)
until_true says 200 '"items"' "$root" GET /api/v1/namespaces
tap "a kind" makes Widget widgets ''
tap "an object, whose status is dropped" says 201 w1 "$root" POST "$items/widgets" \
    "$(object Widget w1 '{"color":"red","replicas":1},"status":{"note":"of the author"}')"
tap "so it has none" silent grep -o '"note"' says.out
rights
tap "watchers see each write once" watched
tap "a conflict is the same each time" conflict
strict
if command -v git >/dev/null; then owned; fi
tap "the server stops" stop
tap_end
