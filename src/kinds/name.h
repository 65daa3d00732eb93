/*
 * What names may look like: the rules that kinds choose from, in Kubernetes'
 * words.
 */
#ifndef VD_KINDS_NAME_H
#define VD_KINDS_NAME_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/slice.h"
#include "base/vec.h"

enum vd_name_rule {
    VD_NAME_SUBDOMAIN,    /* DNS-1123 subdomain: most kinds */
    VD_NAME_LABEL,        /* DNS-1123 label: namespaces */
    VD_NAME_DNS1035,      /* DNS-1035 label: services */
    VD_NAME_PATH_SEGMENT, /* anything that can stand between two '/': RBAC */
    VD_NAME_CONFIG_KEY,   /* the keys of ConfigMaps and Secrets */
};

/* Everything that is wrong with a name; each sentence is a literal or lives in
 * `room`. */
struct vd_name_faults {
    const char *p[4];
    size_t n;
    char room[96];
};

/* True when the name follows the rule; if not, the reasons are in *faults (NULL
 * allowed). An empty name breaks every rule. */
bool vd_name_check(enum vd_name_rule rule, struct vd_slice name, struct vd_name_faults *faults);

/* The same for a generateName: a '-' at its end does not count, since more
 * follows. */
bool vd_name_prefix_check(enum vd_name_rule rule, struct vd_slice prefix,
                          struct vd_name_faults *faults);

#endif
