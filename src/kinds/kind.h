/*
 * A kind: one version of one CustomResourceDefinition, ready for use.
 *
 * Built-in kinds and custom ones are the same here: a CRD document, with these
 * annotations where Kubernetes' own fields do not reach:
 *
 * for any kind
 *   vedette.dev/spec-owner            api (default) or git
 *   vedette.dev/status-precondition   required: status writes need a resourceVersion
 *   vedette.dev/status-boundary       strict: status writes that touch more are refused
 *   vedette.dev/status-conditions     strict: conditions are True, False or Unknown
 *   vedette.dev/values                hidden: no error text shows a value of an object's fields
 *   vedette.dev/references            which fields refer to other objects: references.h
 *
 * and for built-in ones only, since they reach beyond the kind itself
 *   vedette.dev/verbs                 what can be done, "create get list ..."; default: everything
 *   vedette.dev/names                 subdomain (default), label, dns-1035, path-segment
 *   vedette.dev/schema                advisory: rules check `required` and list types instead
 *   vedette.dev/storage               the plural.group under which objects are stored, if another
 *   vedette.dev/storage-fields        "here=there ...": top-level fields that differ there
 *   vedette.dev/subresource           "serviceaccounts/token": this kind is the body of that
 *   vedette.dev/unconditional-update  allowed: PUT may leave resourceVersion out
 *   vedette.dev/name-column           none: tables have no Name column of their own
 *   vedette.dev/generation            counted: as that of custom kinds is
 *   vedette.dev/behaves-as            custom: in all things as a kind of a definition that a client
 *                                     has sent, and not as Kubernetes' typed kinds
 *
 * A definition's metadata.resourceVersion is the revision up to which objects may have been written
 * under another schema; the registry sees to it that one which stays as it is does not count.
 *
 * A kind is immutable, but for the note in it, and reference counted; any number of threads may use
 * it. All slices and pointers in it live as long as it does.
 */
#ifndef VD_KINDS_KIND_H
#define VD_KINDS_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/refcount.h"
#include "base/slice.h"
#include "kinds/name.h"
#include "kinds/references.h"
#include "kinds/schema.h"
#include "json/document.h"

/* In the order of discovery documents: the alphabet's. */
/* clang-format off */
#define VD_VERBS(X)                          \
    X(CREATE,           "create")            \
    X(DELETE,           "delete")            \
    X(DELETECOLLECTION, "deletecollection")  \
    X(GET,              "get")               \
    X(LIST,             "list")              \
    X(PATCH,            "patch")             \
    X(UPDATE,           "update")            \
    X(WATCH,            "watch")
/* clang-format on */

enum vd_verb_bit {
#define VD_VERB_BIT_ENUM(name, text) VD_VERB_BIT_##name,
    VD_VERBS(VD_VERB_BIT_ENUM)
#undef VD_VERB_BIT_ENUM
        VD_VERB_COUNT
};

/* Sets of verbs: VD_VERB_GET | VD_VERB_LIST. */
enum vd_verb {
#define VD_VERB_ENUM(name, text) VD_VERB_##name = 1 << VD_VERB_BIT_##name,
    VD_VERBS(VD_VERB_ENUM)
#undef VD_VERB_ENUM
        VD_VERB_ALL = (1 << VD_VERB_COUNT) - 1
};

/* "get" and so on; `bit` < VD_VERB_COUNT. */
const char *vd_verb_name(enum vd_verb_bit bit);

/* How the cell of a table is made from the object. */
/* clang-format off */
#define VD_CELLS(X)                                                                              \
    X(PATH,               "path")               /* the value at jsonPath; a date as its age */   \
    X(PATH_OR_NONE,       "path-or-none")       /* the text at jsonPath, or <none> */            \
    X(SHORT_HASH,         "short-hash")         /* the beginning of the commit at jsonPath */    \
    X(COUNT,              "count")              /* members or elements at the paths, summed */   \
    X(REFERENCE,          "reference")          /* Kind/name of the object at the path */        \
    X(LOWER_REFERENCE,    "lower-reference")    /* the same with a small kind: pod/web */        \
    X(LAST_SEEN,          "last-seen")          /* of an Event: age of its newest time */        \
    X(FIRST_SEEN,         "first-seen")         /* of an Event: age of its oldest time */        \
    X(EVENT_SOURCE,       "event-source")       /* of an Event: component, host */               \
    X(EVENT_COUNT,        "event-count")        /* of an Event: series.count, count or 1 */      \
    X(SUBJECT_USERS,      "subject-users")      /* names of the subjects, by their kind */       \
    X(SUBJECT_GROUPS,     "subject-groups")                                                      \
    X(SUBJECT_ACCOUNTS,   "subject-accounts")   /* namespace/name */                             \
    X(SERVICE_EXTERNAL,   "service-external")   /* external addresses of a Service, or <none> */ \
    X(SERVICE_PORTS,      "service-ports")      /* 80:30080/TCP,443/TCP */                       \
    X(LABELS,             "labels")             /* a=b,c=d, or <none> */
/* clang-format on */

enum vd_cell {
#define VD_CELL_ENUM(name, text) VD_CELL_##name,
    VD_CELLS(VD_CELL_ENUM)
#undef VD_CELL_ENUM
};

struct vd_column {
    struct vd_slice name;
    struct vd_slice type;   /* integer, number, string, boolean, date */
    struct vd_slice format; /* may be empty */
    struct vd_slice description;
    int32_t priority; /* above 0: only in wide tables */
    enum vd_cell cell;
    struct vd_slice *paths; /* JSONPath without braces: ".spec.color" */
    size_t path_count;
};

/* A field that field selectors may ask for, beside metadata.name and .namespace. */
struct vd_selectable {
    struct vd_slice name;   /* "spec.color": how selectors call it */
    struct vd_slice stored; /* where it is in what is stored: "spec.color", or "a.b|c", the first
                               of several that is there (vd_attributes_first_field) */
};

struct vd_scale {
    struct vd_slice spec_replicas;
    struct vd_slice status_replicas;
    struct vd_slice label_selector; /* may be empty */
};

/* A top-level field that has another name in storage. */
struct vd_storage_field {
    struct vd_slice here;
    struct vd_slice there;
};

/* The schema of another version of the same definition. */
struct vd_sibling {
    struct vd_slice api_version;
    struct vd_schema *schema; /* one reference */
};

/* A CRD document, kept for all kinds that are made of it. */
struct vd_kind_source;

struct vd_kind {
    struct vd_slice group;       /* empty: the core group */
    struct vd_slice version;     /* "v1" */
    struct vd_slice api_version; /* "v1", "example.com/v1" */
    struct vd_slice kind;        /* "ConfigMap" */
    struct vd_slice list_kind;   /* "ConfigMapList" */
    struct vd_slice plural;      /* "configmaps" */
    struct vd_slice singular;    /* "configmap" */
    struct vd_slice resource;    /* "configmaps", "widgets.example.com": see store/key.h */
    struct vd_slice subresource; /* "serviceaccounts/token", or empty */
    struct vd_slice *short_names, *categories;
    size_t short_name_count, category_count;
    bool namespaced;
    bool builtin; /* compiled in: no definition replaces it */
    bool native;  /* compiled in, and with the manners of Kubernetes' own typed kinds */
    bool served;
    bool stored; /* false: only answered, as reviews are */
    bool storage_version;
    bool terminating;       /* its definition is being deleted: no new objects */
    bool converts;          /* stored bytes may be in another version's form: kinds/served_form.h */
    bool webhook;           /* only a webhook turns one version into another: kinds/webhook.h */
    bool counts_generation; /* metadata.generation grows with changes outside status */
    bool deprecated;
    struct vd_slice deprecation_warning; /* never empty when deprecated */
    uint32_t verbs;                      /* set of enum vd_verb */
    enum vd_name_rule name_rule;
    struct vd_column *columns; /* of the CRD; an Age column if it has none */
    size_t column_count;
    struct vd_selectable *selectable;
    size_t selectable_count;
    struct vd_storage_field *storage_fields;
    size_t storage_field_count;
    struct vd_reference_field *references; /* fields that name other objects */
    size_t reference_count;
    bool unconditional_update;
    bool spec_owned_by_git;
    bool status_needs_version;
    bool status_boundary_strict;
    bool status_conditions_strict;
    bool hides_values;     /* of fields other than metadata, in what is said of an object */
    bool preserve_unknown; /* spec.preserveUnknownFields: nothing is pruned */
    bool schemas_differ;   /* between versions: what was written through another may be other */
    bool name_column;
    bool has_status, has_scale;
    struct vd_scale scale;
    uint64_t schema_since; /* objects written up to this revision may be as an older schema wanted
                              them; 0: none are */
    struct vd_slice definition_uid; /* of the stored definition; empty: it is none */
    /* The newest version of that which somebody has seen alive, 0 at first: a note for
     * whoever asks again. */
    _Atomic uint64_t *definition_alive;
    struct vd_schema *schema;
    struct vd_sibling *siblings; /* of the other versions, if schemas_differ */
    size_t sibling_count;
    const struct vd_json *document; /* the whole CRD, in `source` */
    struct vd_kind_source *source;

    struct vd_refcount refs;
    struct vd_arena arena;
};

struct vd_kind_options {
    bool builtin;
    struct vd_schema *metadata; /* the schema of ObjectMeta, borrowed for the call */
};

/* Copies the document: one reference. */
struct vd_kind_source *vd_kind_source_new(const struct vd_json *document) VD_MUST_USE;
void vd_kind_source_unref(struct vd_kind_source *source);

/*
 * Makes the kind of one version of the CRD document, of which it takes a reference. *out
 * is one reference. VD_ERR_INVALID with the place when the document is no CRD that can be
 * served; VD_ERR_NOT_FOUND when it has no such version.
 */
int vd_kind_new(struct vd_kind **out, struct vd_kind_source *source, struct vd_slice version,
                const struct vd_kind_options *options, struct vd_error *error) VD_MUST_USE;

/* Tells the kind, which nobody else has yet, of the other versions of its definition. */
void vd_kind_introduce(struct vd_kind *kind, struct vd_kind *const *versions, size_t n);

/* The schema by which an object was written that says to be of this version. */
const struct vd_schema *vd_kind_schema_of(const struct vd_kind *kind, struct vd_slice api_version);

struct vd_kind *vd_kind_ref(struct vd_kind *kind);

/* Drops a reference; the last one frees. NULL is harmless. */
void vd_kind_unref(struct vd_kind *kind);

/* The field that selectors call `name`: where it is in what is stored, also for metadata.name
 * and metadata.namespace. False: it cannot be selected by. */
bool vd_kind_selectable(const struct vd_kind *kind, struct vd_slice name, struct vd_slice *stored);

/* Kubernetes' order of versions, newest and most stable first: v2 before v1 before
 * v1beta2 before v1alpha1 before anything else. <0, 0, >0. */
int vd_version_cmp(struct vd_slice a, struct vd_slice b);

#endif
