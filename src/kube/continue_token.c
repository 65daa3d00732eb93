/* See continue_token.h. */
#include "kube/continue_token.h"

#include "api/read.h"
#include "base/base64.h"
#include "json/parse.h"
#include "json/write.h"

void vd_continue_token_write(struct vd_buf *out, uint64_t revision, struct vd_slice after)
{
    struct vd_arena arena = {0};
    struct vd_buf json = {0};
    struct vd_json *token = vd_json_object(&arena);
    vd_json_add_ref(token, VD_SLICE("v"), vd_json_string_ref(&arena, VD_SLICE("meta.k8s.io/v1")));
    vd_json_add_ref(token, VD_SLICE("rv"),
                    revision ? vd_json_u64(&arena, revision) : vd_json_i64(&arena, -1));
    vd_json_add_ref(token, VD_SLICE("start"), vd_json_string_ref(&arena, after));
    vd_json_write(&json, token);
    vd_base64_encode(out, vd_buf_slice(&json), VD_BASE64_URL);
    vd_buf_release(&json);
    vd_arena_release(&arena);
}

static int bad(struct vd_error *error)
{
    return vd_error_set(error, VD_ERR_INVALID,
                        "invalid continue token: continue key is not valid: it is not one that "
                        "this server gave");
}

static bool is_dots(struct vd_slice part)
{
    return vd_slice_is(part, ".") || vd_slice_is(part, "..");
}

/* Whether it is the path of an object that the list could have shown. */
static bool is_start(struct vd_slice path, struct vd_continue_scope scope)
{
    struct vd_slice name = path, namespace;
    if (!vd_slice_cut(&name, '/', &namespace) || !name.p)
        return false;
    struct vd_key key = {VD_SLICE("any"), namespace, name};
    return (namespace.n != 0) == scope.namespaced && !vd_key_check(&key, NULL) &&
           !is_dots(namespace) && !is_dots(name) &&
           (!scope.namespace.n || vd_slice_eq(namespace, scope.namespace));
}

int vd_continue_token_read(struct vd_arena *arena, struct vd_slice token,
                           struct vd_continue_scope scope, uint64_t *revision,
                           struct vd_slice *after, struct vd_error *error)
{
    struct vd_buf bytes = {0};
    struct vd_json *doc = NULL;
    int64_t rv = 0;
    int code = VD_OK;
    if (vd_base64_decode(&bytes, token, VD_BASE64_URL) != 0 ||
        vd_json_parse_copy(arena, vd_buf_slice(&bytes), NULL, &doc, NULL) != VD_OK ||
        !vd_slice_is(vd_json_text(vd_json_get(doc, VD_SLICE("v"))), "meta.k8s.io/v1") ||
        !vd_json_to_i64(vd_json_get(doc, VD_SLICE("rv")), &rv) || rv == 0 || rv < -1)
        code = bad(error);
    vd_buf_release(&bytes);
    if (code)
        return code;
    *revision = rv > 0 ? (uint64_t)rv : 0;
    *after = vd_json_text(vd_json_get(doc, VD_SLICE("start")));
    return is_start(*after, scope) ? VD_OK : bad(error);
}
