/*
 * The tables of Kubernetes' protobuf messages, and of the kinds made of them.
 *
 * How to read a line:
 *
 *     ONE(1, "name", STRING, NONZERO)          a scalar: number, JSON name, type, presence
 *     MANY(14, "finalizers", STRING, NONZERO)  an array of scalars
 *     MAP(11, "labels", STRING, NONZERO)       an object of scalars
 *     SUB(2, "spec", lease_spec, ALWAYS)       a message
 *     SUBS, SUB_MAP                            an array and an object of messages
 *
 * Lines stand in the order of Kubernetes' JSON, which is that of its Go structs
 * and not that of the numbers. The presence follows from the Go type and its
 * tag; protobuf_schema.h says how. Enumerations are strings.
 *
 * A message comes before those that refer to it. Only messages that some kind
 * at the end of the file reaches have a table.
 */
#include "kube/protobuf/schema.h"

/* clang-format off */
#define FIELD(number, name, type, shape, presence, message) \
    {number, type, VD_PROTOBUF_##shape, VD_PROTOBUF_##presence, VD_SLICE(name), message}
#define ONE(number, name, type, presence) \
    FIELD(number, name, VD_PROTOBUF_##type, ONE, presence, NULL)
#define MANY(number, name, type, presence) \
    FIELD(number, name, VD_PROTOBUF_##type, MANY, presence, NULL)
#define MAP(number, name, type, presence) \
    FIELD(number, name, VD_PROTOBUF_##type, MAP, presence, NULL)
#define SUB(number, name, message, presence) \
    FIELD(number, name, VD_PROTOBUF_MESSAGE, ONE, presence, &message)
#define SUBS(number, name, message, presence) \
    FIELD(number, name, VD_PROTOBUF_MESSAGE, MANY, presence, &message)
#define SUB_MAP(number, name, message, presence) \
    FIELD(number, name, VD_PROTOBUF_MESSAGE, MAP, presence, &message)

#define MESSAGE(variable, name, form, ...) \
    static const struct vd_protobuf_field variable##_fields[] = {__VA_ARGS__}; \
    static const struct vd_protobuf_message variable = { \
        name, VD_PROTOBUF_AS_##form, \
        sizeof variable##_fields / sizeof variable##_fields[0], variable##_fields}
#define EMPTY_MESSAGE(variable, name) \
    static const struct vd_protobuf_message variable = {name, VD_PROTOBUF_AS_OBJECT, 0, NULL}

/* --- messages that are no objects in JSON --- */

MESSAGE(second_time, "Time", TIME,
    ONE(1, "seconds", INT64, NONZERO), ONE(2, "nanos", INT32, NONZERO));
MESSAGE(micro_time, "MicroTime", MICRO_TIME,
    ONE(1, "seconds", INT64, NONZERO), ONE(2, "nanos", INT32, NONZERO));
MESSAGE(int_or_string, "IntOrString", INT_OR_STRING,
    ONE(1, "type", INT64, NONZERO), ONE(2, "intVal", INT32, NONZERO),
    ONE(3, "strVal", STRING, NONZERO));
MESSAGE(raw_extension, "RawExtension", RAW, ONE(1, "raw", BYTES, NONZERO));
MESSAGE(fields_v1, "FieldsV1", RAW, ONE(1, "Raw", BYTES, NONZERO));
MESSAGE(json, "JSON", RAW, ONE(1, "raw", BYTES, NONZERO));
MESSAGE(extra_value, "ExtraValue", LIST, MANY(1, "items", STRING, ALWAYS));
MESSAGE(verbs, "Verbs", LIST, MANY(1, "items", STRING, ALWAYS));

/* --- meta.k8s.io/v1 --- */

MESSAGE(list_meta, "ListMeta", OBJECT,
    ONE(1, "selfLink", STRING, NONZERO),
    ONE(2, "resourceVersion", STRING, NONZERO),
    ONE(3, "continue", STRING, NONZERO),
    ONE(4, "remainingItemCount", INT64, PRESENT));
MESSAGE(owner_reference, "OwnerReference", OBJECT,
    ONE(5, "apiVersion", STRING, ALWAYS),
    ONE(1, "kind", STRING, ALWAYS),
    ONE(3, "name", STRING, ALWAYS),
    ONE(4, "uid", STRING, ALWAYS),
    ONE(6, "controller", BOOL, PRESENT),
    ONE(7, "blockOwnerDeletion", BOOL, PRESENT));
MESSAGE(managed_fields_entry, "ManagedFieldsEntry", OBJECT,
    ONE(1, "manager", STRING, NONZERO),
    ONE(2, "operation", STRING, NONZERO),
    ONE(3, "apiVersion", STRING, NONZERO),
    SUB(4, "time", second_time, PRESENT),
    ONE(6, "fieldsType", STRING, NONZERO),
    SUB(7, "fieldsV1", fields_v1, PRESENT),
    ONE(8, "subresource", STRING, NONZERO));
MESSAGE(object_meta, "ObjectMeta", OBJECT,
    ONE(1, "name", STRING, NONZERO),
    ONE(2, "generateName", STRING, NONZERO),
    ONE(3, "namespace", STRING, NONZERO),
    ONE(4, "selfLink", STRING, NONZERO),
    ONE(5, "uid", STRING, NONZERO),
    ONE(6, "resourceVersion", STRING, NONZERO),
    ONE(7, "generation", INT64, NONZERO),
    SUB(8, "creationTimestamp", second_time, ALWAYS),
    SUB(9, "deletionTimestamp", second_time, PRESENT),
    ONE(10, "deletionGracePeriodSeconds", INT64, PRESENT),
    MAP(11, "labels", STRING, NONZERO),
    MAP(12, "annotations", STRING, NONZERO),
    SUBS(13, "ownerReferences", owner_reference, NONZERO),
    MANY(14, "finalizers", STRING, NONZERO),
    SUBS(17, "managedFields", managed_fields_entry, NONZERO));
MESSAGE(condition, "Condition", OBJECT,
    ONE(1, "type", STRING, ALWAYS),
    ONE(2, "status", STRING, ALWAYS),
    ONE(3, "observedGeneration", INT64, NONZERO),
    SUB(4, "lastTransitionTime", second_time, ALWAYS),
    ONE(5, "reason", STRING, ALWAYS),
    ONE(6, "message", STRING, ALWAYS));
MESSAGE(label_selector_requirement, "LabelSelectorRequirement", OBJECT,
    ONE(1, "key", STRING, ALWAYS),
    ONE(2, "operator", STRING, ALWAYS),
    MANY(3, "values", STRING, NONZERO));
MESSAGE(field_selector_requirement, "FieldSelectorRequirement", OBJECT,
    ONE(1, "key", STRING, ALWAYS),
    ONE(2, "operator", STRING, ALWAYS),
    MANY(3, "values", STRING, NONZERO));
MESSAGE(label_selector, "LabelSelector", OBJECT,
    MAP(1, "matchLabels", STRING, NONZERO),
    SUBS(2, "matchExpressions", label_selector_requirement, NONZERO));
MESSAGE(preconditions, "Preconditions", OBJECT,
    ONE(1, "uid", STRING, PRESENT),
    ONE(2, "resourceVersion", STRING, PRESENT));
MESSAGE(delete_options, "DeleteOptions", OBJECT,
    ONE(1, "gracePeriodSeconds", INT64, PRESENT),
    SUB(2, "preconditions", preconditions, PRESENT),
    ONE(3, "orphanDependents", BOOL, PRESENT),
    ONE(4, "propagationPolicy", STRING, PRESENT),
    MANY(5, "dryRun", STRING, NONZERO),
    ONE(6, "ignoreStoreReadErrorWithClusterBreakingPotential", BOOL, PRESENT));
MESSAGE(create_options, "CreateOptions", OBJECT,
    MANY(1, "dryRun", STRING, NONZERO),
    ONE(3, "fieldManager", STRING, NONZERO),
    ONE(4, "fieldValidation", STRING, NONZERO));
MESSAGE(update_options, "UpdateOptions", OBJECT,
    MANY(1, "dryRun", STRING, NONZERO),
    ONE(2, "fieldManager", STRING, NONZERO),
    ONE(3, "fieldValidation", STRING, NONZERO));
MESSAGE(patch_options, "PatchOptions", OBJECT,
    MANY(1, "dryRun", STRING, NONZERO),
    ONE(2, "force", BOOL, PRESENT),
    ONE(3, "fieldManager", STRING, NONZERO),
    ONE(4, "fieldValidation", STRING, NONZERO));
MESSAGE(apply_options, "ApplyOptions", OBJECT,
    MANY(1, "dryRun", STRING, NONZERO),
    ONE(2, "force", BOOL, ALWAYS),
    ONE(3, "fieldManager", STRING, ALWAYS));
MESSAGE(get_options, "GetOptions", OBJECT, ONE(1, "resourceVersion", STRING, NONZERO));
MESSAGE(list_options, "ListOptions", OBJECT,
    ONE(1, "labelSelector", STRING, NONZERO),
    ONE(2, "fieldSelector", STRING, NONZERO),
    ONE(3, "watch", BOOL, NONZERO),
    ONE(9, "allowWatchBookmarks", BOOL, NONZERO),
    ONE(4, "resourceVersion", STRING, NONZERO),
    ONE(10, "resourceVersionMatch", STRING, NONZERO),
    ONE(5, "timeoutSeconds", INT64, PRESENT),
    ONE(7, "limit", INT64, NONZERO),
    ONE(8, "continue", STRING, NONZERO),
    ONE(11, "sendInitialEvents", BOOL, PRESENT));
MESSAGE(table_options, "TableOptions", OBJECT, ONE(1, "includeObject", STRING, NONZERO));
EMPTY_MESSAGE(patch, "Patch");
MESSAGE(status_cause, "StatusCause", OBJECT,
    ONE(1, "reason", STRING, NONZERO),
    ONE(2, "message", STRING, NONZERO),
    ONE(3, "field", STRING, NONZERO));
MESSAGE(status_details, "StatusDetails", OBJECT,
    ONE(1, "name", STRING, NONZERO),
    ONE(2, "group", STRING, NONZERO),
    ONE(3, "kind", STRING, NONZERO),
    ONE(6, "uid", STRING, NONZERO),
    SUBS(4, "causes", status_cause, NONZERO),
    ONE(5, "retryAfterSeconds", INT32, NONZERO));
MESSAGE(status, "Status", OBJECT,
    SUB(1, "metadata", list_meta, ALWAYS),
    ONE(2, "status", STRING, NONZERO),
    ONE(3, "message", STRING, NONZERO),
    ONE(4, "reason", STRING, NONZERO),
    SUB(5, "details", status_details, PRESENT),
    ONE(6, "code", INT32, NONZERO));
MESSAGE(list, "List", OBJECT,
    SUB(1, "metadata", list_meta, ALWAYS),
    SUBS(2, "items", raw_extension, ALWAYS));
MESSAGE(partial_object_metadata, "PartialObjectMetadata", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS));
MESSAGE(partial_object_metadata_list, "PartialObjectMetadataList", OBJECT,
    SUB(1, "metadata", list_meta, ALWAYS),
    SUBS(2, "items", partial_object_metadata, ALWAYS));
MESSAGE(watch_event, "WatchEvent", OBJECT,
    ONE(1, "type", STRING, ALWAYS),
    SUB(2, "object", raw_extension, ALWAYS));

/* discovery */
MESSAGE(group_version_for_discovery, "GroupVersionForDiscovery", OBJECT,
    ONE(1, "groupVersion", STRING, ALWAYS),
    ONE(2, "version", STRING, ALWAYS));
MESSAGE(server_address_by_client_cidr, "ServerAddressByClientCIDR", OBJECT,
    ONE(1, "clientCIDR", STRING, ALWAYS),
    ONE(2, "serverAddress", STRING, ALWAYS));
MESSAGE(api_group, "APIGroup", OBJECT,
    ONE(1, "name", STRING, ALWAYS),
    SUBS(2, "versions", group_version_for_discovery, ALWAYS),
    SUB(3, "preferredVersion", group_version_for_discovery, ALWAYS),
    SUBS(4, "serverAddressByClientCIDRs", server_address_by_client_cidr, NONZERO));
MESSAGE(api_group_list, "APIGroupList", OBJECT, SUBS(1, "groups", api_group, ALWAYS));
MESSAGE(api_resource, "APIResource", OBJECT,
    ONE(1, "name", STRING, ALWAYS),
    ONE(6, "singularName", STRING, ALWAYS),
    ONE(2, "namespaced", BOOL, ALWAYS),
    ONE(8, "group", STRING, NONZERO),
    ONE(9, "version", STRING, NONZERO),
    ONE(3, "kind", STRING, ALWAYS),
    SUB(4, "verbs", verbs, OR_NULL),
    MANY(5, "shortNames", STRING, NONZERO),
    MANY(7, "categories", STRING, NONZERO),
    ONE(10, "storageVersionHash", STRING, NONZERO));
MESSAGE(api_resource_list, "APIResourceList", OBJECT,
    ONE(1, "groupVersion", STRING, ALWAYS),
    SUBS(2, "resources", api_resource, ALWAYS));
MESSAGE(api_versions, "APIVersions", OBJECT,
    MANY(1, "versions", STRING, ALWAYS),
    SUBS(2, "serverAddressByClientCIDRs", server_address_by_client_cidr, ALWAYS));
MESSAGE(root_paths, "RootPaths", OBJECT, MANY(1, "paths", STRING, ALWAYS));

/* --- v1 --- */

MESSAGE(config_map, "ConfigMap", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    ONE(4, "immutable", BOOL, PRESENT),
    MAP(2, "data", STRING, NONZERO),
    MAP(3, "binaryData", BYTES, NONZERO));
MESSAGE(config_map_list, "ConfigMapList", OBJECT,
    SUB(1, "metadata", list_meta, ALWAYS),
    SUBS(2, "items", config_map, ALWAYS));
MESSAGE(secret, "Secret", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    ONE(5, "immutable", BOOL, PRESENT),
    MAP(2, "data", BYTES, NONZERO),
    MAP(4, "stringData", STRING, NONZERO),
    ONE(3, "type", STRING, NONZERO));
MESSAGE(namespace_spec, "NamespaceSpec", OBJECT, MANY(1, "finalizers", STRING, NONZERO));
MESSAGE(namespace_condition, "NamespaceCondition", OBJECT,
    ONE(1, "type", STRING, ALWAYS),
    ONE(2, "status", STRING, ALWAYS),
    SUB(4, "lastTransitionTime", second_time, ALWAYS),
    ONE(5, "reason", STRING, NONZERO),
    ONE(6, "message", STRING, NONZERO));
MESSAGE(namespace_status, "NamespaceStatus", OBJECT,
    ONE(1, "phase", STRING, NONZERO),
    SUBS(2, "conditions", namespace_condition, NONZERO));
MESSAGE(namespace, "Namespace", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUB(2, "spec", namespace_spec, ALWAYS),
    SUB(3, "status", namespace_status, ALWAYS));
MESSAGE(object_reference, "ObjectReference", OBJECT,
    ONE(1, "kind", STRING, NONZERO),
    ONE(2, "namespace", STRING, NONZERO),
    ONE(3, "name", STRING, NONZERO),
    ONE(4, "uid", STRING, NONZERO),
    ONE(5, "apiVersion", STRING, NONZERO),
    ONE(6, "resourceVersion", STRING, NONZERO),
    ONE(7, "fieldPath", STRING, NONZERO));
MESSAGE(local_object_reference, "LocalObjectReference", OBJECT, ONE(1, "name", STRING, NONZERO));
MESSAGE(service_account, "ServiceAccount", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUBS(2, "secrets", object_reference, NONZERO),
    SUBS(3, "imagePullSecrets", local_object_reference, NONZERO),
    ONE(4, "automountServiceAccountToken", BOOL, PRESENT));
MESSAGE(event_source, "EventSource", OBJECT,
    ONE(1, "component", STRING, NONZERO),
    ONE(2, "host", STRING, NONZERO));
MESSAGE(event_series, "EventSeries", OBJECT,
    ONE(1, "count", INT32, NONZERO),
    SUB(2, "lastObservedTime", micro_time, ALWAYS));
MESSAGE(event, "Event", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUB(2, "involvedObject", object_reference, ALWAYS),
    ONE(3, "reason", STRING, NONZERO),
    ONE(4, "message", STRING, NONZERO),
    SUB(5, "source", event_source, ALWAYS),
    SUB(6, "firstTimestamp", second_time, ALWAYS),
    SUB(7, "lastTimestamp", second_time, ALWAYS),
    ONE(8, "count", INT32, NONZERO),
    ONE(9, "type", STRING, NONZERO),
    SUB(10, "eventTime", micro_time, ALWAYS),
    SUB(11, "series", event_series, PRESENT),
    ONE(12, "action", STRING, NONZERO),
    SUB(13, "related", object_reference, PRESENT),
    ONE(14, "reportingComponent", STRING, ALWAYS),
    ONE(15, "reportingInstance", STRING, ALWAYS));
MESSAGE(service_port, "ServicePort", OBJECT,
    ONE(1, "name", STRING, NONZERO),
    ONE(2, "protocol", STRING, NONZERO),
    ONE(6, "appProtocol", STRING, PRESENT),
    ONE(3, "port", INT32, ALWAYS),
    SUB(4, "targetPort", int_or_string, ALWAYS),
    ONE(5, "nodePort", INT32, NONZERO));
MESSAGE(client_ip_config, "ClientIPConfig", OBJECT, ONE(1, "timeoutSeconds", INT32, PRESENT));
MESSAGE(session_affinity_config, "SessionAffinityConfig", OBJECT,
    SUB(1, "clientIP", client_ip_config, PRESENT));
MESSAGE(service_spec, "ServiceSpec", OBJECT,
    SUBS(1, "ports", service_port, NONZERO),
    MAP(2, "selector", STRING, NONZERO),
    ONE(3, "clusterIP", STRING, NONZERO),
    MANY(18, "clusterIPs", STRING, NONZERO),
    ONE(4, "type", STRING, NONZERO),
    MANY(5, "externalIPs", STRING, NONZERO),
    ONE(7, "sessionAffinity", STRING, NONZERO),
    ONE(8, "loadBalancerIP", STRING, NONZERO),
    MANY(9, "loadBalancerSourceRanges", STRING, NONZERO),
    ONE(10, "externalName", STRING, NONZERO),
    ONE(11, "externalTrafficPolicy", STRING, NONZERO),
    ONE(12, "healthCheckNodePort", INT32, NONZERO),
    ONE(13, "publishNotReadyAddresses", BOOL, NONZERO),
    SUB(14, "sessionAffinityConfig", session_affinity_config, PRESENT),
    MANY(19, "ipFamilies", STRING, NONZERO),
    ONE(17, "ipFamilyPolicy", STRING, PRESENT),
    ONE(20, "allocateLoadBalancerNodePorts", BOOL, PRESENT),
    ONE(21, "loadBalancerClass", STRING, PRESENT),
    ONE(22, "internalTrafficPolicy", STRING, PRESENT),
    ONE(23, "trafficDistribution", STRING, PRESENT));
MESSAGE(port_status, "PortStatus", OBJECT,
    ONE(1, "port", INT32, ALWAYS),
    ONE(2, "protocol", STRING, ALWAYS),
    ONE(3, "error", STRING, PRESENT));
MESSAGE(load_balancer_ingress, "LoadBalancerIngress", OBJECT,
    ONE(1, "ip", STRING, NONZERO),
    ONE(2, "hostname", STRING, NONZERO),
    ONE(3, "ipMode", STRING, PRESENT),
    SUBS(4, "ports", port_status, NONZERO));
MESSAGE(load_balancer_status, "LoadBalancerStatus", OBJECT,
    SUBS(1, "ingress", load_balancer_ingress, NONZERO));
MESSAGE(service_status, "ServiceStatus", OBJECT,
    SUB(1, "loadBalancer", load_balancer_status, ALWAYS),
    SUBS(2, "conditions", condition, NONZERO));
MESSAGE(service, "Service", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUB(2, "spec", service_spec, ALWAYS),
    SUB(3, "status", service_status, ALWAYS));

/* --- coordination.k8s.io/v1 --- */

MESSAGE(lease_spec, "LeaseSpec", OBJECT,
    ONE(1, "holderIdentity", STRING, PRESENT),
    ONE(2, "leaseDurationSeconds", INT32, PRESENT),
    SUB(3, "acquireTime", micro_time, PRESENT),
    SUB(4, "renewTime", micro_time, PRESENT),
    ONE(5, "leaseTransitions", INT32, PRESENT),
    ONE(6, "strategy", STRING, PRESENT),
    ONE(7, "preferredHolder", STRING, PRESENT));
MESSAGE(lease, "Lease", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUB(2, "spec", lease_spec, ALWAYS));
MESSAGE(lease_list, "LeaseList", OBJECT,
    SUB(1, "metadata", list_meta, ALWAYS),
    SUBS(2, "items", lease, ALWAYS));

/* --- events.k8s.io/v1 --- */

MESSAGE(events_event_series, "EventSeries", OBJECT,
    ONE(1, "count", INT32, ALWAYS),
    SUB(2, "lastObservedTime", micro_time, ALWAYS));
MESSAGE(events_event, "Event", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUB(2, "eventTime", micro_time, ALWAYS),
    SUB(3, "series", events_event_series, PRESENT),
    ONE(4, "reportingController", STRING, NONZERO),
    ONE(5, "reportingInstance", STRING, NONZERO),
    ONE(6, "action", STRING, NONZERO),
    ONE(7, "reason", STRING, NONZERO),
    SUB(8, "regarding", object_reference, ALWAYS),
    SUB(9, "related", object_reference, PRESENT),
    ONE(10, "note", STRING, NONZERO),
    ONE(11, "type", STRING, NONZERO),
    SUB(12, "deprecatedSource", event_source, ALWAYS),
    SUB(13, "deprecatedFirstTimestamp", second_time, ALWAYS),
    SUB(14, "deprecatedLastTimestamp", second_time, ALWAYS),
    ONE(15, "deprecatedCount", INT32, NONZERO));
MESSAGE(events_event_list, "EventList", OBJECT,
    SUB(1, "metadata", list_meta, ALWAYS),
    SUBS(2, "items", events_event, ALWAYS));

/* --- authentication.k8s.io/v1 --- */

MESSAGE(user_info, "UserInfo", OBJECT,
    ONE(1, "username", STRING, NONZERO),
    ONE(2, "uid", STRING, NONZERO),
    MANY(3, "groups", STRING, NONZERO),
    SUB_MAP(4, "extra", extra_value, NONZERO));
MESSAGE(bound_object_reference, "BoundObjectReference", OBJECT,
    ONE(1, "kind", STRING, NONZERO),
    ONE(2, "apiVersion", STRING, NONZERO),
    ONE(3, "name", STRING, NONZERO),
    ONE(4, "uid", STRING, NONZERO));
MESSAGE(token_request_spec, "TokenRequestSpec", OBJECT,
    MANY(1, "audiences", STRING, ALWAYS),
    ONE(4, "expirationSeconds", INT64, OR_NULL),
    SUB(3, "boundObjectRef", bound_object_reference, OR_NULL));
MESSAGE(token_request_status, "TokenRequestStatus", OBJECT,
    ONE(1, "token", STRING, ALWAYS),
    SUB(2, "expirationTimestamp", second_time, ALWAYS));
MESSAGE(token_request, "TokenRequest", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUB(2, "spec", token_request_spec, ALWAYS),
    SUB(3, "status", token_request_status, ALWAYS));
MESSAGE(token_review_spec, "TokenReviewSpec", OBJECT,
    ONE(1, "token", STRING, NONZERO),
    MANY(2, "audiences", STRING, NONZERO));
MESSAGE(token_review_status, "TokenReviewStatus", OBJECT,
    ONE(1, "authenticated", BOOL, NONZERO),
    SUB(2, "user", user_info, ALWAYS),
    MANY(4, "audiences", STRING, NONZERO),
    ONE(3, "error", STRING, NONZERO));
MESSAGE(token_review, "TokenReview", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUB(2, "spec", token_review_spec, ALWAYS),
    SUB(3, "status", token_review_status, ALWAYS));
MESSAGE(self_subject_review_status, "SelfSubjectReviewStatus", OBJECT,
    SUB(1, "userInfo", user_info, ALWAYS));
MESSAGE(self_subject_review, "SelfSubjectReview", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUB(2, "status", self_subject_review_status, ALWAYS));

/* --- authorization.k8s.io/v1 --- */

MESSAGE(field_selector_attributes, "FieldSelectorAttributes", OBJECT,
    ONE(1, "rawSelector", STRING, NONZERO),
    SUBS(2, "requirements", field_selector_requirement, NONZERO));
MESSAGE(label_selector_attributes, "LabelSelectorAttributes", OBJECT,
    ONE(1, "rawSelector", STRING, NONZERO),
    SUBS(2, "requirements", label_selector_requirement, NONZERO));
MESSAGE(resource_attributes, "ResourceAttributes", OBJECT,
    ONE(1, "namespace", STRING, NONZERO),
    ONE(2, "verb", STRING, NONZERO),
    ONE(3, "group", STRING, NONZERO),
    ONE(4, "version", STRING, NONZERO),
    ONE(5, "resource", STRING, NONZERO),
    ONE(6, "subresource", STRING, NONZERO),
    ONE(7, "name", STRING, NONZERO),
    SUB(8, "fieldSelector", field_selector_attributes, PRESENT),
    SUB(9, "labelSelector", label_selector_attributes, PRESENT));
MESSAGE(non_resource_attributes, "NonResourceAttributes", OBJECT,
    ONE(1, "path", STRING, NONZERO),
    ONE(2, "verb", STRING, NONZERO));
MESSAGE(subject_access_review_spec, "SubjectAccessReviewSpec", OBJECT,
    SUB(1, "resourceAttributes", resource_attributes, PRESENT),
    SUB(2, "nonResourceAttributes", non_resource_attributes, PRESENT),
    ONE(3, "user", STRING, NONZERO),
    MANY(4, "groups", STRING, NONZERO),
    SUB_MAP(5, "extra", extra_value, NONZERO),
    ONE(6, "uid", STRING, NONZERO));
MESSAGE(self_subject_access_review_spec, "SelfSubjectAccessReviewSpec", OBJECT,
    SUB(1, "resourceAttributes", resource_attributes, PRESENT),
    SUB(2, "nonResourceAttributes", non_resource_attributes, PRESENT));
MESSAGE(subject_access_review_status, "SubjectAccessReviewStatus", OBJECT,
    ONE(1, "allowed", BOOL, ALWAYS),
    ONE(4, "denied", BOOL, NONZERO),
    ONE(2, "reason", STRING, NONZERO),
    ONE(3, "evaluationError", STRING, NONZERO));
MESSAGE(subject_access_review, "SubjectAccessReview", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUB(2, "spec", subject_access_review_spec, ALWAYS),
    SUB(3, "status", subject_access_review_status, ALWAYS));
MESSAGE(local_subject_access_review, "LocalSubjectAccessReview", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUB(2, "spec", subject_access_review_spec, ALWAYS),
    SUB(3, "status", subject_access_review_status, ALWAYS));
MESSAGE(self_subject_access_review, "SelfSubjectAccessReview", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUB(2, "spec", self_subject_access_review_spec, ALWAYS),
    SUB(3, "status", subject_access_review_status, ALWAYS));
MESSAGE(resource_rule, "ResourceRule", OBJECT,
    MANY(1, "verbs", STRING, ALWAYS),
    MANY(2, "apiGroups", STRING, NONZERO),
    MANY(3, "resources", STRING, NONZERO),
    MANY(4, "resourceNames", STRING, NONZERO));
MESSAGE(non_resource_rule, "NonResourceRule", OBJECT,
    MANY(1, "verbs", STRING, ALWAYS),
    MANY(2, "nonResourceURLs", STRING, NONZERO));
MESSAGE(subject_rules_review_status, "SubjectRulesReviewStatus", OBJECT,
    SUBS(1, "resourceRules", resource_rule, ALWAYS),
    SUBS(2, "nonResourceRules", non_resource_rule, ALWAYS),
    ONE(3, "incomplete", BOOL, ALWAYS),
    ONE(4, "evaluationError", STRING, NONZERO));
MESSAGE(self_subject_rules_review_spec, "SelfSubjectRulesReviewSpec", OBJECT,
    ONE(1, "namespace", STRING, NONZERO));
MESSAGE(self_subject_rules_review, "SelfSubjectRulesReview", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUB(2, "spec", self_subject_rules_review_spec, ALWAYS),
    SUB(3, "status", subject_rules_review_status, ALWAYS));

/* --- rbac.authorization.k8s.io/v1 --- */

MESSAGE(policy_rule, "PolicyRule", OBJECT,
    MANY(1, "verbs", STRING, ALWAYS),
    MANY(2, "apiGroups", STRING, NONZERO),
    MANY(3, "resources", STRING, NONZERO),
    MANY(4, "resourceNames", STRING, NONZERO),
    MANY(5, "nonResourceURLs", STRING, NONZERO));
MESSAGE(aggregation_rule, "AggregationRule", OBJECT,
    SUBS(1, "clusterRoleSelectors", label_selector, NONZERO));
MESSAGE(role, "Role", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUBS(2, "rules", policy_rule, ALWAYS));
MESSAGE(role_list, "RoleList", OBJECT,
    SUB(1, "metadata", list_meta, ALWAYS),
    SUBS(2, "items", role, ALWAYS));
MESSAGE(cluster_role, "ClusterRole", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUBS(2, "rules", policy_rule, ALWAYS),
    SUB(3, "aggregationRule", aggregation_rule, PRESENT));
MESSAGE(cluster_role_list, "ClusterRoleList", OBJECT,
    SUB(1, "metadata", list_meta, ALWAYS),
    SUBS(2, "items", cluster_role, ALWAYS));
MESSAGE(subject, "Subject", OBJECT,
    ONE(1, "kind", STRING, ALWAYS),
    ONE(2, "apiGroup", STRING, NONZERO),
    ONE(3, "name", STRING, ALWAYS),
    ONE(4, "namespace", STRING, NONZERO));
MESSAGE(role_ref, "RoleRef", OBJECT,
    ONE(1, "apiGroup", STRING, ALWAYS),
    ONE(2, "kind", STRING, ALWAYS),
    ONE(3, "name", STRING, ALWAYS));
MESSAGE(role_binding, "RoleBinding", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUBS(2, "subjects", subject, NONZERO),
    SUB(3, "roleRef", role_ref, ALWAYS));
MESSAGE(role_binding_list, "RoleBindingList", OBJECT,
    SUB(1, "metadata", list_meta, ALWAYS),
    SUBS(2, "items", role_binding, ALWAYS));
MESSAGE(cluster_role_binding, "ClusterRoleBinding", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUBS(2, "subjects", subject, NONZERO),
    SUB(3, "roleRef", role_ref, ALWAYS));
MESSAGE(cluster_role_binding_list, "ClusterRoleBindingList", OBJECT,
    SUB(1, "metadata", list_meta, ALWAYS),
    SUBS(2, "items", cluster_role_binding, ALWAYS));

/* --- apiextensions.k8s.io/v1 --- */

/* A schema holds schemas. */
static const struct vd_protobuf_message json_schema_props;

MESSAGE(json_schema_props_or_bool, "JSONSchemaPropsOrBool", CHOICE,
    SUB(2, "schema", json_schema_props, PRESENT),
    ONE(1, "allows", BOOL, ALWAYS));
MESSAGE(json_schema_props_or_array, "JSONSchemaPropsOrArray", CHOICE,
    SUBS(2, "jSONSchemas", json_schema_props, NONZERO),
    SUB(1, "schema", json_schema_props, OR_NULL));
MESSAGE(json_schema_props_or_string_array, "JSONSchemaPropsOrStringArray", CHOICE,
    MANY(2, "property", STRING, NONZERO),
    SUB(1, "schema", json_schema_props, OR_NULL));
MESSAGE(external_documentation, "ExternalDocumentation", OBJECT,
    ONE(1, "description", STRING, NONZERO),
    ONE(2, "url", STRING, NONZERO));
MESSAGE(validation_rule, "ValidationRule", OBJECT,
    ONE(1, "rule", STRING, ALWAYS),
    ONE(2, "message", STRING, NONZERO),
    ONE(3, "messageExpression", STRING, NONZERO),
    ONE(4, "reason", STRING, PRESENT),
    ONE(5, "fieldPath", STRING, NONZERO),
    ONE(6, "optionalOldSelf", BOOL, PRESENT));
MESSAGE(json_schema_props, "JSONSchemaProps", OBJECT,
    ONE(1, "id", STRING, NONZERO),
    ONE(2, "$schema", STRING, NONZERO),
    ONE(3, "$ref", STRING, PRESENT),
    ONE(4, "description", STRING, NONZERO),
    ONE(5, "type", STRING, NONZERO),
    ONE(6, "format", STRING, NONZERO),
    ONE(7, "title", STRING, NONZERO),
    SUB(8, "default", json, PRESENT),
    ONE(9, "maximum", DOUBLE, PRESENT),
    ONE(10, "exclusiveMaximum", BOOL, NONZERO),
    ONE(11, "minimum", DOUBLE, PRESENT),
    ONE(12, "exclusiveMinimum", BOOL, NONZERO),
    ONE(13, "maxLength", INT64, PRESENT),
    ONE(14, "minLength", INT64, PRESENT),
    ONE(15, "pattern", STRING, NONZERO),
    ONE(16, "maxItems", INT64, PRESENT),
    ONE(17, "minItems", INT64, PRESENT),
    ONE(18, "uniqueItems", BOOL, NONZERO),
    ONE(19, "multipleOf", DOUBLE, PRESENT),
    SUBS(20, "enum", json, NONZERO),
    ONE(21, "maxProperties", INT64, PRESENT),
    ONE(22, "minProperties", INT64, PRESENT),
    MANY(23, "required", STRING, NONZERO),
    SUB(24, "items", json_schema_props_or_array, PRESENT),
    SUBS(25, "allOf", json_schema_props, NONZERO),
    SUBS(26, "oneOf", json_schema_props, NONZERO),
    SUBS(27, "anyOf", json_schema_props, NONZERO),
    SUB(28, "not", json_schema_props, PRESENT),
    SUB_MAP(29, "properties", json_schema_props, NONZERO),
    SUB(30, "additionalProperties", json_schema_props_or_bool, PRESENT),
    SUB_MAP(31, "patternProperties", json_schema_props, NONZERO),
    SUB_MAP(32, "dependencies", json_schema_props_or_string_array, NONZERO),
    SUB(33, "additionalItems", json_schema_props_or_bool, PRESENT),
    SUB_MAP(34, "definitions", json_schema_props, NONZERO),
    SUB(35, "externalDocs", external_documentation, PRESENT),
    SUB(36, "example", json, PRESENT),
    ONE(37, "nullable", BOOL, NONZERO),
    ONE(38, "x-kubernetes-preserve-unknown-fields", BOOL, PRESENT),
    ONE(39, "x-kubernetes-embedded-resource", BOOL, NONZERO),
    ONE(40, "x-kubernetes-int-or-string", BOOL, NONZERO),
    MANY(41, "x-kubernetes-list-map-keys", STRING, NONZERO),
    ONE(42, "x-kubernetes-list-type", STRING, PRESENT),
    ONE(43, "x-kubernetes-map-type", STRING, PRESENT),
    SUBS(44, "x-kubernetes-validations", validation_rule, NONZERO));
MESSAGE(custom_resource_validation, "CustomResourceValidation", OBJECT,
    SUB(1, "openAPIV3Schema", json_schema_props, PRESENT));
EMPTY_MESSAGE(custom_resource_subresource_status, "CustomResourceSubresourceStatus");
MESSAGE(custom_resource_subresource_scale, "CustomResourceSubresourceScale", OBJECT,
    ONE(1, "specReplicasPath", STRING, ALWAYS),
    ONE(2, "statusReplicasPath", STRING, ALWAYS),
    ONE(3, "labelSelectorPath", STRING, PRESENT));
MESSAGE(custom_resource_subresources, "CustomResourceSubresources", OBJECT,
    SUB(1, "status", custom_resource_subresource_status, PRESENT),
    SUB(2, "scale", custom_resource_subresource_scale, PRESENT));
MESSAGE(custom_resource_column_definition, "CustomResourceColumnDefinition", OBJECT,
    ONE(1, "name", STRING, ALWAYS),
    ONE(2, "type", STRING, ALWAYS),
    ONE(3, "format", STRING, NONZERO),
    ONE(4, "description", STRING, NONZERO),
    ONE(5, "priority", INT32, NONZERO),
    ONE(6, "jsonPath", STRING, ALWAYS));
MESSAGE(selectable_field, "SelectableField", OBJECT, ONE(1, "jsonPath", STRING, ALWAYS));
MESSAGE(custom_resource_definition_version, "CustomResourceDefinitionVersion", OBJECT,
    ONE(1, "name", STRING, ALWAYS),
    ONE(2, "served", BOOL, ALWAYS),
    ONE(3, "storage", BOOL, ALWAYS),
    ONE(7, "deprecated", BOOL, NONZERO),
    ONE(8, "deprecationWarning", STRING, PRESENT),
    SUB(4, "schema", custom_resource_validation, PRESENT),
    SUB(5, "subresources", custom_resource_subresources, PRESENT),
    SUBS(6, "additionalPrinterColumns", custom_resource_column_definition, NONZERO),
    SUBS(9, "selectableFields", selectable_field, NONZERO));
MESSAGE(service_reference, "ServiceReference", OBJECT,
    ONE(1, "namespace", STRING, ALWAYS),
    ONE(2, "name", STRING, ALWAYS),
    ONE(3, "path", STRING, PRESENT),
    ONE(4, "port", INT32, PRESENT));
MESSAGE(webhook_client_config, "WebhookClientConfig", OBJECT,
    ONE(3, "url", STRING, PRESENT),
    SUB(1, "service", service_reference, PRESENT),
    ONE(2, "caBundle", BYTES, NONZERO));
MESSAGE(webhook_conversion, "WebhookConversion", OBJECT,
    SUB(2, "clientConfig", webhook_client_config, PRESENT),
    MANY(3, "conversionReviewVersions", STRING, ALWAYS));
MESSAGE(custom_resource_conversion, "CustomResourceConversion", OBJECT,
    ONE(1, "strategy", STRING, ALWAYS),
    SUB(2, "webhook", webhook_conversion, PRESENT));
MESSAGE(custom_resource_definition_names, "CustomResourceDefinitionNames", OBJECT,
    ONE(1, "plural", STRING, ALWAYS),
    ONE(2, "singular", STRING, NONZERO),
    MANY(3, "shortNames", STRING, NONZERO),
    ONE(4, "kind", STRING, ALWAYS),
    ONE(5, "listKind", STRING, NONZERO),
    MANY(6, "categories", STRING, NONZERO));
MESSAGE(custom_resource_definition_spec, "CustomResourceDefinitionSpec", OBJECT,
    ONE(1, "group", STRING, ALWAYS),
    SUB(3, "names", custom_resource_definition_names, ALWAYS),
    ONE(4, "scope", STRING, ALWAYS),
    SUBS(7, "versions", custom_resource_definition_version, ALWAYS),
    SUB(9, "conversion", custom_resource_conversion, PRESENT),
    ONE(10, "preserveUnknownFields", BOOL, NONZERO));
MESSAGE(custom_resource_definition_condition, "CustomResourceDefinitionCondition", OBJECT,
    ONE(1, "type", STRING, ALWAYS),
    ONE(2, "status", STRING, ALWAYS),
    SUB(3, "lastTransitionTime", second_time, ALWAYS),
    ONE(4, "reason", STRING, NONZERO),
    ONE(5, "message", STRING, NONZERO));
MESSAGE(custom_resource_definition_status, "CustomResourceDefinitionStatus", OBJECT,
    SUBS(1, "conditions", custom_resource_definition_condition, ALWAYS),
    SUB(2, "acceptedNames", custom_resource_definition_names, ALWAYS),
    MANY(3, "storedVersions", STRING, ALWAYS));
MESSAGE(custom_resource_definition, "CustomResourceDefinition", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUB(2, "spec", custom_resource_definition_spec, ALWAYS),
    SUB(3, "status", custom_resource_definition_status, ALWAYS));
MESSAGE(custom_resource_definition_list, "CustomResourceDefinitionList", OBJECT,
    SUB(1, "metadata", list_meta, ALWAYS),
    SUBS(2, "items", custom_resource_definition, ALWAYS));
MESSAGE(conversion_request, "ConversionRequest", OBJECT,
    ONE(1, "uid", STRING, ALWAYS),
    ONE(2, "desiredAPIVersion", STRING, ALWAYS),
    SUBS(3, "objects", raw_extension, ALWAYS));
MESSAGE(conversion_response, "ConversionResponse", OBJECT,
    ONE(1, "uid", STRING, ALWAYS),
    SUBS(2, "convertedObjects", raw_extension, ALWAYS),
    SUB(3, "result", status, ALWAYS));
MESSAGE(conversion_review, "ConversionReview", OBJECT,
    SUB(1, "request", conversion_request, PRESENT),
    SUB(2, "response", conversion_response, PRESENT));

/* --- autoscaling/v1 --- */

MESSAGE(scale_spec, "ScaleSpec", OBJECT, ONE(1, "replicas", INT32, NONZERO));
MESSAGE(scale_status, "ScaleStatus", OBJECT,
    ONE(1, "replicas", INT32, ALWAYS),
    ONE(2, "selector", STRING, NONZERO));
MESSAGE(scale, "Scale", OBJECT,
    SUB(1, "metadata", object_meta, ALWAYS),
    SUB(2, "spec", scale_spec, ALWAYS),
    SUB(3, "status", scale_status, ALWAYS));

/* --- kinds --- */

#define AUTHENTICATION "authentication.k8s.io/v1"
#define AUTHORIZATION  "authorization.k8s.io/v1"
#define RBAC           "rbac.authorization.k8s.io/v1"
#define APIEXTENSIONS  "apiextensions.k8s.io/v1"

static const struct vd_protobuf_kind kinds[] = {
    {"v1", "Namespace", &namespace},
    {"v1", "ConfigMap", &config_map},
    {"v1", "ConfigMapList", &config_map_list},
    {"v1", "Secret", &secret},
    {"v1", "ServiceAccount", &service_account},
    {"v1", "Service", &service},
    {"v1", "Event", &event},
    {"v1", "Status", &status},
    {"v1", "List", &list},
    {"v1", "APIGroup", &api_group},
    {"v1", "APIGroupList", &api_group_list},
    {"v1", "APIResourceList", &api_resource_list},
    {"v1", "APIVersions", &api_versions},
    {"v1", "RootPaths", &root_paths},
    {"coordination.k8s.io/v1", "Lease", &lease},
    {"coordination.k8s.io/v1", "LeaseList", &lease_list},
    {"events.k8s.io/v1", "Event", &events_event},
    {"events.k8s.io/v1", "EventList", &events_event_list},
    {AUTHENTICATION, "TokenRequest", &token_request},
    {AUTHENTICATION, "TokenReview", &token_review},
    {AUTHENTICATION, "SelfSubjectReview", &self_subject_review},
    {AUTHORIZATION, "SubjectAccessReview", &subject_access_review},
    {AUTHORIZATION, "LocalSubjectAccessReview", &local_subject_access_review},
    {AUTHORIZATION, "SelfSubjectAccessReview", &self_subject_access_review},
    {AUTHORIZATION, "SelfSubjectRulesReview", &self_subject_rules_review},
    {RBAC, "Role", &role},
    {RBAC, "RoleList", &role_list},
    {RBAC, "ClusterRole", &cluster_role},
    {RBAC, "ClusterRoleList", &cluster_role_list},
    {RBAC, "RoleBinding", &role_binding},
    {RBAC, "RoleBindingList", &role_binding_list},
    {RBAC, "ClusterRoleBinding", &cluster_role_binding},
    {RBAC, "ClusterRoleBindingList", &cluster_role_binding_list},
    {APIEXTENSIONS, "CustomResourceDefinition", &custom_resource_definition},
    {APIEXTENSIONS, "CustomResourceDefinitionList", &custom_resource_definition_list},
    {APIEXTENSIONS, "ConversionReview", &conversion_review},
    {"autoscaling/v1", "Scale", &scale},
    {"meta.k8s.io/v1", "PartialObjectMetadata", &partial_object_metadata},
    {"meta.k8s.io/v1", "PartialObjectMetadataList", &partial_object_metadata_list},
    {"meta.k8s.io/v1", "TableOptions", &table_options},
    {NULL, "DeleteOptions", &delete_options},
    {NULL, "CreateOptions", &create_options},
    {NULL, "UpdateOptions", &update_options},
    {NULL, "PatchOptions", &patch_options},
    {NULL, "ApplyOptions", &apply_options},
    {NULL, "GetOptions", &get_options},
    {NULL, "ListOptions", &list_options},
    {NULL, "Patch", &patch},
    {NULL, "WatchEvent", &watch_event},
};
/* clang-format on */

const struct vd_protobuf_kind *vd_protobuf_kinds(size_t *count)
{
    *count = sizeof kinds / sizeof kinds[0];
    return kinds;
}

const struct vd_protobuf_message *vd_protobuf_message_find(struct vd_slice api_version,
                                                           struct vd_slice kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (vd_slice_is(kind, kinds[i].kind) &&
            (!kinds[i].api_version || vd_slice_is(api_version, kinds[i].api_version)))
            return kinds[i].message;
    return NULL;
}

const struct vd_protobuf_field *vd_protobuf_field_find(const struct vd_protobuf_message *message,
                                                       uint32_t number)
{
    for (size_t i = 0; i < message->field_count; i++)
        if (message->fields[i].number == number)
            return &message->fields[i];
    return NULL;
}
