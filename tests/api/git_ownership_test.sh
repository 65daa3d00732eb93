#!/bin/sh
# What Git owns, over the real server: every way to write it, by users with and without the verb
# override, for a kind that Git owns and for a marked object of another kind; and repositories,
# which stay while they own objects.
set -u
build=${1:?usage: git_ownership_test.sh BUILD_DIR}
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
# shellcheck source=tests/support/push.sh
. "$top/tests/support/push.sh"
for tool in git jq openssl; do
    command -v $tool >/dev/null && continue
    echo "ok 1 # SKIP no $tool here"
    echo "1..1"
    exit 0
done

# token USER GROUPS
token() {
    "$vedette" token create --data data --user "$1" --groups "$2" | grep -o 'vd_[^ ]*'
}

# says CODE TEXT TOKEN METHOD PATH [BODY]: the answer has the code and the text.
says() {
    says_code=$1 says_text=$2 says_token=$3 says_method=$4 says_path=$5
    case $says_method in
    PATCH) says_type=application/merge-patch+json ;;
    JSONPATCH) says_method=PATCH says_type=application/json-patch+json ;;
    APPLY) says_method=PATCH says_type=application/apply-patch+yaml ;;
    *) says_type=application/json ;;
    esac
    as "$says_token" "$says_path" -A test -X "$says_method" -H "Content-Type: $says_type" \
        -d "${6:-}" -o says.out -w '%{http_code}' >says.code
    [ "$(cat says.code)" = "$says_code" ] && grep -q -F -e "$says_text" says.out && return 0
    echo "wanted $says_code with: $says_text; got $(cat says.code):"
    cat says.out
    return 1
}

# pushes FOLDER NAMESPACE: to the repository catalog.
pushes() { push_folder "$1" "$(echo "$https" | sed "s|//|//x:$root@|")/$2/catalog.git"; }

# version PATH: the resourceVersion.
version() { as "$root" "$1" | jq -r .metadata.resourceVersion; }

catalog=/apis/catalog.gitstore.dev/v1beta1/namespaces/shop
maps=/api/v1/namespaces/shop/configmaps
repositories=/apis/git.vedette.dev/v1/namespaces/shop/repositories
mark='"vedette.dev/git-repository":"shop/catalog","vedette.dev/git-branch":"main",
    "vedette.dev/git-path":"lamp.md","vedette.dev/git-commit":"4f1c2e9"'
why='"vedette.dev/override":"the shop is on fire"'

# product NAME ANNOTATIONS TITLE
product() {
    echo "{\"apiVersion\":\"catalog.gitstore.dev/v1beta1\",\"kind\":\"Product\",
        \"metadata\":{\"name\":\"$1\",\"annotations\":{$2}},\"spec\":{\"title\":\"$3\"}}"
}

# map NAME ANNOTATIONS VALUE
map() {
    echo "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",
        \"metadata\":{\"name\":\"$1\",\"annotations\":{$2}},\"data\":{\"a\":\"$3\"}}"
}

# ---- without the annotation, and with it but without the verb ----

# refused PATH CHANGE NOTE: nobody changes the object with the merge patch CHANGE.
refused() {
    for user in "$root" "$editor"; do
        tap "$3: patch" says 403 "$owned" "$user" PATCH "$1" "{$2}"
        tap "$3: dry run" says 403 "$owned" "$user" PATCH "$1?dryRun=All" "{$2}"
        tap "$3: labels" says 403 "$owned" "$user" PATCH "$1" '{"metadata":{"labels":{"a":"b"}}}'
        tap "$3: the mark" says 403 "$owned" "$user" PATCH "$1" \
            '{"metadata":{"annotations":{"vedette.dev/git-commit":"0"}}}'
        tap "$3: no mark" says 403 "$owned" "$user" PATCH "$1" '{"metadata":{"annotations":null}}'
        tap "$3: delete" says 403 "$owned" "$user" DELETE "$1"
        tap "$3: delete, foreground" says 403 "$owned" "$user" DELETE \
            "$1?propagationPolicy=Foreground"
        tap "$3: deletecollection" says 403 "$owned" "$user" DELETE "${1%/*}"
    done
    tap "$3: a token of system:vedette:git" says 403 "$owned" "$grouped" PATCH "$1" "{$2}"
    tap "$3: nor deletes it" says 403 "$owned" "$grouped" DELETE "$1"
    tap "$3: a certificate with O=system:vedette:git" certificate_refused "$1" "{$2}"
    tap "$3: who may override is told how" says 403 \
        'in an emergency, set the annotation vedette.dev/override to the reason' "$root" PATCH \
        "$1" "{$2}"
    tap "$3: who may not is told nothing of it" says 403 "push to change it\"" "$editor" PATCH \
        "$1" "{$2}"
    tap "$3: the annotation without the verb" says 403 \
        'the annotation vedette.dev/override needs the verb override on' "$editor" PATCH "$1" \
        "{\"metadata\":{\"annotations\":{$why}},$2}"
    tap "$3: an empty reason is none" says 403 "$owned" "$root" PATCH "$1" \
        "{\"metadata\":{\"annotations\":{\"vedette.dev/override\":\"\"}},$2}"
    tap "$3: an override leaves the mark alone" says 403 \
        'an override cannot change the annotations vedette.dev/git-*' "$root" PATCH "$1" \
        "{\"metadata\":{\"annotations\":{$why,\"vedette.dev/git-path\":\"b\"}},$2}"
    tap "$3: nor takes it off" says 403 'an override cannot change the annotations' "$root" \
        JSONPATCH "$1" '[{"op":"replace","path":"/metadata/annotations",
        "value":{"vedette.dev/override":"x"}}]'
    tap "$3: finalizers are free" says 200 e.x/f "$editor" PATCH "$1" \
        '{"metadata":{"finalizers":["e.x/f"]}}'
    tap "$3: and off again" says 200 '"kind"' "$editor" PATCH "$1" \
        '{"metadata":{"finalizers":null}}'
}

# certificate: pipe.crt and pipe.key, of a member of the groups system:masters and
# system:vedette:git, by the server's own CA.
certificate() {
    {
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout pipe.key \
            -out pipe.csr -subj /O=system:masters/O=system:vedette:git/CN=system:vedette:git &&
            openssl x509 -req -in pipe.csr -CA data/pki/ca.crt -CAkey data/pki/ca.key \
                -CAcreateserial -days 2 -out pipe.crt
    } >openssl.out 2>&1 || { cat openssl.out; return 1; }
}

# certificate_refused PATH CHANGE
certificate_refused() {
    ask "$1" -A test -X PATCH -H 'Content-Type: application/merge-patch+json' -d "$2" \
        --cert pipe.crt --key pipe.key -o certificate.out && cat certificate.out &&
        jq -e --arg text "$owned" '.code == 403 and .reason == "SpecOwnedByGit" and
            (.message | contains($text))' certificate.out
}

# event NAME TEXT: somebody has overridden the object, and the Event says so.
event() {
    as "$root" "/api/v1/namespaces/shop/events?fieldSelector=involvedObject.name=$1" |
        jq -e --arg text "$2" '.items[] | select(.reason == "SpecOverridden" and
            .type == "Warning" and .source.component == "vedette" and
            .metadata.annotations["vedette.dev/override-user"] == "fixer" and
            (.message | contains($text)))' >event.out && return 0
    as "$root" "/api/v1/namespaces/shop/events"
    return 1
}

no_event() {
    as "$root" "/api/v1/namespaces/shop/events?fieldSelector=involvedObject.name=$1" |
        jq -e '.items == []'
}

audited() { grep -F '"vedette.dev/override":"the shop is on fire"' audit.log | grep -q -F "$1"; }

# overridden PATH CHANGE RESULT NAME: every way, by who has the verb.
overridden() {
    before=$(version "$1")
    tap "$4: a dry run writes nothing" says 200 "$3" "$fixer" PATCH "$1?dryRun=All" \
        "{\"metadata\":{\"annotations\":{$why}},$2}"
    tap "$4: nothing is written" [ "$(version "$1")" = "$before" ]
    tap "$4: patch" says 200 "$3" "$fixer" PATCH "$1" \
        "{\"metadata\":{\"annotations\":{$why}},$2}"
    tap "$4: the answer has the version that is stored" \
        [ "$(jq -r .metadata.resourceVersion says.out)" = "$(version "$1")" ]
    tap "$4: an Event says who and why" event "$4" \
        "Changed by fixer, though Git owns it: the shop is on fire"
    tap "$4: the Event and the change are one commit" [ \
        "$(jq -r .metadata.resourceVersion event.out)" = $(($(version "$1") - 1)) ]
    tap "$4: the audit log says so" until_true audited "\"name\":\"$4\""
    tap "$4: the annotation stays" says 200 'the shop is on fire' "$root" GET "$1"
    tap "$4: nobody takes it off" says 403 "$owned" "$fixer" PATCH "$1" \
        '{"metadata":{"annotations":{"vedette.dev/override":null}}}'
    tap "$4: json patch" says 200 '"x":"y"' "$fixer" JSONPATCH "$1" \
        '[{"op":"add","path":"/metadata/labels","value":{"x":"y"}}]'
    as "$root" "$1" | jq -c '.metadata.labels = {"put": "yes"}' >put.json
    tap "$4: put" says 200 '"put":"yes"' "$fixer" PUT "$1" "$(cat put.json)"
    tap "$4: put, by who may not" says 403 "$owned" "$editor" PUT "$1" \
        "$(as "$root" "$1" | jq -c '.metadata.labels = {"put": "no"}')"
    tap "$4: apply" says 200 '"applied":"yes"' "$fixer" APPLY "$1?fieldManager=me&force=true" \
        "$(jq -c "{apiVersion, kind, metadata: {name: .metadata.name, labels: {applied: \"yes\"},
            annotations: {\"vedette.dev/override\": \"again\"}}}" put.json)"
    tap "$4: the reason of the last one" event "$4" 'though Git owns it: again'
    tap "$4: deletecollection overrides nothing" says 403 \
        'an override is of one object by its name' "$fixer" DELETE "${1%/*}"
    tap "$4: delete, by who may not" says 403 "$owned" "$editor" DELETE "$1"
    tap "$4: delete" says 200 '"kind"' "$fixer" DELETE "$1"
    tap "$4: it is gone" says 404 NotFound "$root" GET "$1"
    tap "$4: the Event of it" event "$4" 'Deleted by fixer, though Git owns it: again'
}

# ---- a kind that Git owns ----

kinds() {
    none='the spec of this kind belongs to Git: create a Repository (git.vedette.dev/v1) in its'
    tap "create: there is no repository" says 403 "$none namespace, and push it there" \
        "$editor" POST "$catalog/products" "$(product new '' T)"
    post "$repositories" Repository '"metadata":{"name":"catalog"},
        "spec":{"scope":{"clusterScoped":["widgets.example.com"]}}' || return 1
    tap "create: there is one" says 403 'push it to the repository of its namespace: catalog' \
        "$editor" POST "$catalog/products" "$(product new '' T)"
    post "$repositories" Repository '"metadata":{"name":"second"}' || return 1
    tap "create: there are two" says 403 \
        'push it to one of the repositories of its namespace: catalog, second' \
        "$editor" POST "$catalog/products" "$(product new '' T)"
    tap "create: who may not list them is not told" says 403 \
        'push it to a repository of its namespace' "$stranger" POST "$catalog/products" \
        "$(product new '' T)"
    tap "apply creates nothing" says 403 'belongs to Git' "$root" APPLY \
        "$catalog/products/new?fieldManager=me" "$(product new '' T)"
    tap "create with the annotation, without the verb" says 403 \
        'needs the verb override on products.catalog.gitstore.dev' \
        "$editor" POST "$catalog/products" "$(product new "$why" T)"
    tap "create with both" says 201 new "$fixer" POST "$catalog/products" "$(product new "$why" T)"
    tap "an Event says so" event new 'Created by fixer'
    tap "no override makes a mark" says 403 'an override cannot change the annotations' "$fixer" \
        POST "$catalog/products" "$(product forged "$why,$mark" T)"
    tap "a push brings products, a map and a widget" until_true brings
    owned='its spec belongs to Git: repository shop/catalog, branch main, path lamp.yaml, commit'
    owned="$owned $(pushed_commit work): push to change it"
    refused "$catalog/products/lamp" '"spec":{"title":"Dark"}' product
    tap "status needs the version" says 428 resourceVersion "$editor" PATCH \
        "$catalog/products/lamp/status" '{"status":{"observedGeneration":1}}'
    tap "status is free" says 200 '"observedGeneration":1' "$editor" PATCH \
        "$catalog/products/lamp/status" "{\"metadata\":{\"resourceVersion\":\"$(version \
            "$catalog/products/lamp")\"},\"status\":{\"observedGeneration\":1}}"
    overridden "$catalog/products/lamp" '"spec":{"title":"Dark"}' '"title":"Dark"' lamp
    tap "an override" says 200 Dark "$fixer" PATCH "$catalog/products/table" \
        "{\"metadata\":{\"annotations\":{$why}},\"spec\":{\"title\":\"Dark\"}}"
    tap "a push takes the annotation off" pushes_again
    tap "and the spec is Git's as before" says 403 'belongs to Git' "$fixer" PATCH \
        "$catalog/products/table" '{"spec":{"title":"Dark"}}'
}

# manifests: lamp.yaml describes all objects but one.
manifests() {
    product lamp '' Lamp
    echo ---
    map lamp-map '' 1
    echo ---
    echo '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"gear"},
        "spec":{"replicas":1}}'
}

brings() {
    mkdir -p work && manifests >work/lamp.yaml && product table '' Table >work/table.yaml &&
        pushes work shop
}

pushes_again() {
    product table '' "New table" >work/table.yaml && pushes work shop &&
        as "$root" "$catalog/products/table" | jq -e '.spec.title == "New table" and
            (.metadata.annotations | has("vedette.dev/override") | not)'
}

# ---- marked objects of other kinds ----

objects() {
    tap "nobody marks an object" says 403 SpecOwnedByGit "$root" POST "$maps" \
        "$(map lamp-map "$mark" 1)"
    tap "not by an override either" says 403 'an override cannot change the annotations' "$root" \
        POST "$maps" "$(map lamp-map "$why,$mark" 1)"
    tap "a neighbour is free" says 201 free "$editor" POST "$maps" "$(map free "$why" 1)"
    tap "and makes no Event" no_event free
    tap "the neighbour goes" says 200 free "$editor" DELETE "$maps/free"
    refused "$maps/lamp-map" '"data":{"a":"2"}' map
    overridden "$maps/lamp-map" '"data":{"a":"2"}' '"a":"2"' lamp-map
    widgets=/apis/example.com/v1/widgets
    tap "scale" says 403 "$owned" "$root" PATCH "$widgets/gear/scale" '{"spec":{"replicas":5}}'
    tap "scale, once its object is overridden" says 200 gear "$fixer" PATCH "$widgets/gear" \
        "{\"metadata\":{\"annotations\":{$why}}}"
    tap "scale, then" says 200 '"replicas":5' "$fixer" PATCH "$widgets/gear/scale" \
        '{"spec":{"replicas":5}}'
    tap "the Event of what has no namespace is in default" finds_default
}

finds_default() {
    as "$root" "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=gear" |
        grep -q SpecOverridden
}

# ---- repositories ----

# push_maps NUMBER: so many ConfigMaps are pushed to the repository catalog of depot.
push_maps() {
    mkdir -p maps && for name in $(seq "$1"); do
        map "map-$name" '' 1 >"maps/$name.json"
    done
    pushes maps depot
}

repositories() {
    repositories=/apis/git.vedette.dev/v1/namespaces/depot/repositories
    post /api/v1/namespaces Namespace '"metadata":{"name":"depot"}' &&
        post $repositories Repository '"metadata":{"name":"catalog"}' &&
        post $repositories Repository '"metadata":{"name":"second"}' || return 1
    tap "a repository has its finalizer" says 200 '"finalizers":["git.vedette.dev/repository"]' \
        "$root" GET "$repositories/catalog"
    tap "it owns objects" until_true push_maps 12
    refusal='repository \"catalog\" owns 12 resources and cannot be deleted: set'
    refusal="$refusal spec.deletionPolicy to Cascade, or push a commit that removes them"
    tap "it stays" says 409 "$refusal" "$root" DELETE "$repositories/catalog"
    tap "also in a trial" says 409 "$refusal" "$root" DELETE "$repositories/catalog?dryRun=All"
    tap "also with all others" says 409 "$refusal" "$root" DELETE "$repositories"
    tap "another one owns nothing" says 200 deletionTimestamp "$root" DELETE "$repositories/second"
    tap "the server lets it go" until_true says 404 NotFound "$root" GET "$repositories/second"
    tap "Cascade" says 200 Cascade "$root" PATCH "$repositories/catalog" \
        '{"spec":{"deletionPolicy":"Cascade"},"metadata":{"finalizers":null}}'
    tap "it goes, with its finalizer again" says 200 '"finalizers":["git.vedette.dev/repository"]' \
        "$root" DELETE "$repositories/catalog"
    tap "a URL" says 422 'must be a URL of http, https or ssh' "$root" POST "$repositories" \
        '{"apiVersion":"git.vedette.dev/v1","kind":"Repository","metadata":{"name":"far"},
        "spec":{"remote":{"url":"file:///etc"}}}'
}

cat >policy.yaml <<POLICY
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: Metadata
POLICY
tap "a server starts" start --audit-log audit.log --audit-policy policy.yaml
root=$(token root system:masters)
editor=$(token editor nobody)
stranger=$(token stranger nobody)
fixer=$(token fixer nobody)
grouped=$(token system:vedette:git system:masters,system:vedette:git)
until_true says 200 '"items"' "$grouped" GET /api/v1/namespaces
post /api/v1/namespaces Namespace '"metadata":{"name":"shop"}'
post /apis/rbac.authorization.k8s.io/v1/clusterroles ClusterRole '"metadata":{"name":"writer"},
    "rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["get","list","watch","create","update",
    "patch","delete","deletecollection"]}]'
post /apis/rbac.authorization.k8s.io/v1/clusterroles ClusterRole '"metadata":{"name":"overrider"},
    "rules":[{"apiGroups":["catalog.gitstore.dev"],"resources":["products"],"verbs":["override"]},
    {"apiGroups":[""],"resources":["configmaps"],"verbs":["override"]},
    {"apiGroups":["example.com"],"resources":["widgets"],"verbs":["override"]}]'
post /apis/rbac.authorization.k8s.io/v1/clusterroles ClusterRole '"metadata":{"name":"creator"},
    "rules":[{"apiGroups":["*"],"resources":["products"],"verbs":["create"]}]'
for name in stranger:creator editor:writer fixer:writer fixer:overrider; do
    post /apis/rbac.authorization.k8s.io/v1/clusterrolebindings ClusterRoleBinding \
        "\"metadata\":{\"name\":\"${name%:*}-${name#*:}\"},
        \"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",
        \"name\":\"${name#*:}\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"${name%:*}\",
        \"apiGroup\":\"rbac.authorization.k8s.io\"}]"
done
post /apis/apiextensions.k8s.io/v1/customresourcedefinitions CustomResourceDefinition \
    '"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com",
    "scope":"Cluster","names":{"kind":"Widget","plural":"widgets"},"versions":[{"name":"v1",
    "served":true,"storage":true,"subresources":{"status":{},"scale":{
    "specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
    "schema":{"openAPIV3Schema":{"type":"object",
    "x-kubernetes-preserve-unknown-fields":true,"properties":{"spec":{"type":"object",
    "properties":{"replicas":{"type":"integer"}}},"status":{"type":"object",
    "properties":{"replicas":{"type":"integer"}}}}}}}]}'
tap "a certificate" certificate
kinds
objects
repositories
tap "the server stops" stop
tap_end
