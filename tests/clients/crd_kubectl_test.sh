#!/bin/sh
# Custom kinds with the kubectls that kubectls.sh chooses: the widgets of examples/, and small
# definitions in the manner of well-known projects, each with a good and a bad object.
set -u
# shellcheck source=tests/checks/tap.sh
. "$(dirname "$0")/../checks/tap.sh"
# shellcheck source=tests/clients/client.sh
. "$(dirname "$0")/client.sh"
# shellcheck source=tests/clients/kubectls.sh
. "$here/kubectls.sh"
widgets=$top/examples/widgets

# k ARGUMENT...: this version's kubectl, with an end.
k() { timeout 60 "$kubectl" "$@"; }

# widget JSONPATH VALUE: the gear has it.
widget() {
    widget_got=$(k get widget gear -o "jsonpath=$1") && [ "$widget_got" = "$2" ] && return 0
    echo "got: $widget_got, wanted: $2"
    return 1
}

# sees_status: a watch of another client sees the status that is written.
sees_status() {
    : >watch.out
    timeout 60 "$kubectl" get widgets -w >watch.out 2>&1 &
    sees_pid=$!
    until_true grep -q '^spring ' watch.out || return 1
    set_status && until_true grep -q -E '^gear +red +3 +True ' watch.out
    sees_result=$?
    kill "$sees_pid" && wait "$sees_pid" 2>/dev/null
    [ "$sees_result" -eq 0 ] && return 0
    cat watch.out
    return 1
}

set_status() {
    set_ready='{"status":{"replicas":3,"conditions":[{"type":"Ready","status":"True"}]}}'
    if [ "$number" -ge 24 ]; then
        k patch widget gear --subresource=status --type=merge -p "$set_ready"
    else
        k get widget gear -o json >gear.json || return 1
        jq -c ". * $set_ready" gear.json |
            k replace --raw /apis/example.com/v1/namespaces/default/widgets/gear/status -f -
    fi
}

try_widgets() {
    tap "$v: apply of a definition" gives \
        "customresourcedefinition.apiextensions.k8s.io/widgets.example.com created" \
        k apply -f "$widgets/crd.yaml"
    tap "$v: it is established" gives \
        "customresourcedefinition.apiextensions.k8s.io/widgets.example.com condition met" \
        k wait --for=condition=established --timeout=20s crd/widgets.example.com
    tap "$v: apply of widgets" gives "widget.example.com/gear created" \
        k apply -f "$widgets/widgets.yaml"
    tap "$v: apply again" gives "widget.example.com/gear unchanged" \
        k apply -f "$widgets/widgets.yaml"
    tap "$v: get, with the columns" shows '^NAME +COLOR +REPLICAS +READY +AGE$' k get widgets
    tap "$v: and rows" shows '^gear +red +1 +[0-9]+s$' k get wd
    tap "$v: get -o wide" shows '^gear +red +1 +12 +[0-9]+s$' k get widgets -o wide
    tap "$v: get by a field" gives widget.example.com/spring k get widgets \
        --field-selector spec.color=blue -o name
    tap "$v: get all" shows '^widget.example.com/gear +red ' k get all
    tap "$v: api-resources" shows '^widgets +wd +example.com/v1 +true +Widget$' k api-resources
    tap "$v: explain" shows '^ +Around its rim.$' k explain widget.spec
    tap "$v: a bad widget" refuses \
        'spec.color: Unsupported value: "pink": supported values: "red", "green", "blue"' \
        k apply -f "$widgets/bad.yaml"
    tap "$v: all that is wrong" refuses \
        'Invalid value: 101: spec.replicas in body should be less than or equal to 100' \
        k apply -f "$widgets/bad.yaml"
    tap "$v: an unknown field" refuses 'zzz"' k apply -f zzz.yaml
    tap "$v: patch" gives "widget.example.com/gear patched" k patch widget gear --type=merge \
        -p '{"spec":{"teeth":24}}'
    tap "$v: label" gives "widget.example.com/gear labeled" k label widget gear big=yes
    tap "$v: scale" gives "widget.example.com/gear scaled" k scale widget/gear --replicas=3
    tap "$v: and it was" widget '{.spec.replicas}{.metadata.generation}' 33
    tap "$v: a status is seen by a watch" sees_status
    tap "$v: it is no new generation" widget '{.status.replicas}{.metadata.generation}' 33
    tap "$v: describe" shows '^Name: +gear$' k describe widget gear
    tap "$v: delete" gives 'widget.example.com "spring" deleted' k delete widget spring
    tap "$v: delete of the definition" gives \
        'customresourcedefinition.apiextensions.k8s.io "widgets.example.com" deleted' \
        k delete crd widgets.example.com
    tap "$v: its kind is gone" refuses "the server" k get widgets
}

# is_refused FOLDER: the bad object, with every line of what is wanted.
is_refused() {
    if k create --validate=false -f "$1/bad.yaml" >bad.out 2>&1; then
        echo "it was not refused"
        return 1
    fi
    while read -r line; do
        grep -q -F -e "$line" bad.out || { echo "no line says: $line" && cat bad.out && return 1; }
    done <"$1/want"
}

try_others() {
    for folder in "$here"/crds/*; do
        of=$(basename "$folder")
        tap "$v: $of: the definition" shows ' created$' k create -f "$folder/crd.yaml"
        tap "$v: $of: a good object" shows ' created$' k create -f "$folder/good.yaml"
        tap "$v: $of: a bad object" is_refused "$folder"
        tap "$v: $of: they go" shows ' deleted$' k delete -f "$folder/crd.yaml"
    done
}

cat >zzz.yaml <<'WIDGET'
apiVersion: example.com/v1
kind: Widget
metadata: {name: z}
spec: {color: red, zzz: 1}
WIDGET
find_kubectls
tap "a server starts" start_server
for kubectl in $kubectls; do
    number=$(minor "$kubectl")
    if [ -z "$number" ]; then continue; fi
    v=1.$number
    KUBECACHEDIR=$scratch/cache-$number
    export KUBECACHEDIR
    try_widgets
    last=$kubectl
done
kubectl=$last
try_others
tap "the server is still there" kill -0 "$pid"
tap_end
