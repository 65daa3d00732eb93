/* See key.h. */
#include "store/key.h"

#include <assert.h>

static int part_check(const char *what, struct vd_slice part, size_t len_max,
                      struct vd_error *error)
{
    if (part.n > len_max)
        return vd_error_set(error, VD_ERR_LIMIT, "%s is %zu bytes long; at most %zu are allowed",
                            what, part.n, len_max);
    for (size_t i = 0; i < part.n; i++) {
        unsigned char c = (unsigned char)part.p[i];
        if (c < 0x20 || c == 0x7f || c == '/')
            return vd_error_set(error, VD_ERR_INVALID,
                                "%s holds the byte 0x%02x at position %zu; control characters and "
                                "'/' are not allowed",
                                what, c, i);
    }
    return VD_OK;
}

int vd_key_check(const struct vd_key *key, struct vd_error *error)
{
    if (key->resource.n == 0)
        return vd_error_set(error, VD_ERR_INVALID, "the kind is empty");
    if (key->name.n == 0)
        return vd_error_set(error, VD_ERR_INVALID, "the name is empty");
    int code = part_check("the kind", key->resource, VD_RESOURCE_LEN_MAX, error);
    if (!code)
        code = part_check("the namespace", key->namespace, VD_NAMESPACE_LEN_MAX, error);
    if (!code)
        code = part_check("the name", key->name, VD_NAME_LEN_MAX, error);
    return code;
}

struct vd_slice vd_key_path(struct vd_path *room, const struct vd_key *key)
{
    size_t n = key->namespace.n + 1 + key->name.n;
    assert(n <= sizeof room->bytes);
    if (key->namespace.n)
        memcpy(room->bytes, key->namespace.p, key->namespace.n);
    room->bytes[key->namespace.n] = '/';
    memcpy(room->bytes + key->namespace.n + 1, key->name.p, key->name.n);
    return vd_slice(room->bytes, n);
}
