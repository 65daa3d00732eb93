#!/bin/sh
# Speaking for somebody else: who may, for whom, and what the request is then worth.
set -u
# shellcheck source=tests/api/server.sh
. "$(dirname "$0")/server.sh"
rbac=/apis/rbac.authorization.k8s.io/v1
me=/apis/authentication.k8s.io/v1/selfsubjectreviews
maps=/api/v1/namespaces/default/configmaps

# says TOKEN STATUS TEXT HEADER...: to a SelfSubjectReview with these headers; the answer, on one
# line and without blanks, has the text.
says() {
    says_token=$1 says_status=$2 says_text=$3
    shift 3
    for says_header; do
        shift
        set -- "$@" -H "$says_header"
    done
    says_code=$(as "$says_token" $me -o says.out -w '%{http_code}' "$@" \
        -H 'Content-Type: application/json' -H 'User-Agent: test' \
        -d '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}')
    [ "$says_code" = "$says_status" ] && grep -q -F -e "$says_text" says.out && return 0
    echo "status $says_code"
    cat says.out
    return 1
}

# grant NAME RULES: a ClusterRole of this name, bound to the user of this name.
grant() {
    post $rbac/clusterroles ClusterRole "\"metadata\":{\"name\":\"$1\"},\"rules\":[$2]" &&
        post $rbac/clusterrolebindings ClusterRoleBinding "\"metadata\":{\"name\":\"$1\"},
        \"subjects\":[{\"kind\":\"User\",\"name\":\"$1\",\"apiGroup\":\"rbac.authorization.k8s.io\"}],
        \"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"$1\",\"apiGroup\":\"rbac.authorization.k8s.io\"}"
}

tap "a server starts" start --access-log on
tap "ann may speak for bob, in the group dev" grant ann \
    '{"apiGroups":[""],"resources":["users"],"verbs":["impersonate"],"resourceNames":["bob"]},
     {"apiGroups":[""],"resources":["groups"],"verbs":["impersonate"],"resourceNames":["dev"]},
     {"apiGroups":["authentication.k8s.io"],"resources":["uids"],"verbs":["impersonate"],"resourceNames":["u-1"]},
     {"apiGroups":["authentication.k8s.io"],"resources":["userextras/scopes"],"verbs":["impersonate"],"resourceNames":["view"]}'
tap "bob may read" grant bob '{"apiGroups":[""],"resources":["configmaps"],"verbs":["get","list","watch"]}'
tap "cid may speak for accounts" grant cid \
    '{"apiGroups":[""],"resources":["serviceaccounts"],"verbs":["impersonate"]}'
ann=$("$vedette" token create --data data --user ann)
cid=$("$vedette" token create --data data --user cid)
root=$("$vedette" token create --data data --user root --groups system:masters)
tap "the rules are in force" until_true says "$ann" 201 '"username":"bob"' 'Impersonate-User: bob'

# ---- who one is then ----

tap "one is bob, of system:authenticated" says "$ann" 201 \
    '"userInfo":{"username":"bob","groups":["system:authenticated"]}' 'Impersonate-User: bob'
tap "with groups, a uid and extras" says "$ann" 201 \
    '"userInfo":{"username":"bob","uid":"u-1","groups":["dev","system:authenticated"],"extra":{"scopes":["view"]}}' \
    'Impersonate-User: bob' 'Impersonate-Group: dev' 'impersonate-uid: u-1' \
    'Impersonate-Extra-Scopes: view'
tap "an account is in its groups" says "$cid" 201 \
    '"groups":["system:serviceaccounts","system:serviceaccounts:kube-system","system:authenticated"]' \
    'Impersonate-User: system:serviceaccount:kube-system:default'
tap "masters speak for anybody" says "$root" 201 \
    '"username":"zoe","groups":["a","b","system:authenticated"],"extra":{"acme.example/x":["1","2"]}' \
    'Impersonate-User: zoe' 'Impersonate-Group: a' 'Impersonate-Group: b' \
    'Impersonate-Extra-acme.example%2Fx: 1' 'Impersonate-Extra-acme.example%2Fx: 2'

# ---- what one may ----

tap "bob's rights are lent" [ "$(as "$ann" $maps -H 'Impersonate-User: bob' -o /dev/null -w '%{http_code}')" = 200 ]
tap "ann has none" [ "$(as "$ann" $maps -o /dev/null -w '%{http_code}')" = 403 ]
only_his() {
    as "$root" /api/v1/secrets -H 'Impersonate-User: bob' >only.out
    grep -q -F 'secrets is forbidden: User \"bob\" cannot list resource \"secrets\" in API group \"\" at the cluster scope' only.out &&
        return 0
    cat only.out
    return 1
}
tap "one's own are put away" only_his
tap "nobody is not somebody" says "$root" 403 \
    'User \"system:anonymous\" cannot create resource' 'Impersonate-User: system:anonymous'

# ---- who may not ----

tap "not every user" says "$ann" 403 \
    '"message":"users \"eve\" is forbidden: User \"ann\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope","reason":"Forbidden","details":{"name":"eve","kind":"users"},"code":403' \
    'Impersonate-User: eve'
tap "not every group" says "$ann" 403 \
    'groups \"system:masters\" is forbidden: User \"ann\" cannot impersonate resource \"groups\" in API group \"\" at the cluster scope' \
    'Impersonate-User: bob' 'Impersonate-Group: dev' 'Impersonate-Group: system:masters'
tap "not every uid" says "$ann" 403 \
    'uids.authentication.k8s.io \"u-2\" is forbidden: User \"ann\" cannot impersonate resource \"uids\" in API group \"authentication.k8s.io\" at the cluster scope' \
    'Impersonate-User: bob' 'Impersonate-Uid: u-2'
tap "not every extra" says "$ann" 403 \
    'userextras.authentication.k8s.io \"edit\" is forbidden: User \"ann\" cannot impersonate resource \"userextras/scopes\" in API group \"authentication.k8s.io\" at the cluster scope' \
    'Impersonate-User: bob' 'Impersonate-Extra-Scopes: view' 'Impersonate-Extra-Scopes: edit'
tap "not every account" says "$ann" 403 \
    'serviceaccounts \"default\" is forbidden: User \"ann\" cannot impersonate resource \"serviceaccounts\" in API group \"\" in the namespace \"kube-system\"' \
    'Impersonate-User: system:serviceaccount:kube-system:default'
tap "a group alone is nobody" says "$ann" 400 'Impersonate-User is missing' 'Impersonate-Group: dev'
tap "a token that is no good is that first" says vd_no 401 Unauthorized 'Impersonate-User: bob'

# ---- the log, and watches ----

tap "the log has both" until_true grep -q '"\{0,1\}user"\{0,1\}[=:]"\{0,1\}ann.*impersonated_user"\{0,1\}[=:]"\{0,1\}bob' err
watch bob.events -H "Authorization: Bearer $ann" -H 'Impersonate-User: bob' \
    "$https$maps?watch=1"
tap "a watch in bob's name" until_true grep -q '"ADDED"' bob.events
admin $rbac/clusterrolebindings/ann -X DELETE >/dev/null
ended() { ! kill -0 "$stream" 2>/dev/null && tail -n 1 bob.events | grep -q '"code":401'; }
tap "ends when ann may no longer speak for him" until_true ended
tap "the server stops" stop
tap_end
