/*
 * src/kube/protobuf/schema.c, through the decoder: what clients send becomes the JSON that they
 * would have sent, kind by kind; and the rules that the tables keep.
 *
 * Field numbers in the cases are taken by hand from Kubernetes' own message definitions, not from
 * the tables under test. Expected JSON is written with ' for ".
 */
#include "kube/protobuf/schema.h"

#include <stdio.h>
#include <string.h>

#include "kinds/builtin.h"
#include "kinds/kinds.h"
#include "protobuf_check.h"

#define META       "'metadata':{'creationTimestamp':null}"
#define EMPTY_LIST "'metadata':{},'items':null"

/* --- bodies of kubectl 1.32.5 and 1.33.1, which are the same; JSON of kubectl 1.31.9 --- */

static const struct {
    const char *command, *hex, *json;
} bodies[] = {
    /* clang-format off */
    {"create namespace",
     "6b3873000a0f0a02763112094e616d657370616365121e0a160a067465616d2d6112001a0022002a00320038"
     "00420012001a020a001a002200",
     "{'kind':'Namespace','apiVersion':'v1','metadata':{'name':'team-a','creationTimestamp':nu"
     "ll},'spec':{},'status':{}}"},
    {"create configmap",
     "6b3873000a0f0a0276311209436f6e6669674d617012470a1e0a0873657474696e677312001a067465616d2d"
     "6122002a0032003800420012060a016112013112060a016212013212090a05656d70747912001a0a0a036269"
     "6e120300ff011a002200",
     "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'settings','namespace':'team-a'"
     ",'creationTimestamp':null},'data':{'a':'1','b':'2','empty':''},'binaryData':{'bin':'AP8B"
     "'}}"},
    {"create secret",
     "6b3873000a0c0a027631120653656372657412410a1b0a056c6f67696e12001a067465616d2d6122002a0032"
     "003800420012130a0870617373776f7264120768756e74657232120b0a04757365721203616d791a001a0022"
     "00",
     "{'kind':'Secret','apiVersion':'v1','metadata':{'name':'login','namespace':'team-a','crea"
     "tionTimestamp':null},'data':{'password':'aHVudGVyMg==','user':'YW15'}}"},
    {"create serviceaccount",
     "6b3873000a140a027631120e536572766963654163636f756e74121d0a1b0a05726f626f7412001a06746561"
     "6d2d6122002a003200380042001a002200",
     "{'kind':'ServiceAccount','apiVersion':'v1','metadata':{'name':'robot','namespace':'team-"
     "a','creationTimestamp':null}}"},
    {"create service clusterip",
     "6b3873000a0d0a0276311207536572766963651293010a250a0377656212001a067465616d2d6122002a0032"
     "00380042005a0a0a03617070120377656212660a1b0a0738302d38303830120354435018502207080010903f"
     "1a0028000a220a093434332d6874747073120354435018bb03220b080110001a0568747470732800120a0a03"
     "61707012037765621a002209436c757374657249503a00420052005a00600068001a020a001a002200",
     "{'kind':'Service','apiVersion':'v1','metadata':{'name':'web','namespace':'team-a','creat"
     "ionTimestamp':null,'labels':{'app':'web'}},'spec':{'ports':[{'name':'80-8080','protocol'"
     ":'TCP','port':80,'targetPort':8080},{'name':'443-https','protocol':'TCP','port':443,'tar"
     "getPort':'https'}],'selector':{'app':'web'},'type':'ClusterIP'},'status':{'loadBalancer'"
     ":{}}}"},
    {"create service nodeport",
     "6b3873000a0d0a02763112075365727669636512670a210a047765623212001a0022002a003200380042005a"
     "0b0a03617070120477656232123e0a170a023830120354435018502206080010501a002880eb01120b0a0361"
     "70701204776562321a0022084e6f6465506f72743a00420052005a00600068001a020a001a002200",
     "{'kind':'Service','apiVersion':'v1','metadata':{'name':'web2','creationTimestamp':null,'"
     "labels':{'app':'web2'}},'spec':{'ports':[{'name':'80','protocol':'TCP','port':80,'target"
     "Port':80,'nodePort':30080}],'selector':{'app':'web2'},'type':'NodePort'},'status':{'load"
     "Balancer':{}}}"},
    {"create service externalname",
     "6b3873000a0d0a027631120753657276696365125d0a210a047765623312001a0022002a003200380042005a"
     "0b0a036170701204776562331234120b0a036170701204776562331a00220c45787465726e616c4e616d653a"
     "004200520b6578616d706c652e636f6d5a00600068001a020a001a002200",
     "{'kind':'Service','apiVersion':'v1','metadata':{'name':'web3','creationTimestamp':null,'"
     "labels':{'app':'web3'}},'spec':{'selector':{'app':'web3'},'type':'ExternalName','externa"
     "lName':'example.com'},'status':{'loadBalancer':{}}}"},
    {"create role",
     "6b3873000a240a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f76311204526f6c65124c"
     "0a1c0a0672656164657212001a067465616d2d6122002a00320038004200122c0a036765740a046c69737412"
     "001a0a636f6e6669676d6170731a0773656372657473220873657474696e67731a002200",
     "{'kind':'Role','apiVersion':'rbac.authorization.k8s.io/v1','metadata':{'name':'reader','"
     "namespace':'team-a','creationTimestamp':null},'rules':[{'verbs':['get','list'],'apiGroup"
     "s':[''],'resources':['configmaps','secrets'],'resourceNames':['settings']}]}"},
    {"create clusterrole",
     "6b3873000a2b0a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f7631120b436c75737465"
     "72526f6c6512270a140a0475726c7312001a0022002a00320038004200120f0a036765742a082f6d65747269"
     "63731a002200",
     "{'kind':'ClusterRole','apiVersion':'rbac.authorization.k8s.io/v1','metadata':{'name':'ur"
     "ls','creationTimestamp':null},'rules':[{'verbs':['get'],'nonResourceURLs':['/metrics']}]"
     "}"},
    {"create clusterrole --aggregation-rule",
     "6b3873000a2b0a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f7631120b436c75737465"
     "72526f6c6512330a130a0361676712001a0022002a003200380042001a1c0a1a0a100a08726261632f616767"
     "1204747275650a060a01781201791a002200",
     "{'kind':'ClusterRole','apiVersion':'rbac.authorization.k8s.io/v1','metadata':{'name':'ag"
     "g','creationTimestamp':null},'rules':null,'aggregationRule':{'clusterRoleSelectors':[{'m"
     "atchLabels':{'rbac/agg':'true','x':'y'}}]}}"},
    {"create rolebinding",
     "6b3873000a2b0a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f7631120b526f6c654269"
     "6e64696e6712c3010a1d0a077265616465727312001a067465616d2d6122002a0032003800420012280a0455"
     "7365721219726261632e617574686f72697a6174696f6e2e6b38732e696f1a03616d792200122a0a0547726f"
     "75701219726261632e617574686f72697a6174696f6e2e6b38732e696f1a0464657673220012210a0e536572"
     "766963654163636f756e7412001a05726f626f7422067465616d2d611a290a19726261632e617574686f7269"
     "7a6174696f6e2e6b38732e696f1204526f6c651a067265616465721a002200",
     "{'kind':'RoleBinding','apiVersion':'rbac.authorization.k8s.io/v1','metadata':{'name':'re"
     "aders','namespace':'team-a','creationTimestamp':null},'subjects':[{'kind':'User','apiGro"
     "up':'rbac.authorization.k8s.io','name':'amy'},{'kind':'Group','apiGroup':'rbac.authoriza"
     "tion.k8s.io','name':'devs'},{'kind':'ServiceAccount','name':'robot','namespace':'team-a'"
     "}],'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'Role','name':'reader'}}"},
    {"create clusterrolebinding",
     "6b3873000a320a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f76311212436c75737465"
     "72526f6c6542696e64696e67127c0a160a0661646d696e7312001a0022002a0032003800420012290a054772"
     "6f75701219726261632e617574686f72697a6174696f6e2e6b38732e696f1a036f707322001a370a19726261"
     "632e617574686f72697a6174696f6e2e6b38732e696f120b436c7573746572526f6c651a0d636c7573746572"
     "2d61646d696e1a002200",
     "{'kind':'ClusterRoleBinding','apiVersion':'rbac.authorization.k8s.io/v1','metadata':{'na"
     "me':'admins','creationTimestamp':null},'subjects':[{'kind':'Group','apiGroup':'rbac.auth"
     "orization.k8s.io','name':'ops'}],'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind"
     "':'ClusterRole','name':'cluster-admin'}}"},
    {"create token",
     "6b3873000a280a1861757468656e7469636174696f6e2e6b38732e696f2f7631120c546f6b656e5265717565"
     "7374123e0a100a0012001a0022002a0032003800420012240a036170691a1a0a06536563726574120276311a"
     "056c6f67696e220531312d323220901c1a040a0012001a002200",
     "{'kind':'TokenRequest','apiVersion':'authentication.k8s.io/v1','metadata':{'creationTime"
     "stamp':null},'spec':{'audiences':['api'],'expirationSeconds':3600,'boundObjectRef':{'kin"
     "d':'Secret','apiVersion':'v1','name':'login','uid':'11-22'}},'status':{'token':'','expir"
     "ationTimestamp':null}}"},
    {"auth can-i on a resource",
     "6b3873000a320a17617574686f72697a6174696f6e2e6b38732e696f2f7631121753656c665375626a656374"
     "41636365737352657669657712520a100a0012001a0022002a0032003800420012340a320a067465616d2d61"
     "12066372656174651a0022002a0a636f6e6669676d61707332067374617475733a0873657474696e67731a08"
     "080012001a0020001a002200",
     "{'kind':'SelfSubjectAccessReview','apiVersion':'authorization.k8s.io/v1','metadata':{'cr"
     "eationTimestamp':null},'spec':{'resourceAttributes':{'namespace':'team-a','verb':'create"
     "','resource':'configmaps','subresource':'status','name':'settings'}},'status':{'allowed'"
     ":false}}"},
    {"auth can-i on a URL",
     "6b3873000a320a17617574686f72697a6174696f6e2e6b38732e696f2f7631121753656c665375626a656374"
     "416363657373526576696577122f0a100a0012001a0022002a003200380042001211120f0a082f6d65747269"
     "637312036765741a08080012001a0020001a002200",
     "{'kind':'SelfSubjectAccessReview','apiVersion':'authorization.k8s.io/v1','metadata':{'cr"
     "eationTimestamp':null},'spec':{'nonResourceAttributes':{'path':'/metrics','verb':'get'}}"
     ",'status':{'allowed':false}}"},
    {"auth can-i --list",
     "6b3873000a310a17617574686f72697a6174696f6e2e6b38732e696f2f7631121653656c665375626a656374"
     "52756c657352657669657712220a100a0012001a0022002a0032003800420012080a067465616d2d611a0418"
     "0022001a002200",
     "{'kind':'SelfSubjectRulesReview','apiVersion':'authorization.k8s.io/v1','metadata':{'cre"
     "ationTimestamp':null},'spec':{'namespace':'team-a'},'status':{'resourceRules':null,'nonR"
     "esourceRules':null,'incomplete':false}}"},
    {"auth whoami",
     "6b3873000a2d0a1861757468656e7469636174696f6e2e6b38732e696f2f7631121153656c665375626a6563"
     "74526576696577121a0a100a0012001a0022002a0032003800420012060a040a0012001a002200",
     "{'kind':'SelfSubjectReview','apiVersion':'authentication.k8s.io/v1','metadata':{'creatio"
     "nTimestamp':null},'status':{'userInfo':{}}}"},
    {"auth reconcile",
     "6b3873000a240a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f76311204526f6c65122d"
     "0a2b0a017212001a067465616d2d6122002a003200380042005a060a0161120162620a0a046e6f7465120268"
     "691a002200",
     "{'kind':'Role','apiVersion':'rbac.authorization.k8s.io/v1','metadata':{'name':'r','names"
     "pace':'team-a','creationTimestamp':null,'labels':{'a':'b'},'annotations':{'note':'hi'}},"
     "'rules':null}"},
    /* clang-format on */
};

/* The last one was made from "rules: []", which protobuf cannot tell from none. */
static void bodies_of_kubectl_become_its_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct vd_buf body = {0};
        protobuf_add_hex(&body, bodies[i].hex);
        assert_true(vd_protobuf_is_kubernetes(vd_buf_slice(&body)));
        check_body(bodies[i].command, vd_buf_slice(&body), bodies[i].json);
        vd_buf_release(&body);
    }
}

/* No start of a body is accepted, but for one that ends between the envelope's fields. */
static void truncated_bodies_of_kubectl_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct vd_buf body = {0};
        size_t accepted = 0;
        protobuf_add_hex(&body, bodies[i].hex);
        for (size_t n = 0; n < body.n; n++) {
            struct vd_arena arena = {0};
            struct vd_json *document;
            struct vd_slice start = vd_slice(body.p, n);
            accepted += vd_protobuf_decode(&arena, start, NULL, &document, NULL) == VD_OK;
            vd_arena_release(&arena);
        }
        /* Before the message, before contentEncoding and before contentType. */
        assert_int_equal(accepted, 3);
        vd_buf_release(&body);
    }
}

/* --- kinds --- */

#define OWNER "5 'v1' 1 'Pod' 3 'p' 4 'u1'"

static const struct {
    const char *api_version, *kind, *text, *json;
} kinds[] = {
    {"v1", "ConfigMap",
     "1 {1 'n' 2 'g-' 3 'ns' 4 '/l' 5 'u' 6 '7' 7 3 8 {1 1700000000 2 5} 9 {1 1700000001} 10 0"
     "   11 {1 'a' 2 'b'} 12 {1 'c' 2 'd'} 13 {" OWNER " 6 1 7 0} 14 'f/1' 14 'f/2'"
     "   17 {1 'kubectl' 2 'Apply' 3 'v1' 4 {1 0} 6 'FieldsV1' 7 {1 '{\"f:x\":{}}'} 8 'status'}}"
     "4 0",
     "{'metadata':{'name':'n','generateName':'g-','namespace':'ns','selfLink':'/l','uid':'u',"
     "'resourceVersion':'7','generation':3,'creationTimestamp':'2023-11-14T22:13:20Z',"
     "'deletionTimestamp':'2023-11-14T22:13:21Z','deletionGracePeriodSeconds':0,"
     "'labels':{'a':'b'},'annotations':{'c':'d'},'ownerReferences':[{'apiVersion':'v1',"
     "'kind':'Pod','name':'p','uid':'u1','controller':true,'blockOwnerDeletion':false}],"
     "'finalizers':['f/1','f/2'],'managedFields':[{'manager':'kubectl','operation':'Apply',"
     "'apiVersion':'v1','time':'1970-01-01T00:00:00Z','fieldsType':'FieldsV1',"
     "'fieldsV1':{'f:x':{}},'subresource':'status'}]},'immutable':false}"},
    {"v1", "ConfigMapList", "1 {2 '9' 3 'tok' 4 0} 2 {2 {1 'k' 2 'v'}}",
     "{'metadata':{'resourceVersion':'9','continue':'tok','remainingItemCount':0},"
     "'items':[{" META ",'data':{'k':'v'}}]}"},
    {"v1", "Secret", "2 {1 'a' 2 x00} 2 {1 'b' 2 x0001} 2 {1 'c'} 3 'Opaque' 4 {1 'p' 2 'w'} 5 1",
     "{" META ",'immutable':true,'data':{'a':'AA==','b':'AAE=','c':''},'stringData':{'p':'w'},"
     "'type':'Opaque'}"},
    {"v1", "Namespace",
     "2 {1 'kubernetes'} 3 {1 'Active' 2 {1 'T' 2 'True' 4 {1 60} 5 'R' 6 'M'} 2 {}}",
     "{" META ",'spec':{'finalizers':['kubernetes']},'status':{'phase':'Active','conditions':["
     "{'type':'T','status':'True','lastTransitionTime':'1970-01-01T00:01:00Z','reason':'R',"
     "'message':'M'},{'type':'','status':'','lastTransitionTime':null}]}}"},
    {"v1", "ServiceAccount", "2 {3 's'} 2 {} 3 {1 'pull'} 4 0",
     "{" META ",'secrets':[{'name':'s'},{}],'imagePullSecrets':[{'name':'pull'}],"
     "'automountServiceAccountToken':false}"},
    {"v1", "Service",
     "2 {1 {1 'a' 2 'TCP' 3 80 4 {1 1 2 0 3 'http'} 5 30000 6 'h2c'} 1 {} 2 {1 's' 2 't'}"
     " 3 'None' 4 'ClusterIP' 5 '1.1.1.1' 7 'ClientIP' 8 '2.2.2.2' 9 '10.0.0.0/8' 10 'ex' 11 "
     "'Local'"
     " 12 3 13 1 14 {1 {1 0}} 17 'SingleStack' 18 'None' 19 'IPv4' 20 0 21 'c' 22 'Cluster'"
     " 23 'PreferClose'} 3 {1 {1 {1 'i' 2 'h' 3 'VIP' 4 {1 1 2 'TCP' 3 'e'}}} 2 {1 'Ready' 3 2}}",
     "{" META ",'spec':{'ports':[{'name':'a','protocol':'TCP','appProtocol':'h2c','port':80,"
     "'targetPort':'http','nodePort':30000},{'port':0,'targetPort':0}],'selector':{'s':'t'},"
     "'clusterIP':'None','clusterIPs':['None'],'type':'ClusterIP','externalIPs':['1.1.1.1'],"
     "'sessionAffinity':'ClientIP','loadBalancerIP':'2.2.2.2',"
     "'loadBalancerSourceRanges':['10.0.0.0/8'],'externalName':'ex',"
     "'externalTrafficPolicy':'Local','healthCheckNodePort':3,'publishNotReadyAddresses':true,"
     "'sessionAffinityConfig':{'clientIP':{'timeoutSeconds':0}},'ipFamilies':['IPv4'],"
     "'ipFamilyPolicy':'SingleStack','allocateLoadBalancerNodePorts':false,"
     "'loadBalancerClass':'c','internalTrafficPolicy':'Cluster',"
     "'trafficDistribution':'PreferClose'},'status':{'loadBalancer':{'ingress':[{'ip':'i',"
     "'hostname':'h','ipMode':'VIP','ports':[{'port':1,'protocol':'TCP','error':'e'}]}]},"
     "'conditions':[{'type':'Ready','status':'','observedGeneration':2,"
     "'lastTransitionTime':null,'reason':'','message':''}]}}"},
    {"v1", "Event", "",
     "{" META ",'involvedObject':{},'source':{},'firstTimestamp':null,'lastTimestamp':null,"
     "'eventTime':null,'reportingComponent':'','reportingInstance':''}"},
    {"v1", "Event",
     "2 {1 'Pod' 2 'ns' 3 'p' 4 'u' 5 'v1' 6 '4' 7 'spec'} 3 'R' 4 'M' 5 {1 'c' 2 'h'} 6 {1 1}"
     "7 {1 2} 8 -1 9 'Normal' 10 {1 3 2 4000} 11 {1 2 2 {1 5 2 999999999}} 12 'A' 13 {3 'q'}"
     "14 'rc' 15 'ri'",
     "{" META ",'involvedObject':{'kind':'Pod','namespace':'ns','name':'p','uid':'u',"
     "'apiVersion':'v1','resourceVersion':'4','fieldPath':'spec'},'reason':'R','message':'M',"
     "'source':{'component':'c','host':'h'},'firstTimestamp':'1970-01-01T00:00:01Z',"
     "'lastTimestamp':'1970-01-01T00:00:02Z','count':-1,'type':'Normal',"
     "'eventTime':'1970-01-01T00:00:03.000004Z','series':{'count':2,"
     "'lastObservedTime':'1970-01-01T00:00:05.999999Z'},'action':'A','related':{'name':'q'},"
     "'reportingComponent':'rc','reportingInstance':'ri'}"},
    {"v1", "Status",
     "1 {1 '/l'} 2 'Failure' 3 'm' 4 'NotFound' 5 {1 'n' 2 'g' 3 'k' 4 {1 'r' 2 'm' 3 'f'} 5 1 6 "
     "'u'}"
     "6 404",
     "{'metadata':{'selfLink':'/l'},'status':'Failure','message':'m','reason':'NotFound',"
     "'details':{'name':'n','group':'g','kind':'k','uid':'u','causes':[{'reason':'r',"
     "'message':'m','field':'f'}],'retryAfterSeconds':1},'code':404}"},
    {"v1", "List", "2 {1 '{\"a\":[1.50]}'} 2 {}", "{'metadata':{},'items':[{'a':[1.50]},null]}"},
    {"v1", "APIGroup", "1 'g' 2 {1 'g/v1' 2 'v1'} 4 {1 '0.0.0.0/0' 2 'h:1'}",
     "{'name':'g','versions':[{'groupVersion':'g/v1','version':'v1'}],'preferredVersion':{"
     "'groupVersion':'','version':''},'serverAddressByClientCIDRs':[{'clientCIDR':'0.0.0.0/0',"
     "'serverAddress':'h:1'}]}"},
    {"v1", "APIGroupList", "", "{'groups':null}"},
    {"v1", "APIResourceList",
     "1 'v1' 2 {1 'cms' 2 1 3 'CM' 4 {1 'get' 1 'list'} 5 'c' 6 'cm' 7 'all' 8 'g' 9 'v' 10 'h'}"
     "2 {} 2 {4 {}}",
     "{'groupVersion':'v1','resources':[{'name':'cms','singularName':'cm','namespaced':true,"
     "'group':'g','version':'v','kind':'CM','verbs':['get','list'],'shortNames':['c'],"
     "'categories':['all'],'storageVersionHash':'h'},{'name':'','singularName':'',"
     "'namespaced':false,'kind':'','verbs':null},{'name':'','singularName':'','namespaced':false,"
     "'kind':'','verbs':[]}]}"},
    {"v1", "APIVersions", "1 'v1'", "{'versions':['v1'],'serverAddressByClientCIDRs':null}"},
    {"v1", "RootPaths", "1 '/api' 1 '/apis'", "{'paths':['/api','/apis']}"},
    {"coordination.k8s.io/v1", "Lease",
     "1 {1 'l'} 2 {1 '' 2 1 3 {1 1700000000 2 123456789} 4 {} 5 0 6 'OldestEmulationVersion' 7 "
     "'b'}",
     "{'metadata':{'name':'l','creationTimestamp':null},'spec':{'holderIdentity':'',"
     "'leaseDurationSeconds':1,'acquireTime':'2023-11-14T22:13:20.123456Z','renewTime':null,"
     "'leaseTransitions':0,'strategy':'OldestEmulationVersion','preferredHolder':'b'}}"},
    {"coordination.k8s.io/v1", "LeaseList", "2 {}",
     "{'metadata':{},'items':[{" META ",'spec':{}}]}"},
    {"events.k8s.io/v1", "Event",
     "2 {1 1} 3 {2 {1 2}} 4 'rc' 5 'ri' 6 'A' 7 'R' 8 {3 'p'} 9 {3 'q'} 10 'N' 11 'Normal' 12 {1 "
     "'c'}"
     "13 {1 3} 14 {1 4} 15 5",
     "{" META ",'eventTime':'1970-01-01T00:00:01.000000Z','series':{'count':0,"
     "'lastObservedTime':'1970-01-01T00:00:02.000000Z'},'reportingController':'rc',"
     "'reportingInstance':'ri','action':'A','reason':'R','regarding':{'name':'p'},"
     "'related':{'name':'q'},'note':'N','type':'Normal','deprecatedSource':{'component':'c'},"
     "'deprecatedFirstTimestamp':'1970-01-01T00:00:03Z',"
     "'deprecatedLastTimestamp':'1970-01-01T00:00:04Z','deprecatedCount':5}"},
    {"events.k8s.io/v1", "EventList", "", "{" EMPTY_LIST "}"},
    {"authentication.k8s.io/v1", "TokenRequest", "",
     "{" META ",'spec':{'audiences':null,'expirationSeconds':null,'boundObjectRef':null},"
     "'status':{'token':'','expirationTimestamp':null}}"},
    {"authentication.k8s.io/v1", "TokenReview",
     "2 {1 't' 2 'a'} 3 {1 1 2 {1 'u' 2 'i' 3 'g' 4 {1 'k' 2 {1 'x' 1 'y'}} 4 {1 'e'}} 3 'E' 4 "
     "'b'}",
     "{" META ",'spec':{'token':'t','audiences':['a']},'status':{'authenticated':true,"
     "'user':{'username':'u','uid':'i','groups':['g'],'extra':{'e':[],'k':['x','y']}},"
     "'audiences':['b'],'error':'E'}}"},
    {"authentication.k8s.io/v1", "SelfSubjectReview", "2 {1 {1 'u'}}",
     "{" META ",'status':{'userInfo':{'username':'u'}}}"},
    {"authorization.k8s.io/v1", "SubjectAccessReview",
     "2 {1 {1 'ns' 2 'get' 3 'g' 4 'v' 5 'r' 6 's' 7 'n' 8 {1 'a=b' 2 {1 'a' 2 'In' 3 'b'}}"
     "      9 {1 'c' 2 {1 'c' 2 'Exists'}}}"
     " 2 {1 '/p' 2 'get'} 3 'u' 4 'g' 5 {1 'k' 2 {1 'v'}} 6 'id'} 3 {1 1 2 'R' 3 'E' 4 1}",
     "{" META ",'spec':{'resourceAttributes':{'namespace':'ns','verb':'get','group':'g',"
     "'version':'v','resource':'r','subresource':'s','name':'n','fieldSelector':{"
     "'rawSelector':'a=b','requirements':[{'key':'a','operator':'In','values':['b']}]},"
     "'labelSelector':{'rawSelector':'c','requirements':[{'key':'c','operator':'Exists'}]}},"
     "'nonResourceAttributes':{'path':'/p','verb':'get'},'user':'u','groups':['g'],"
     "'extra':{'k':['v']},'uid':'id'},'status':{'allowed':true,'denied':true,'reason':'R',"
     "'evaluationError':'E'}}"},
    {"authorization.k8s.io/v1", "LocalSubjectAccessReview", "2 {3 'u'}",
     "{" META ",'spec':{'user':'u'},'status':{'allowed':false}}"},
    {"authorization.k8s.io/v1", "SelfSubjectAccessReview", "2 {1 {}}",
     "{" META ",'spec':{'resourceAttributes':{}},'status':{'allowed':false}}"},
    {"authorization.k8s.io/v1", "SelfSubjectRulesReview",
     "2 {1 'ns'} 3 {1 {1 'get' 2 '' 3 'cm' 4 'n'} 2 {1 'get' 2 '/x'} 2 {} 3 1 4 'E'}",
     "{" META ",'spec':{'namespace':'ns'},'status':{'resourceRules':[{'verbs':['get'],"
     "'apiGroups':[''],'resources':['cm'],'resourceNames':['n']}],'nonResourceRules':["
     "{'verbs':['get'],'nonResourceURLs':['/x']},{'verbs':null}],'incomplete':true,"
     "'evaluationError':'E'}}"},
    {"rbac.authorization.k8s.io/v1", "Role", "2 {1 '*' 2 'a' 3 'r' 4 'n' 5 '/u'} 2 {}",
     "{" META ",'rules':[{'verbs':['*'],'apiGroups':['a'],'resources':['r'],"
     "'resourceNames':['n'],'nonResourceURLs':['/u']},{'verbs':null}]}"},
    {"rbac.authorization.k8s.io/v1", "ClusterRole",
     "3 {1 {1 {1 'a' 2 'b'} 2 {1 'k' 2 'In' 3 'v'}} 1 {}}",
     "{" META ",'rules':null,'aggregationRule':{'clusterRoleSelectors':[{'matchLabels':{'a':'b'},"
     "'matchExpressions':[{'key':'k','operator':'In','values':['v']}]},{}]}}"},
    {"rbac.authorization.k8s.io/v1", "RoleBinding", "2 {1 'User' 2 'g' 3 'u' 4 'ns'} 3 {3 'r'}",
     "{" META ",'subjects':[{'kind':'User','apiGroup':'g','name':'u','namespace':'ns'}],"
     "'roleRef':{'apiGroup':'','kind':'','name':'r'}}"},
    {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "3 {1 'g' 2 'ClusterRole' 3 'r'}",
     "{" META ",'roleRef':{'apiGroup':'g','kind':'ClusterRole','name':'r'}}"},
    {"rbac.authorization.k8s.io/v1", "RoleList", "", "{" EMPTY_LIST "}"},
    {"rbac.authorization.k8s.io/v1", "ClusterRoleList", "2 {}",
     "{'metadata':{},'items':[{" META ",'rules':null}]}"},
    {"rbac.authorization.k8s.io/v1", "RoleBindingList", "", "{" EMPTY_LIST "}"},
    {"rbac.authorization.k8s.io/v1", "ClusterRoleBindingList", "", "{" EMPTY_LIST "}"},
    {"apiextensions.k8s.io/v1", "CustomResourceDefinition",
     "1 {1 'w.e'} 2 {1 'e' 3 {1 'w' 2 's' 3 'sh' 4 'W' 5 'WL' 6 'all'} 4 'Namespaced'"
     " 7 {1 'v1' 2 1 3 1 4 {1 {5 'object'}} 5 {1 {} 2 {1 '.s' 2 '.t' 3 '.l'}}"
     "    6 {1 'C' 2 'string' 3 'f' 4 'd' 5 1 6 '.j'} 7 1 8 'old' 9 {1 '.f'}} 7 {}"
     " 9 {1 'Webhook' 2 {2 {1 {1 'ns' 2 'n' 3 '/p' 4 443} 2 x0102 3 'https://u'} 3 'v1'}} 10 1}"
     "3 {1 {1 'Established' 2 'True' 3 {1 1} 4 'R' 5 'M'} 2 {1 'w' 4 'W'} 3 'v1'}",
     "{'metadata':{'name':'w.e','creationTimestamp':null},'spec':{'group':'e','names':{"
     "'plural':'w','singular':'s','shortNames':['sh'],'kind':'W','listKind':'WL',"
     "'categories':['all']},'scope':'Namespaced','versions':[{'name':'v1','served':true,"
     "'storage':true,'deprecated':true,'deprecationWarning':'old','schema':{"
     "'openAPIV3Schema':{'type':'object'}},'subresources':{'status':{},'scale':{"
     "'specReplicasPath':'.s','statusReplicasPath':'.t','labelSelectorPath':'.l'}},"
     "'additionalPrinterColumns':[{'name':'C','type':'string','format':'f','description':'d',"
     "'priority':1,'jsonPath':'.j'}],'selectableFields':[{'jsonPath':'.f'}]},{'name':'',"
     "'served':false,'storage':false}],'conversion':{'strategy':'Webhook','webhook':{"
     "'clientConfig':{'url':'https://u','service':{'namespace':'ns','name':'n','path':'/p',"
     "'port':443},'caBundle':'AQI='},'conversionReviewVersions':['v1']}},"
     "'preserveUnknownFields':true},'status':{'conditions':[{'type':'Established',"
     "'status':'True','lastTransitionTime':'1970-01-01T00:00:01Z','reason':'R','message':'M'}],"
     "'acceptedNames':{'plural':'w','kind':'W'},'storedVersions':['v1']}}"},
    {"apiextensions.k8s.io/v1", "CustomResourceDefinitionList", "", "{" EMPTY_LIST "}"},
    {"apiextensions.k8s.io/v1", "ConversionReview",
     "1 {1 'u' 2 'e/v1' 3 {1 '{}'}} 2 {3 {2 'Success'}}",
     "{'request':{'uid':'u','desiredAPIVersion':'e/v1','objects':[{}]},'response':{'uid':'',"
     "'convertedObjects':null,'result':{'metadata':{},'status':'Success'}}}"},
    {"autoscaling/v1", "Scale", "1 {1 'n'} 2 {1 3} 3 {2 'a=b'}",
     "{'metadata':{'name':'n','creationTimestamp':null},'spec':{'replicas':3},"
     "'status':{'replicas':0,'selector':'a=b'}}"},
    {"meta.k8s.io/v1", "PartialObjectMetadata", "", "{" META "}"},
    {"meta.k8s.io/v1", "PartialObjectMetadataList", "2 {}", "{'metadata':{},'items':[{" META "}]}"},
    {"meta.k8s.io/v1", "TableOptions", "1 'None'", "{'includeObject':'None'}"},
    {"v1", "DeleteOptions", "", "{}"},
    {"coordination.k8s.io/v1", "DeleteOptions",
     "1 0 2 {1 'u' 2 '5'} 3 0 4 'Background' 5 'All' 6 1",
     "{'gracePeriodSeconds':0,'preconditions':{'uid':'u','resourceVersion':'5'},"
     "'orphanDependents':false,'propagationPolicy':'Background','dryRun':['All'],"
     "'ignoreStoreReadErrorWithClusterBreakingPotential':true}"},
    {"v1", "CreateOptions", "1 'All' 3 'm' 4 'Strict'",
     "{'dryRun':['All'],'fieldManager':'m','fieldValidation':'Strict'}"},
    {"v1", "UpdateOptions", "1 'All' 2 'm' 3 'Warn'",
     "{'dryRun':['All'],'fieldManager':'m','fieldValidation':'Warn'}"},
    {"v1", "PatchOptions", "1 'All' 2 0 3 'm' 4 'Warn'",
     "{'dryRun':['All'],'force':false,'fieldManager':'m','fieldValidation':'Warn'}"},
    {"v1", "ApplyOptions", "", "{'force':false,'fieldManager':''}"},
    {"v1", "GetOptions", "1 '3'", "{'resourceVersion':'3'}"},
    {"v1", "ListOptions", "1 'a' 2 'b' 3 1 4 '5' 5 0 7 9 8 'c' 9 1 10 'Exact' 11 0",
     "{'labelSelector':'a','fieldSelector':'b','watch':true,'allowWatchBookmarks':true,"
     "'resourceVersion':'5','resourceVersionMatch':'Exact','timeoutSeconds':0,'limit':9,"
     "'continue':'c','sendInitialEvents':false}"},
    {"v1", "Patch", "", "{}"},
    {"v1", "WatchEvent", "1 'ADDED' 2 {1 '[]'}", "{'type':'ADDED','object':[]}"},
};

static void every_kind_becomes_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        check_message(kinds[i].api_version, kinds[i].kind, kinds[i].text, kinds[i].json);
}

static void every_kind_has_a_case(void **state)
{
    (void)state;
    size_t count;
    const struct vd_protobuf_kind *all = vd_protobuf_kinds(&count);
    for (size_t k = 0; k < count; k++) {
        bool found = false;
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            found |= vd_protobuf_message_find(vd_slice_of(kinds[i].api_version),
                                              vd_slice_of(kinds[i].kind)) == all[k].message;
        if (!found)
            fail_msg("no case for kind %s", all[k].kind);
    }
}

/* --- the tables --- */

static void check_table(const struct vd_protobuf_message *m)
{
    assert_true(m->field_count <= VD_PROTOBUF_FIELDS_MAX);
    if (m->form == VD_PROTOBUF_AS_LIST || m->form == VD_PROTOBUF_AS_RAW)
        assert_int_equal(m->field_count, 1);
    for (size_t i = 0; i < m->field_count; i++) {
        const struct vd_protobuf_field *f = &m->fields[i];
        assert_ptr_equal(vd_protobuf_field_find(m, f->number), f);
        assert_int_equal(f->type == VD_PROTOBUF_MESSAGE, f->message != NULL);
        if (f->shape != VD_PROTOBUF_ONE)
            assert_true(f->type >= VD_PROTOBUF_STRING);
        if (f->message && m->form != VD_PROTOBUF_AS_OBJECT)
            assert_int_equal(f->message->form, VD_PROTOBUF_AS_OBJECT);
        if (f->message && f->shape == VD_PROTOBUF_ONE)
            assert_int_not_equal(f->presence, VD_PROTOBUF_NONZERO);
        for (size_t j = 0; j < i; j++)
            assert_false(vd_slice_eq(f->key, m->fields[j].key));
    }
}

struct walk {
    const struct vd_protobuf_message *seen[256];
    size_t n;
};

static void walk_tables(struct walk *walk, const struct vd_protobuf_message *m)
{
    for (size_t i = 0; i < walk->n; i++)
        if (walk->seen[i] == m)
            return;
    assert_true(walk->n < sizeof walk->seen / sizeof walk->seen[0]);
    walk->seen[walk->n++] = m;
    check_table(m);
    for (size_t i = 0; i < m->field_count; i++)
        if (m->fields[i].message)
            walk_tables(walk, m->fields[i].message);
}

static void the_tables_keep_their_rules(void **state)
{
    (void)state;
    struct walk walk = {.n = 0};
    size_t count;
    const struct vd_protobuf_kind *all = vd_protobuf_kinds(&count);
    for (size_t i = 0; i < count; i++) {
        const struct vd_protobuf_message *m = all[i].message;
        assert_int_equal(m->form, VD_PROTOBUF_AS_OBJECT);
        for (size_t j = 0; j < m->field_count; j++) {
            assert_false(vd_slice_is(m->fields[j].key, "kind"));
            assert_false(vd_slice_is(m->fields[j].key, "apiVersion"));
        }
        walk_tables(&walk, m);
    }
    assert_true(walk.n > 100);
}

static void kinds_are_found_by_version_and_name(void **state)
{
    (void)state;
    const struct vd_protobuf_message *core = vd_protobuf_message_find(VD_SLICE("v1"),
                                                                      VD_SLICE("Event"));
    const struct vd_protobuf_message *events = vd_protobuf_message_find(
        VD_SLICE("events.k8s.io/v1"), VD_SLICE("Event"));
    assert_non_null(core);
    assert_non_null(events);
    assert_ptr_not_equal(core, events);
    assert_null(vd_protobuf_message_find(VD_SLICE("v2"), VD_SLICE("Event")));
    assert_null(vd_protobuf_message_find(VD_SLICE("v1"), VD_SLICE("event")));
    assert_null(vd_protobuf_message_find(VD_SLICE(""), VD_SLICE("")));
    assert_non_null(vd_protobuf_message_find(VD_SLICE("any/v9"), VD_SLICE("DeleteOptions")));
}

/* --- the same fields in the schemas of kinds/ --- */

/* What a client of Kubernetes can say of a kind, its schema must know: otherwise it would be
 * dropped, or refused with fieldValidation=Strict. */
static void check_known(const struct vd_protobuf_message *message, const struct vd_json *schema,
                        const char *where, size_t *missing)
{
    if (message->form != VD_PROTOBUF_AS_OBJECT ||
        vd_json_truth(vd_json_get(schema, VD_SLICE("x-kubernetes-preserve-unknown-fields"))))
        return;
    for (size_t i = 0; i < message->field_count; i++) {
        const struct vd_protobuf_field *f = &message->fields[i];
        const struct vd_json *at = vd_json_get(vd_json_get(schema, VD_SLICE("properties")), f->key);
        char path[256];
        snprintf(path, sizeof path, "%s.%.*s", where, VD_FMT(f->key));
        if (!at) {
            print_message("no %s\n", path);
            ++*missing;
        } else if (f->type == VD_PROTOBUF_MESSAGE) {
            if (f->shape == VD_PROTOBUF_MANY)
                at = vd_json_get(at, VD_SLICE("items"));
            else if (f->shape == VD_PROTOBUF_MAP)
                at = vd_json_get(at, VD_SLICE("additionalProperties"));
            check_known(f->message, at, path, missing);
        }
    }
}

static void schemas_know_every_field(void **state)
{
    struct vd_kinds *registry = vd_kinds_new_builtin();
    struct vd_kind_set *set = vd_kinds_snapshot(registry);
    size_t n, missing = 0, checked = 0;
    struct vd_kind *const *all = vd_kind_set_all(set, &n);
    (void)state;
    for (size_t i = 0; i < n; i++) {
        const struct vd_protobuf_message *m = vd_protobuf_message_find(all[i]->api_version,
                                                                       all[i]->kind);
        const struct vd_json *versions = vd_json_dig(all[i]->document, "spec", "versions", NULL);
        const struct vd_json *schema = vd_json_dig(vd_json_first(versions), "schema",
                                                   "openAPIV3Schema", NULL);
        char name[64];
        if (!m)
            continue;
        snprintf(name, sizeof name, "%.*s", VD_FMT(all[i]->kind));
        for (size_t k = 0; k < m->field_count; k++) {
            const struct vd_protobuf_field *f = &m->fields[k];
            struct vd_protobuf_message one = {m->name, m->form, 1, f};
            if (!vd_slice_is(f->key, "metadata")) /* is every kind's */
                check_known(&one, schema, name, &missing);
        }
        checked++;
    }
    assert_true(checked >= 15);
    assert_int_equal(missing, 0);
    vd_kind_set_unref(set);
    vd_kinds_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_of_kubectl_become_its_json),
        cmocka_unit_test(truncated_bodies_of_kubectl_are_refused),
        cmocka_unit_test(every_kind_becomes_json),
        cmocka_unit_test(every_kind_has_a_case),
        cmocka_unit_test(the_tables_keep_their_rules),
        cmocka_unit_test(schemas_know_every_field),
        cmocka_unit_test(kinds_are_found_by_version_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
