#!/bin/sh
# vedette repo with a server, the real git client and kubectl: a repository is created, cloned by
# the credential helper, shown, and takes over objects that belong to the API.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/git_shop.sh
. "$here/git_shop.sh"
command -v jq >/dev/null || skip_all "there is no jq"

tree=catalog
PATH=$(dirname "$vedette"):$PATH
GIT_CONFIG_GLOBAL=$scratch/gitconfig
export PATH GIT_CONFIG_GLOBAL
unset GIT_SSL_CAINFO GIT_SSL_CAPATH 2>/dev/null # which would win over what is configured
: >"$GIT_CONFIG_GLOBAL"

# r ARGUMENT...: vedette repo, with an end.
r() { timeout 120 vedette repo "$@"; }

# ---- create, and what it says is next ----

creates() {
    r create shop/catalog --visibility internal --kubeconfig ann.kubeconfig >created 2>&1 || {
        cat created
        return 1
    }
    grep -qx "Repository shop/catalog is ready: $https/shop/catalog.git" created
}

# What it prints is run as it stands.
clones() {
    sed -n 's/^  //p' created >commands
    grep -q 'git config --global credential' commands && grep -q sslCAInfo commands &&
        ! grep -q vd_ commands && timeout 60 sh -eux ./commands && [ -d catalog/.git ]
}

# The administrator has a certificate and no token: a kubeconfig is made first.
creates_as_admin() {
    r create shop/second >created 2>&1 || {
        cat created
        return 1
    }
    : >"$GIT_CONFIG_GLOBAL"
    sed -n 's/^  //p' created >commands
    grep -q '^vedette kubeconfig' commands && timeout 60 sh -eux ./commands && [ -d second/.git ]
}

nowhere() { GIT_CONFIG_GLOBAL=/dev/null g ls-remote "$http/shop/catalog.git"; }

shows_json() {
    r create shop/third --output json --branch trunk --deletion-policy Cascade >third.json &&
        jq -e --arg url "$https/shop/third.git" '.url == $url and
            .repository.spec.defaultBranch == "trunk" and
            .repository.spec.deletionPolicy == "Cascade"' third.json
}

# ---- pushes, and what is shown of them ----

# short COMMIT: as the tables show it.
short() { g rev-parse "$1" | cut -c 1-12; }

pushes() {
    map one >catalog/one.yaml
    change >said && map two >catalog/two.yaml && map one 2 >catalog/one.yaml && change >>said &&
        [ "$(grep -c 'admitted' said)" = 2 ] && return 0
    cat said
    return 1
}

lists() {
    r list --namespace shop >list.out && cat list.out &&
        grep -qE "^shop +catalog +main +True +True +2 +$(short HEAD) " list.out &&
        r list --output json | jq -e '[.[].metadata.name] == ["catalog", "second", "third"]'
}

shows_status() {
    head=$(g rev-parse HEAD)
    r status shop/catalog >status.out && cat status.out &&
        grep -qx "Branches:       main $head" status.out &&
        grep -qE "^Last admission: $head of branch main, by ann at 20" status.out &&
        grep -qE '^ +1 created, 1 updated, 0 deleted, 0 unchanged; resourceVersion [0-9]+\.\.' \
            status.out && grep -qx 'Resources:      2' status.out &&
        grep -q 'Ready: True' status.out &&
        r status shop/catalog --output json | jq -e '.status.resources == 2'
}

logs() {
    r log shop/catalog >log.out 2>log.err && cat log.out log.err &&
        [ "$(wc -l <log.out)" = 3 ] &&
        grep -q "^the server's history begins at resourceVersion 1\$" log.err &&
        sed -n 2p log.out | grep -qE \
            "$(short HEAD^) +main +ann +[0-9]+\.\.[0-9]+ +1 created, 0 updated" &&
        sed -n 3p log.out | grep -q "$(short HEAD)" &&
        r log shop/catalog --limit 1 --output json | jq -e '.historyBegins == "1" and
            (.admissions | length) == 1 and .admissions[0].updated == 1'
}

# ---- adoption ----

# shellcheck disable=SC2016 # the server's words
told='there is such an object already, and it belongs to the API; `vedette repo adopt` takes it'

makes_objects() {
    for name in a b c; do
        map "free-$name" | sed "s/^  name.*/&\n  labels: {team: t$name}/
            s/^  name.*/&\n  annotations: {x\/y: z}/" | k apply -f - || return 1
    done
    k apply -f - <<CRD && until_true k get notes
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: notes.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Note, plural: notes, singular: note, shortNames: [nt]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {title: {type: string}}}
          body: {type: string}
          status: {type: object, properties: {seen: {type: boolean}}}
CRD
    printf '%s\n' 'apiVersion: example.com/v1' 'kind: Note' 'metadata: {name: memo}' \
        'spec: {title: "A: title"}' 'body: "Words.\n---\nMore\n"' | k apply -f - &&
        k get --raw /apis/example.com/v1/namespaces/shop/notes/memo |
        jq -c '.status.seen = true' |
        k replace --raw /apis/example.com/v1/namespaces/shop/notes/memo/status -f -
}

refused_without() {
    map free-a 9 >catalog/free-a.yaml
    commit claim && refuses "$told" push origin main && g reset -q --hard HEAD^ &&
        is 1 field configmap free-a .data.x
}

adopts() {
    uid=$(field configmap free-a .metadata.uid)
    gives "adopted 1 object (configmaps) into shop/catalog" r adopt shop/catalog cm free-a \
        --kubeconfig ann.kubeconfig && g pull -q &&
        is "$uid 1 z shop/catalog configmaps/free-a.yaml" field configmap free-a .metadata.uid \
            .data.x '.metadata.annotations.x/y' \
            '.metadata.annotations.vedette\.dev/git-repository' \
            '.metadata.annotations.vedette\.dev/git-path' &&
        is 3 field repository catalog .status.resources &&
        ! grep -q -e uid -e last-applied -e managedFields catalog/configmaps/free-a.yaml &&
        is Ann g log -1 --format=%an
}

# By the administrator's certificate, and with another author.
adopts_by_label() {
    gives "adopted 1 object (configmaps) into shop/catalog" r adopt shop/catalog ConfigMap \
        --selector team=tb --path teams/b --author 'Bob <bob@example.com>' --message 'take b' &&
        g pull -q && [ -f catalog/teams/b/free-b.yaml ] &&
        is "Bob bob@example.com Bob take b" g log -1 '--format=%an %ae %cn %s'
}

# All others; those that have an owner already are left out.
adopts_all() {
    shows 'ConfigMap free-a is left out: a repository has it already' r adopt shop/catalog \
        configmaps --all && is shop/catalog field configmap free-c \
        '.metadata.annotations.vedette\.dev/git-repository'
}

adopts_notes() {
    shows 'adopted 1 object' r adopt shop/catalog notes.example.com memo && g pull -q || return 1
    cat >wanted.md <<NOTE
---
apiVersion: example.com/v1
kind: Note
metadata:
  name: memo
  namespace: shop
spec:
  title: 'A: title'
---
Words.
---
More
NOTE
    diff wanted.md catalog/notes/memo.md && is "true" field note memo .status.seen &&
        is 1 field note memo .metadata.generation
}

cat >editor <<'EDITOR'
#!/bin/sh
sed -i 's/^  x: .*/  x: "8"/; s/^  title: .*/  title: other/' "$1"
EDITOR
chmod +x editor

# From then on only pushes change it.
owned() {
    for object in configmap/free-a note/memo; do
        refuses 'its spec belongs to Git: repository shop/catalog, branch main' \
            env KUBE_EDITOR="$scratch/editor" timeout 60 "$kubectl" -n shop edit "$object" ||
            return 1
    done
    map free-a 7 >catalog/configmaps/free-a.yaml
    change >said && is 7 field configmap free-a .data.x
}

# An override is undone.
resets() {
    k patch configmap two --type=merge -p \
        '{"metadata":{"annotations":{"vedette.dev/override":"fire"}},"data":{"x":"9"}}' &&
        is 9 field configmap two .data.x &&
        gives 'The objects of shop/catalog are those of its commits.' r reset shop/catalog &&
        is 1 field configmap two .data.x
}

again() {
    refuses 'ConfigMap free-a belongs to repository shop/catalog already' r adopt shop/catalog cm \
        free-a && refuses 'no Secret that could be adopted' r adopt shop/catalog secrets --all &&
        refuses "the server has no resource 'wombats'" r adopt shop/catalog wombats --all &&
        refuses 'there is no ConfigMap nobody in namespace shop' r adopt shop/catalog cm nobody
}

# Who may push but not update the object does not take it.
rights() {
    k create configmap guarded --from-literal=x=1 && k create role pusher \
        --verb=get,update,list --resource=repositories.git.vedette.dev/contents \
        --resource=repositories.git.vedette.dev &&
        k create role reader --verb=get,list --resource=configmaps &&
        k create rolebinding pusher --role=pusher --user=bob &&
        k create rolebinding reader --role=reader --user=bob &&
        vedette kubeconfig --data data --user bob --output bob.kubeconfig &&
        until_true timeout 60 "$kubectl" --kubeconfig bob.kubeconfig -n shop get repositories &&
        refuses 'cannot update resource "configmaps"' r adopt shop/catalog cm guarded --kubeconfig \
            bob.kubeconfig && is '' field configmap guarded \
        '.metadata.annotations.vedette\.dev/git-repository' &&
        k create role writer --verb=update --resource=configmaps &&
        k create rolebinding writer --role=writer --user=bob &&
        until_true may_update && shows 'adopted 1 object' r adopt shop/catalog cm guarded \
        --kubeconfig bob.kubeconfig && is shop/catalog field configmap guarded \
        '.metadata.annotations.vedette\.dev/git-repository'
}
may_update() { k auth can-i update configmaps --as bob; }

nothing_left() { ! ls "$scratch"/tmp/vedette-* 2>/dev/null; }

mkdir tmp
TMPDIR=$scratch/tmp
export TMPDIR
tap "a server starts" start_server
tap "a shop" open_shop
vedette kubeconfig --data data --user ann --groups system:masters --output ann.kubeconfig
ln -s "$kubectl" kubectl # which a command that is printed calls
PATH=$scratch:$PATH
tap "create" creates
tap "create: what it says is next works" clones
tap "create: it is there" refuses 'already exists' r create shop/catalog
tap "create: no namespace" refuses 'there is no namespace nope' r create nope/catalog
tap "create: a bad branch" refuses defaultBranch r create shop/bad --branch 'a b'
tap "create by the administrator" creates_as_admin
tap "create: json" shows_json
tap "without the helper there is no password" refuses 'could not read Username' nowhere
cp ann.kubeconfig "$HOME/vedette.kubeconfig"
tap "pushes by the helper" pushes
tap "list" lists
tap "status" shows_status
tap "status: there is none" refuses 'there is no repository shop/none' r status \
    shop/none
tap "log" logs
tap "objects of the API" makes_objects
tap "without the option they are refused" refused_without
tap "adopt by name" adopts
tap "adopt by label" adopts_by_label
tap "adopt all" adopts_all
tap "adopt what has a body" adopts_notes
tap "they are Git's" owned
tap "reset" resets
tap "reset: there is none" refuses 'there is no repository shop/none' r reset shop/none
tap "what cannot be adopted" again
tap "adopting needs the right to update" rights
tap "no folder is left" nothing_left
tap_end
