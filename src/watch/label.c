/*
 * See label.h.
 *
 * Kubernetes states these rules as regular expressions and shows them in its
 * messages. The checks here are hand-written equivalents: one pass, no
 * backtracking. The sentences are those of Kubernetes 1.32, doubled blanks
 * included, because people search for them and clients' tests compare them.
 */
#include "watch/label.h"

enum {
    NAME_LEN_MAX = 63,       /* of a key's name part and of a value */
    SUBDOMAIN_LEN_MAX = 253, /* of a key's prefix part */
};

#define NAME_REGEX "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define NAME_CHARACTERS                                                                            \
    "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "         \
    "alphanumeric character"
#define NAME_SENTENCE                                                                              \
    "must " NAME_CHARACTERS " (e.g. 'MyName',  or 'my.name',  or '123-abc', "                      \
    "regex used for validation is '" NAME_REGEX "')"
#define VALUE_SENTENCE                                                                             \
    "a valid label must be an empty string or " NAME_CHARACTERS                                    \
    " (e.g. 'MyValue',  or 'my_value',  or '12345', "                                              \
    "regex used for validation is '(" NAME_REGEX ")?')"
#define SUBDOMAIN_SENTENCE                                                                         \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "   \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', "             \
    "regex used for validation is "                                                                \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

/* Not isalnum(): that one depends on the locale. */
static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static bool is_name(struct vd_slice s)
{
    if (s.n == 0 || !is_alnum(s.p[0]) || !is_alnum(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '_' && s.p[i] != '.')
            return false;
    return true;
}

/* Between dots and the ends there must be letters and digits; '-' only inside. */
static bool is_subdomain(struct vd_slice s)
{
    char before = '.';
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool inside = is_lower_alnum(before) || before == '-';
        if (!is_lower_alnum(c) && !(c == '-' && inside) && !(c == '.' && is_lower_alnum(before)))
            return false;
        before = c;
    }
    return is_lower_alnum(before);
}

/* Adds one sentence to *why and returns false, so that a check can return its result. */
static bool complain(struct vd_buf *why, const char *part, const char *sentence)
{
    if (!why)
        return false;
    if (why->n > 0)
        vd_buf_add_text(why, "; ");
    vd_buf_add_text(why, part);
    vd_buf_add_text(why, sentence);
    return false;
}

static bool prefix_check(struct vd_slice prefix, struct vd_buf *why)
{
    bool ok = true;
    if (prefix.n == 0)
        return complain(why, "prefix part ", "must be non-empty");
    if (prefix.n > SUBDOMAIN_LEN_MAX)
        ok = complain(why, "prefix part ", "must be no more than 253 characters");
    if (!is_subdomain(prefix))
        ok = complain(why, "prefix part ", SUBDOMAIN_SENTENCE);
    return ok;
}

bool vd_label_key_check(struct vd_slice key, struct vd_buf *why)
{
    bool ok = true;
    struct vd_slice name = key;
    const char *slash = key.n ? memchr(key.p, '/', key.n) : NULL;
    if (slash) {
        struct vd_slice prefix = vd_slice(key.p, (size_t)(slash - key.p));
        name = vd_slice_from(key, prefix.n + 1);
        if (name.n && memchr(name.p, '/', name.n))
            return complain(why, "a qualified name ",
                            NAME_SENTENCE " with an optional DNS subdomain prefix and '/' "
                                          "(e.g. 'example.com/MyName')");
        ok = prefix_check(prefix, why);
    }
    if (name.n == 0)
        ok = complain(why, "name part ", "must be non-empty");
    else if (name.n > NAME_LEN_MAX)
        ok = complain(why, "name part ", "must be no more than 63 characters");
    if (!is_name(name))
        ok = complain(why, "name part ", NAME_SENTENCE);
    return ok;
}

bool vd_label_value_check(struct vd_slice value, struct vd_buf *why)
{
    bool ok = true;
    if (value.n > NAME_LEN_MAX)
        ok = complain(why, "", "must be no more than 63 characters");
    if (value.n > 0 && !is_name(value))
        ok = complain(why, "", VALUE_SENTENCE);
    return ok;
}
