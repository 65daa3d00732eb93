#!/bin/sh
# Nobody gives away rights that they do not have: roles and bindings over the real server.
set -u
build=${1:?usage: escalation_test.sh BUILD_DIR}
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
tap "a server starts" start

# token USER GROUPS
token() {
    "$vedette" token create --data data --user "$1" --groups "$2" | grep -o 'vd_[^ ]*'
}
admin=$(token root system:masters)
binder=$(token binder nobody)
rbac=$https/apis/rbac.authorization.k8s.io/v1

# post TOKEN PLURAL JSON STATUS TEXT: the answer has this status and says this.
post() {
    answer=$(curl -sS -m 60 --cacert data/pki/ca.crt -H "Authorization: Bearer $1" \
        -H 'Content-Type: application/json' \
        -w '\n%{http_code}' -d "$3" "$rbac/$2" 2>&1)
    case $answer in
    *"$5"*"$4") return 0 ;;
    esac
    echo "$answer"
    return 1
}
head='"apiVersion":"rbac.authorization.k8s.io/v1"'
group='"apiGroup":"rbac.authorization.k8s.io"'
rules='[{"apiGroups":["rbac.authorization.k8s.io"],"resources":["*"],"verbs":["create"]}]'
to_binder="\"subjects\":[{$group,\"kind\":\"User\",\"name\":\"binder\"}]"

tap "an administrator makes a role" post "$admin" clusterroles \
    "{$head,\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"binders\"},\"rules\":$rules}" \
    201 binders
tap "and gives it to somebody" post "$admin" clusterrolebindings \
    "{$head,\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"binders\"},$to_binder,\
\"roleRef\":{$group,\"kind\":\"ClusterRole\",\"name\":\"binders\"}}" 201 binders
tap "who cannot bind himself to more" post "$binder" clusterrolebindings \
    "{$head,\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"mine\"},$to_binder,\
\"roleRef\":{$group,\"kind\":\"ClusterRole\",\"name\":\"cluster-admin\"}}" 403 'not currently held'
tap "nor write a role with more" post "$binder" clusterroles \
    "{$head,\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"mine\"},\
\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"secrets\"],\"verbs\":[\"get\"]}]}" \
    403 'not currently held'
tap "but can pass on what he has" post "$binder" clusterrolebindings \
    "{$head,\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"theirs\"},\
\"subjects\":[{$group,\"kind\":\"User\",\"name\":\"other\"}],\
\"roleRef\":{$group,\"kind\":\"ClusterRole\",\"name\":\"binders\"}}" 201 theirs
speaks_for_another() {
    answer=$(curl -sS -m 60 --cacert data/pki/ca.crt -H "Authorization: Bearer $admin" \
        -H 'Impersonate-User: binder' -H 'Content-Type: application/json' -d \
        "{$head,\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"lent\"},\
\"rules\":[{\"apiGroups\":[\"\"],\"resources\":[\"secrets\"],\"verbs\":[\"get\"]}]}" \
        "$rbac/clusterroles" 2>&1)
    case $answer in
    *'not currently held'*) return 0 ;;
    esac
    echo "$answer"
    return 1
}
tap "nor can whoever speaks for him, whatever his own rights" speaks_for_another
tap_end
