/*
 * See name.h. Kubernetes states these rules as regular expressions and shows
 * them in its messages; here they are loops over bytes.
 */
#include "kinds/name.h"

#include <stdio.h>

#define LABEL_SENTENCE                                                                             \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "   \
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "     \
    "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define SUBDOMAIN_SENTENCE                                                                         \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "   \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "  \
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define DNS1035_SENTENCE                                                                           \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "   \
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "           \
    "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
#define CONFIG_KEY_SENTENCE                                                                        \
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "           \
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

enum {
    LABEL_LEN_MAX = 63,      /* bytes of a DNS label (RFC 1123) */
    SUBDOMAIN_LEN_MAX = 253, /* bytes of a DNS subdomain (RFC 1123) */
};

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* A fault, and the verdict that goes with it. */
static bool fault(struct vd_name_faults *faults, const char *sentence)
{
    if (faults && faults->n < sizeof faults->p / sizeof *faults->p)
        faults->p[faults->n++] = sentence;
    return false;
}

static bool fault_too_long(struct vd_name_faults *faults, size_t len_max)
{
    if (!faults)
        return false;
    snprintf(faults->room, sizeof faults->room, "must be no more than %zu characters", len_max);
    return fault(faults, faults->room);
}

/* Between dots and the ends there are letters and digits; '-' only inside. */
static bool is_subdomain(struct vd_slice s)
{
    char before = '.';
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool inside = before != '.';
        if (!is_lower_alnum(c) && !(c == '-' && inside) && !(c == '.' && is_lower_alnum(before)))
            return false;
        before = c;
    }
    return is_lower_alnum(before);
}

static bool is_label(struct vd_slice s)
{
    return is_subdomain(s) && !memchr(s.p, '.', s.n);
}

static bool check_dns(enum vd_name_rule rule, struct vd_slice name, struct vd_name_faults *faults)
{
    size_t len_max = rule == VD_NAME_SUBDOMAIN ? SUBDOMAIN_LEN_MAX : LABEL_LEN_MAX;
    bool ok = true;
    if (name.n > len_max)
        ok = fault_too_long(faults, len_max);
    if (rule == VD_NAME_SUBDOMAIN && !is_subdomain(name))
        ok = fault(faults, SUBDOMAIN_SENTENCE);
    if (rule == VD_NAME_LABEL && !is_label(name))
        ok = fault(faults, LABEL_SENTENCE);
    if (rule == VD_NAME_DNS1035 && (!is_label(name) || (name.p[0] >= '0' && name.p[0] <= '9')))
        ok = fault(faults, DNS1035_SENTENCE);
    return ok;
}

static bool check_path_segment(struct vd_slice name, struct vd_name_faults *faults)
{
    bool ok = true;
    if (vd_slice_is(name, "."))
        return fault(faults, "may not be '.'");
    if (vd_slice_is(name, ".."))
        return fault(faults, "may not be '..'");
    if (name.n == 0)
        return fault(faults, "must be non-empty");
    if (memchr(name.p, '/', name.n))
        ok = fault(faults, "may not contain '/'");
    if (memchr(name.p, '%', name.n))
        ok = fault(faults, "may not contain '%'");
    return ok;
}

static bool check_config_key(struct vd_slice key, struct vd_name_faults *faults)
{
    bool ok = true;
    if (key.n > SUBDOMAIN_LEN_MAX)
        ok = fault_too_long(faults, SUBDOMAIN_LEN_MAX);
    bool valid = key.n > 0;
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        valid &= is_lower_alnum(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
    }
    if (!valid)
        return fault(faults, CONFIG_KEY_SENTENCE);
    if (vd_slice_is(key, "."))
        return fault(faults, "must not be '.'");
    if (vd_slice_is(key, ".."))
        return fault(faults, "must not be '..'");
    if (vd_slice_starts_with(key, VD_SLICE("..")))
        return fault(faults, "must not start with '..'");
    return ok;
}

bool vd_name_check(enum vd_name_rule rule, struct vd_slice name, struct vd_name_faults *faults)
{
    if (faults)
        faults->n = 0;
    switch (rule) {
    case VD_NAME_PATH_SEGMENT:
        return check_path_segment(name, faults);
    case VD_NAME_CONFIG_KEY:
        return check_config_key(name, faults);
    case VD_NAME_SUBDOMAIN:
    case VD_NAME_LABEL:
    case VD_NAME_DNS1035:
        break;
    }
    return check_dns(rule, name, faults);
}

bool vd_name_prefix_check(enum vd_name_rule rule, struct vd_slice prefix,
                          struct vd_name_faults *faults)
{
    bool dns = rule == VD_NAME_SUBDOMAIN || rule == VD_NAME_LABEL || rule == VD_NAME_DNS1035;
    /* The character that will follow stands in for the '-'. */
    char room[SUBDOMAIN_LEN_MAX + 1];
    if (dns && prefix.n > 1 && prefix.n <= sizeof room && prefix.p[prefix.n - 1] == '-') {
        memcpy(room, prefix.p, prefix.n);
        room[prefix.n - 1] = 'a';
        return vd_name_check(rule, vd_slice(room, prefix.n), faults);
    }
    return vd_name_check(rule, prefix, faults);
}
