#!/bin/sh
# Repository and the catalogue kinds with the kubectls of kubectls.sh: discovery, explain,
# columns, what is refused because Git owns it, and an override.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/kubectls.sh
. "$here/kubectls.sh"
# shellcheck source=tests/support/push.sh
. "$top/tests/support/push.sh"

# k ARGUMENT...: this version's kubectl, with an end.
k() { timeout 60 "$kubectl" "$@"; }

try_kinds() {
    tap "$v: products are listed" shows \
        '^products +prod +catalog.gitstore.dev/v1beta1 +true +Product$' k api-resources
    tap "$v: categories are listed" shows '^categorytaxonomies +category,categories +catalog' \
        k api-resources
    tap "$v: repositories are listed" shows \
        '^repositories +repo +git.vedette.dev/v1 +true +Repository$' k api-resources
    tap "$v: explain a repository" shows 'The time between two looks at it' \
        k explain repository.spec.remote.interval
    tap "$v: explain a product" shows 'In what its variants differ' k explain product.spec.options
    tap "$v: explain a variant" shows 'The amount as a decimal number in quotes' \
        k explain variant.spec.pricing.priceSet.prices.amount
}

try_repository() {
    tap "$v: a repository" gives "repository.git.vedette.dev/catalog created" \
        k apply -f repository.yaml
    tap "$v: apply again" gives "repository.git.vedette.dev/catalog unchanged" \
        k apply -f repository.yaml
    tap "$v: its columns" shows '^NAME +BRANCH +READY +SYNCED +RESOURCES +COMMIT +AGE$' k get repo

    tap "$v: a push" pushes
    tap "$v: its row" shows "^catalog +main +True +True +6 +$(head7)[0-9a-f]* +[0-9]+s\$" k get \
        repo catalog
    tap "$v: the wide columns" shows '^NAME +BRANCH +REMOTE +READY ' k get repo -o wide
    tap "$v: by category" shows '^catalog ' k get git
    tap "$v: it owns resources" refuses \
        'repository "catalog" owns 6 resources and cannot be deleted: set spec.deletionPolicy' \
        k delete repo catalog
    tap "$v: a bad one" refuses 'credentials do not belong into the URL' k apply -f bad.yaml
}

# pushes: two ConfigMaps, a product and what is in categories.yaml.
pushes() {
    rm -rf work && mkdir work && cp categories.yaml work && cp plain.yaml work/lamp.yaml || return 1
    for name in one two; do
        printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}\n' $name >work/$name.yaml
    done
    until_true push_folder work "$(url)"
}
url() { echo "http://x:$token@$http_door/default/catalog.git"; }
head7() { pushed_commit work | cut -c 1-7; }

try_products() {
    tap "$v: apply is refused" refuses \
        'this kind belongs to Git: push it to the repository of its namespace: catalog' \
        k apply -f other.yaml
    tap "$v: its columns" shows '^NAME +TITLE +CATEGORY +READY +AGE$' k get products
    tap "$v: its row" shows '^lamp +Lamp +lamps +[0-9]+s$' k get prod
    tap "$v: by category" shows '^product.catalog.gitstore.dev/lamp +Lamp|^lamp +Lamp' k get catalog
    tap "$v: by field" shows '^lamp +Lamp' k get prod --field-selector spec.categoryRef.name=lamps
    tap "$v: label is refused" refuses \
        'its spec belongs to Git: repository default/catalog, branch main, path lamp.yaml, commit' \
        k label product lamp a=b
    tap "$v: delete is refused" refuses 'push to change it' k delete product lamp
    tap "$v: the way around is told" refuses 'set the annotation vedette.dev/override' \
        k patch product lamp --type=merge -p '{"spec":{"title":"Dark"}}'
    tap "$v: it is taken" gives "product.catalog.gitstore.dev/lamp patched" \
        k patch product lamp --type=merge -p \
        '{"metadata":{"annotations":{"vedette.dev/override":"the shop is on fire"}},
        "spec":{"title":"Dark"}}'
    tap "$v: and stands" shows '^lamp +Dark' k get product lamp
    tap "$v: describe shows who and why" shows \
        'Warning +SpecOverridden .*though Git owns it: the shop is on fire' k describe product lamp
    tap "$v: events do, too" shows 'Warning +SpecOverridden +product/lamp' k get events
    tap "$v: then it can be deleted" shows 'product.catalog.gitstore.dev "lamp" deleted' \
        k delete product lamp
    k delete events --all >/dev/null
}

try_categories() {
    tap "$v: its own parent" refuses 'a category cannot be its own parent' \
        k create -f category.yaml
    tap "$v: its columns" shows '^NAME +TITLE +PARENT +PRODUCTS +READY +AGE$' k get categories
    tap "$v: a variant" shows '^lamp-red +L-1 +lamp +[0-9]+s$' k get variants
    tap "$v: a collection" shows '^bright +Bright +[0-9]+s$' k get coll
}

end_repository() {
    tap "$v: Cascade" gives "repository.git.vedette.dev/catalog patched" k patch repo catalog \
        --type=merge -p '{"spec":{"deletionPolicy":"Cascade"}}'
    tap "$v: it is marked" shows 'repository.git.vedette.dev "catalog" deleted' \
        k delete repo catalog --wait=false
    k patch repo catalog --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null 2>&1
    tap "$v: it goes with its finalizer" until_true refuses NotFound k get repo catalog
}

command -v git >/dev/null || skip_all "there is no git"
cat >repository.yaml <<'YAML'
apiVersion: git.vedette.dev/v1
kind: Repository
metadata: {name: catalog}
spec: {}
YAML
cat >bad.yaml <<'YAML'
apiVersion: git.vedette.dev/v1
kind: Repository
metadata: {name: bad}
spec: {remote: {url: "https://me:secret@example.com/a.git"}}
YAML
cat >plain.yaml <<'YAML'
apiVersion: catalog.gitstore.dev/v1beta1
kind: Product
metadata: {name: lamp}
spec: {title: Lamp, categoryRef: {name: lamps}}
YAML
sed 's/name: lamp}$/name: other}/' plain.yaml >other.yaml
cat >category.yaml <<'YAML'
apiVersion: catalog.gitstore.dev/v1beta1
kind: CategoryTaxonomy
metadata: {name: self}
spec: {title: Self, parentRef: {name: self}}
YAML
cat >categories.yaml <<'YAML'
apiVersion: catalog.gitstore.dev/v1beta1
kind: CategoryTaxonomy
metadata: {name: lamps}
spec: {title: Lamps}
---
apiVersion: catalog.gitstore.dev/v1beta1
kind: ProductVariant
metadata: {name: lamp-red}
spec: {title: Red lamp, sku: L-1, productRef: {name: lamp}}
---
apiVersion: catalog.gitstore.dev/v1beta1
kind: Collection
metadata: {name: bright}
spec: {title: Bright, selector: {matchLabels: {bright: "yes"}}}
YAML
find_kubectls
tap "a server starts" start_server
token=$("$vedette" token create --data data --user ann --groups system:masters)
for kubectl in $kubectls; do
    number=$(minor "$kubectl")
    if [ -z "$number" ]; then continue; fi
    v=1.$number
    KUBECACHEDIR=$scratch/cache-$number
    export KUBECACHEDIR
    try_kinds
    try_repository
    try_products
    try_categories
    end_repository
done
tap "the server is still there" kill -0 "$pid"
tap_end
