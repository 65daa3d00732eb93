/*
 * Content-Type, Accept and Accept-Encoding from arbitrary bytes.
 *
 * Properties: slices lie inside the header; types are tokens, subtypes nearly;
 * ranges come best first; a range alone is read as itself; parameters of a type
 * that was accepted can be asked for.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "net/http_token.h"
#include "net/media_type.h"

/* A token, in which Kubernetes' clients also send '@'. */
static bool is_subtype(struct vd_slice text)
{
    struct vd_slice part;
    bool ok = text.n > 0;
    while (ok && vd_slice_cut(&text, '@', &part))
        ok = part.n == 0 || vd_http_token_is(part);
    return ok;
}

static void check_inside(struct vd_slice part, struct vd_slice text)
{
    FUZZ_CHECK(part.n == 0 || (part.p >= text.p && part.p + part.n <= text.p + text.n));
}

static void check_type(struct vd_arena *a, const struct vd_media_type *m, struct vd_slice text)
{
    static const struct vd_slice names[] = {VD_SLICE("q"), VD_SLICE("as"), VD_SLICE("charset")};
    FUZZ_CHECK(vd_http_token_is(m->type) && is_subtype(m->subtype));
    FUZZ_CHECK(m->quality <= VD_QUALITY_MAX);
    check_inside(m->type, text);
    check_inside(m->subtype, text);
    check_inside(m->params, text);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct vd_slice value;
        if (vd_media_type_param(m, names[i], a, &value))
            FUZZ_CHECK(value.n < text.n);
    }
}

static void check_alone(const struct vd_media_type *m)
{
    struct vd_buf text = {0};
    struct vd_accept accept;
    vd_buf_add_slice(&text, m->type);
    vd_buf_add_char(&text, '/');
    vd_buf_add_slice(&text, m->subtype);
    vd_buf_add_slice(&text, m->params);
    vd_accept_init(&accept);
    FUZZ_CHECK(vd_accept_add(&accept, vd_buf_slice(&text), NULL) == VD_OK);
    FUZZ_CHECK(accept.n == 1 && accept.ranges[0].quality == m->quality);
    FUZZ_CHECK(vd_media_type_is(&accept.ranges[0], m->type, m->subtype));
    vd_buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice text = vd_slice(data, size);
    struct vd_arena a = {0};
    struct vd_media_type m;
    struct vd_accept accept;
    struct vd_error error;
    if (vd_media_type_parse(&m, text, &error) == VD_OK)
        check_type(&a, &m, text);
    vd_accept_init(&accept);
    int code = vd_accept_add(&accept, text, &error);
    FUZZ_CHECK(code == VD_OK || (code == VD_ERR_LIMIT && accept.n == VD_ACCEPT_RANGES_MAX));
    for (size_t i = 0; i < accept.n; i++) {
        check_type(&a, &accept.ranges[i], text);
        check_alone(&accept.ranges[i]);
        FUZZ_CHECK(i == 0 || accept.ranges[i - 1].quality >= accept.ranges[i].quality);
    }
    (void)vd_accept_encoding_gzip(text);
    vd_arena_release(&a);
    return 0;
}
