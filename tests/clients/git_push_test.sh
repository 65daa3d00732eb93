#!/bin/sh
# A push with the real git client becomes changes of objects: what the pusher is told, what watchers
# see, and how versions count.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"

tree=catalog

product() {
    cat <<PRODUCT
---
apiVersion: catalog.gitstore.dev/v1beta1
kind: Product
metadata:
  name: $1
  labels: {color: ${3:-red}}
spec:
  title: $2
---
Words about it.
PRODUCT
}

first_push() {
    mkdir catalog/products
    product shoe "A shoe" >catalog/products/shoe.md
    { map one; echo ---; map two; } >catalog/maps.yaml
    commit first && push origin main >said &&
        grep -E '^remote: admitted 3 resources at resourceVersion [0-9]+\.\.[0-9]+$' said || {
        cat said
        return 1
    }
}

# The range that was told is the range of the objects.
range_is_right() {
    range=$(sed -n 's/.*resourceVersion //p' said)
    k get configmap/one configmap/two product/shoe \
        -o 'jsonpath={range .items[*]}{.metadata.resourceVersion}{"\n"}{end}' | sort -n >versions
    is "$range" echo "$(head -n 1 versions)..$(tail -n 1 versions)" &&
        is 3 sh -c 'sort -u versions | wc -l'
}

recorded() {
    head=$(g rev-parse HEAD)
    is "$head" field repository catalog '.status.lastAdmission.commit' &&
        is "3 0 0" field repository catalog \
            .status.lastAdmission.created .status.lastAdmission.updated \
            .status.lastAdmission.deleted &&
        is 3 field repository catalog .status.resources &&
        is "$(echo "$range" | sed 's/\.\./ /')" field repository catalog \
            .status.lastAdmission.firstResourceVersion .status.lastAdmission.lastResourceVersion &&
        is ann field repository catalog .status.lastAdmission.user && agree catalog main
}

annotated() {
    notes='.metadata.annotations.vedette\.dev/git-'
    is "shop/catalog main products/shoe.md $(g rev-parse HEAD)" field product shoe \
        "${notes}repository" "${notes}branch" "${notes}path" "${notes}commit" &&
        is "main@sha1:$(g rev-parse HEAD)" field product shoe .status.lastAppliedRevision
}

# A watch has printed the change when `git push` returns.
seen_before() {
    timeout 120 "$kubectl" -n shop get product shoe --watch --output-watch-events \
        -o 'jsonpath={.object.spec.title}{"\n"}' >watched 2>watched.err &
    watch=$!
    until_true grep -q 'A shoe' watched || return 1
    product shoe "A better shoe" >catalog/products/shoe.md
    change >said
    seen_status=$?
    # The bytes are on their way through kubectl's pipe: it gets a moment to print them.
    until_true grep -q 'A better shoe' watched
    seen=$?
    kill "$watch"
    wait "$watch" 2>/dev/null
    [ "$seen_status" -eq 0 ] && [ "$seen" -eq 0 ]
}

# keep: remembers uid, generation and resourceVersion of the product.
keep() {
    field product shoe .metadata.uid .metadata.generation .metadata.resourceVersion >kept
}

# counts UID GENERATION VERSION: `same` or `other`; generation and version by how much they grow,
# of which a version may say `more`.
counts() {
    read -r old_uid old_generation old_version <kept
    keep
    read -r uid generation version <kept
    [ "$uid" = "$old_uid" ] && same=same || same=other
    [ "$version" -gt "$old_version" ] && grows=more || grows=same
    is "$1 $2 $3" echo "$same $((generation - old_generation)) $grows"
}

edit_spec() {
    keep
    product shoe "Another shoe" >catalog/products/shoe.md
    change && counts same 1 more
}

edit_body() {
    keep
    echo "More words." >>catalog/products/shoe.md
    change && counts same 1 more &&
        is "Words about it.
More words." field product shoe .body
}

edit_label() {
    keep
    product shoe "Another shoe" blue >catalog/products/shoe.md
    echo "More words." >>catalog/products/shoe.md
    change && counts same 0 more && is blue field product shoe .metadata.labels.color
}

move() {
    keep
    g mv products/shoe.md products/boot.md
    change && counts same 0 more &&
        is products/boot.md field product shoe '.metadata.annotations.vedette\.dev/git-path'
}

rewrite_nothing() {
    keep
    echo "# Catalog" >catalog/README.md
    sed -i 's/title: Another shoe/title:   "Another shoe"/' catalog/products/boot.md
    change >said && grep -qx 'remote: no resources changed' said && counts same 0 same &&
        agree catalog main
}

status_stays() {
    version=$(field product shoe .metadata.resourceVersion)
    k patch product shoe --subresource=status --type=merge -p \
        "{\"metadata\":{\"resourceVersion\":\"$version\"},\"status\":{\"observedGeneration\":3}}" &&
        product shoe "Shoe with a status" blue >catalog/products/boot.md &&
        change && is 3 field product shoe .status.observedGeneration
}

delete() {
    keep
    g rm -q products/boot.md
    change >said && grep -qE '^remote: admitted 1 resource at resourceVersion [0-9]+$' said &&
        absent product shoe
}

add_again() {
    mkdir -p catalog/products
    product shoe "A new shoe" >catalog/products/boot.md
    change && is 1 field product shoe .metadata.generation &&
        ! grep -q "^$(field product shoe .metadata.uid) " kept
}

rename_in_file() {
    product sandal "A sandal" >catalog/products/boot.md
    change >said && grep -q 'admitted 2 resources' said && absent product shoe &&
        is "A sandal" field product sandal .spec.title
}

# Finalizers keep an object: it is Terminating, and its file cannot come back until it is gone.
finalizers() {
    k patch configmap one --type=merge -p '{"metadata":{"finalizers":["example.com/wait"]}}' &&
        map two >catalog/maps.yaml && change &&
        [ -n "$(field configmap one .metadata.deletionTimestamp)" ]
}

comes_back_too_early() {
    { map one; echo ---; map two; } >catalog/maps.yaml
    refuses 'maps.yaml:4:3: metadata.name: the object is being deleted and waits for its fin' \
        change
}

comes_back_later() {
    k patch configmap one --type=merge -p '{"metadata":{"finalizers":null}}' &&
        until_true absent configmap one && push origin HEAD:main
}

definition_and_objects() {
    cat >catalog/gadgets.yaml <<CRD
apiVersion: example.com/v1
kind: Gadget
metadata: {name: gear}
spec: {size: 3}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets, singular: gadget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, maximum: 5}
CRD
    k patch repository catalog --type=merge -p \
        '{"spec":{"scope":{"clusterScoped":["customresourcedefinitions.apiextensions.k8s.io"]}}}' &&
        change && is 3 field gadget gear .spec.size
}

definition_is_used() {
    sed -i 's/size: 3/size: 9/' catalog/gadgets.yaml
    refuses 'gadgets.yaml:4:8: spec.size: Invalid value: 9' change &&
        g reset -q --hard HEAD~1 && is 3 field gadget gear .spec.size
}

definition_goes() {
    g rm -q gadgets.yaml && change >said && grep -q 'admitted 2 resources' said &&
        until_true refuses 'not found' k get crd gadgets.example.com
}

# A namespace and what is in it come together, and go together.
namespace_and_objects() {
    k patch repository catalog --type=merge -p \
        '{"spec":{"scope":{"namespaces":["annex"],"clusterScoped":["namespaces"]}}}' || return 1
    {
        map inside | sed 's/^  name: inside/&\n  namespace: annex/'
        printf -- '---\napiVersion: v1\nkind: Namespace\nmetadata: {name: annex}\n'
    } >catalog/annex.yaml
    change >said && grep -q 'admitted 2 resources' said && k get -n annex configmap inside &&
        g rm -q annex.yaml && change && until_true refuses 'not found' k get namespace annex
}

json_too() {
    echo '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"json"},"data":{"a":"b"}}' \
        >catalog/one.json
    change && is b field configmap json .data.a
}

configuration() {
    printf 'exclude: [drafts/]\nlabels: {team: web}\n' >catalog/.vedette.yaml
    mkdir -p catalog/drafts && echo 'not: [yaml' >catalog/drafts/x.yaml
    change && is web field configmap json .metadata.labels.team &&
        is web field product sandal .metadata.labels.team
}

old_protocol() {
    map old >catalog/old.yaml
    commit old && g -c protocol.version=0 push origin main && is 1 field configmap old .data.x
}

push_options() {
    map options >catalog/options.yaml
    commit options && g push -o anything origin main && is 1 field configmap options .data.x
}

many() {
    mkdir -p catalog/many
    for i in $(seq 300); do map "many-$i" >"catalog/many/$i.yaml"; done
    change >said && grep -q 'admitted 300 resources' said && is 1 field configmap many-300 .data.x
}

tap "a server" start_server
tap "a namespace and a token" open_shop
tap "a repository is cloned" repository catalog ""
tap "a push is admitted" first_push
tap "its range of versions is that of its objects" range_is_right
tap "the Repository records it" recorded
tap "objects say where they are from" annotated
tap "a watch sees it" seen_before
tap "another spec: generation and version grow" edit_spec
tap "another body, too" edit_body
tap "another label: the version grows" edit_label
tap "another path: the version grows" move
tap "what changes nothing makes no event" rewrite_nothing
tap "status stays" status_stays
tap "a file that goes takes its object along" delete
tap "one that comes back is a new object" add_again
tap "another name is another object" rename_in_file
tap "finalizers keep an object" finalizers
tap "which cannot come back while it goes" comes_back_too_early
tap "and can when it is gone" comes_back_later
tap "a definition and its objects in one push" definition_and_objects
tap "objects are checked by it" definition_is_used
tap "and go in one push, too" definition_goes
tap "a namespace and its objects come and go" namespace_and_objects
tap "JSON" json_too
tap ".vedette.yaml" configuration
tap "protocol version 0" old_protocol
tap "push options" push_options
tap "300 files" many
tap_end
