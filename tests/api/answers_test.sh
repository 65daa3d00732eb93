#!/bin/sh
# What Kubernetes answers where a client asks for what is not there, or in a form that there is not.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"

crds=/apis/apiextensions.k8s.io/v1/customresourcedefinitions
widgets=/apis/example.com/v1/namespaces/default/widgets
maps=/api/v1/namespaces/default/configmaps
no_resource='"message":"the server could not find the requested resource","reason":"NotFound",'
no_resource="$no_resource"'"details":{},"code":404'
no_path='404 page not found'

# widget_kind: a kind with both subresources, a selectable field, and one whose root keeps what it
# does not know.
widget_kind() {
    post "$crds" CustomResourceDefinition '"metadata":{"name":"widgets.example.com"},"spec":{
        "group":"example.com","scope":"Namespaced",
        "names":{"plural":"widgets","singular":"widget","kind":"Widget"},
        "versions":[{"name":"v1","served":true,"storage":true,
            "subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas",
                "statusReplicasPath":".status.replicas"}},
            "selectableFields":[{"jsonPath":".spec.color"}],
            "schema":{"openAPIV3Schema":{"type":"object","description":"A widget.","properties":{
                "spec":{"type":"object","properties":{"replicas":{"type":"integer"},
                    "color":{"type":"string"}}},
                "status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}}}]}' &&
        post "$crds" CustomResourceDefinition '"metadata":{"name":"bags.example.com"},"spec":{
        "group":"example.com","scope":"Cluster",
        "names":{"plural":"bags","singular":"bag","kind":"Bag"},
        "versions":[{"name":"v1","served":true,"storage":true,
            "schema":{"openAPIV3Schema":{"type":"object","description":"A bag.",
                "x-kubernetes-preserve-unknown-fields":true,"properties":{
                "spec":{"type":"object"}}}}}]}' || return 1
    until_true served && post "$widgets" Widget '"metadata":{"name":"w"},"spec":{"replicas":3}'
}
served() { admin "$widgets" -o /dev/null -w '%{http_code}' | grep -q 200 &&
    admin /apis/example.com/v1/bags -o /dev/null -w '%{http_code}' | grep -q 200; }

# upgrades PATH ARGUMENT...: the answer to a client that wants a WebSocket.
upgrades() {
    upgrades_path=$1
    shift
    said 400 'does not speak WebSocket' "$upgrades_path" --http1.1 \
        -H 'Connection: keep-alive, Upgrade' -H 'Upgrade: WebSocket' \
        -H 'Sec-WebSocket-Version: 13' \
        -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' "$@" &&
        grep -q '"kind":"Status".*"reason":"BadRequest"' said.body
}

# has TEXT PATH ARGUMENT...: 200, and the text.
has() { said 200 "$@"; }

# headed TEXT PATH ARGUMENT...: 200, and the head has the line.
headed() {
    headed_text=$1
    shift
    said 200 '' "$@" && tr -d '\r' <said.head | grep -q -i -x -F -e "$headed_text" && return 0
    cat said.head
    return 1
}

# token TEXT: a continue token with this start.
token() {
    printf '{"v":"meta.k8s.io/v1","rv":-1,"start":"%s"}' "$1" | base64 -w 0 | tr '/+' '_-' |
        tr -d =
}

# impossible START PATH: a page from there on is refused.
impossible() { said 400 'invalid continue token' "$2?limit=1&continue=$(token "$1")"; }

tap "a server" start
tap "with kinds of its own" widget_kind

for path in /api/v1/zebras /api/v1/namespaces/default/zebras/z /api/v1/configmaps/a \
    /apis/rbac.authorization.k8s.io/v1/zebras "$maps/kube-root-ca.crt/zebra"; do
    tap "$path is a Status" said 404 "$no_resource" "$path"
done
tap "a subresource that a definition does not have is a Status" said 404 \
    '"message":"widgets.example.com \"w\" not found"' "$widgets/w/zebra"
for path in /apis/example.com/v1/zebras /apis/zebra.io/v1/zebras /zebra \
    /apis/rbac.authorization.k8s.io/v9/roles; do
    tap "$path is nobody's" said 404 "$no_path" "$path"
done
tap "POST to all namespaces" said 404 "$no_path" /apis/example.com/v1/widgets -d '{}' \
    -H 'Content-Type: application/json'
tap "DELETE of all namespaces" said 404 "$no_path" /apis/example.com/v1/widgets -X DELETE
tap "which of a kind of Kubernetes' own is a path without that method" said 405 MethodNotAllowed \
    /api/v1/configmaps -X DELETE
tap "LIST of all namespaces is there" has '"name":"w"' /apis/example.com/v1/widgets

table='Accept: application/json;as=Table;v=v1;g=meta.k8s.io'
tap "a Scale as a Table" has '"rows":[{"cells":["w",3,0],' "$widgets/w/scale" -H "$table"
tap "its columns" has '{"name":"Desired","type":"integer"' "$widgets/w/scale" -H "$table"
tap "its row has the Scale's metadata" has '"kind":"PartialObjectMetadata"' "$widgets/w/scale" \
    -H "$table"
tap "a Scale that was patched, as a Table" has '"cells":["w",4,0]' "$widgets/w/scale" -H "$table" \
    -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"spec":{"replicas":4}}'

for path in /api /apis /api/v1 /apis/example.com /apis/example.com/v1 "$maps" \
    "$maps/kube-root-ca.crt"; do
    tap "$path in a form of nobody" said 406 NotAcceptable "$path" \
        -H 'Accept: application/json;as=Zebra;v=v1;g=meta.k8s.io'
    tap "$path, or as it is" has '"kind":"' "$path" \
        -H 'Accept: application/json;as=Zebra;v=v1;g=meta.k8s.io, application/json'
done
for path in /api /apis /api/v1 /apis/example.com /apis/example.com/v1; do
    tap "$path as YAML" has 'kind: API' "$path" -H 'Accept: application/yaml'
    tap "$path as YAML, its type" headed 'Content-Type: application/yaml' "$path" \
        -H 'Accept: application/yaml'
    tap "$path for a client of protobuf" headed 'Content-Type: application/json' "$path" \
        -H 'Accept: application/vnd.kubernetes.protobuf'
done
for path in /api /apis /api/v1 /apis/example.com/v1 /openapi/v2 /openapi/v3 \
    /openapi/v3/apis/example.com/v1 /version "$maps" "$maps?watch=1&timeoutSeconds=1"; do
    tap "$path is not kept by caches" headed 'Cache-Control: no-cache, private' "$path"
done

tap "export" said 400 'the export parameter, deprecated since v1.14, is no longer supported' \
    "$maps/kube-root-ca.crt?export=true"
tap "no export" has '"kind":"ConfigMap"' "$maps/kube-root-ca.crt?export=false"

tap "subresources of a definition" has '"name":"widgets/status"' /apis/example.com/v1
tap "status comes first" has '"subresources":[{"subresource":"status"' /apis \
    -H 'Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
tap "those of Kubernetes' own kinds go by their names" \
    has '"name":"namespaces/finalize"' /api/v1

for start in ../a default a//b default/.. ./a default/a/b /a default/ kube-system/a; do
    tap "a page cannot start behind $start" impossible "$start" "$maps"
done
tap "nor behind an object of a namespace where there is none" impossible default/a \
    /api/v1/namespaces
tap "one that can" has '"items":[' "$maps?limit=1&continue=$(token default/a)"
tap "of all namespaces, too" has '"items":[' "/api/v1/configmaps?limit=1&continue=$(token zz/a)"
tap "and of those without one" has '"items":[' "/api/v1/namespaces?limit=1&continue=$(token /a)"

# of_swagger PYTHON: true of the OpenAPI document `d`, version 2.
of_swagger() { admin /openapi/v2 -o swagger.json && python3 -c "
import json
d = json.load(open('swagger.json'))
schemas = d['definitions']
widget, bag = schemas['com.example.v1.Widget'], schemas['com.example.v1.Bag']
assert ($1)
"; }
# of_v3 PYTHON: true of `d`, that of version 3 for example.com/v1.
of_v3() { admin /openapi/v3/apis/example.com/v1 -o v3.json && python3 -c "
import json
schemas = json.load(open('v3.json'))['components']['schemas']
widget, bag = schemas['com.example.v1.Widget'], schemas['com.example.v1.Bag']
assert ($1)
"; }
# watches_by_document: each watch that the document has for ConfigMaps and namespaces is served.
watches_by_document() {
    of_swagger "[print(p) for p in d['paths'] if '/api/v1/watch/' in p
        and ('configmaps' in p or 'watch/namespaces' in p and 'space}' not in p)] and True" |
        sed -e 's/{namespace}/default/' -e 's|maps/{name}|maps/kube-root-ca.crt|' \
            -e 's/{name}/default/' >paths
    [ "$(wc -l <paths)" -eq 5 ] || { cat paths; return 1; }
    watches_pids=
    while read -r watches_path; do # at the same time, because each of them lasts a second
        admin "$watches_path?timeoutSeconds=1" -o "watched$(echo "$watches_path" | tr / .)" &
        watches_pids="$watches_pids $!"
    done <paths
    # shellcheck disable=SC2086 # a list of processes
    wait $watches_pids
    [ "$(grep -l '"type":"ADDED"' watched.* | wc -l)" -eq 5 ] || { cat watched.*; return 1; }
}
tap "OpenAPI has the old watches, which are served" watches_by_document
tap "a watch of a list, its operation" of_swagger \
    "(lambda o: (o['operationId'], o['x-kubernetes-action'], o['responses']['200']['schema']))(
    d['paths']['/api/v1/watch/namespaces/{namespace}/configmaps']['get']) ==
    ('watchCoreV1NamespacedConfigMapList', 'watchlist',
    {'\$ref': '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent'})"
tap "of an object" of_swagger "(lambda o: (o['operationId'], o['x-kubernetes-action']))(
    d['paths']['/api/v1/watch/namespaces/{namespace}/configmaps/{name}']['get']) ==
    ('watchCoreV1NamespacedConfigMap', 'watch')"
tap "of all namespaces" of_swagger "d['paths']['/api/v1/watch/configmaps']['get']['operationId'] ==
    'watchCoreV1ConfigMapListForAllNamespaces'"
tap "every operation has an id of its own" of_swagger "(lambda ids: len(ids) == len(set(ids)))(
    [o['operationId'] for p in d['paths'].values() for m, o in p.items() if m != 'parameters'])"
tap "definitions have none, as in Kubernetes" of_swagger \
    "not [p for p in d['paths'] if 'watch' in p and 'example.com' in p]"
tap "what keeps unknown fields is a bare object" of_swagger \
    "sorted(bag) == ['type', 'x-kubernetes-group-version-kind'] and bag['type'] == 'object'"
tap "in version 3 it is whole" of_v3 \
    "bag['description'] == 'A bag.' and 'spec' in bag['properties']"
for of in of_swagger of_v3; do
    tap "$of: selectable fields" $of \
        "widget['x-kubernetes-selectable-fields'] == [{'fieldPath': 'spec.color'}]"
    tap "$of: apiVersion" $of "widget['properties']['apiVersion']['description'].startswith(
        'APIVersion defines the versioned schema of this representation of an object. ')"
    tap "$of: kind" $of "widget['properties']['kind']['description'].endswith(
        'api-conventions.md#types-kinds')"
    tap "$of: metadata" $of "widget['properties']['metadata']['description'] ==
        'Standard object\\'s metadata. More info: https://git.k8s.io/community/contributors/devel/'
        'sig-architecture/api-conventions.md#metadata'"
done

for path in "$maps?watch=1" /api/v1/watch/configmaps "$maps" /healthz /zebra; do
    tap "a WebSocket at $path" upgrades "$path"
done
tap "another protocol is not taken up" has '"kind":"' "$maps" --http1.1 -H 'Connection: Upgrade' \
    -H 'Upgrade: zebra/1.0'
tap "the server ends" stop
tap_end
