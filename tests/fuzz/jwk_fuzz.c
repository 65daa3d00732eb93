/*
 * What an issuer sends, from arbitrary bytes: a JWK set, a discovery document, an answer's head.
 *
 * Properties: nothing crashes; a refusal has a sentence; a set that is taken has keys, each with an
 * algorithm of its own, and equals itself; a head lies within the bytes.
 */
#include "auth/jwk.h"

#include "auth/oidc.h"
#include "fuzz.h"
#include "net/http_answer.h"

static void try_keys(struct vd_slice text)
{
    struct vd_key_set *set = NULL;
    struct vd_error error = {0};
    int code = vd_key_set_parse(&set, text, &error);
    FUZZ_CHECK((code == VD_OK) == (set != NULL));
    FUZZ_CHECK(!code || error.text[0]);
    if (!set)
        return;
    FUZZ_CHECK(set->n > 0 && vd_key_set_eq(set, set));
    for (size_t i = 0; i < set->n; i++) {
        FUZZ_CHECK(vd_signing_key_alg(set->keys[i]) < VD_KEY_ALGS);
        FUZZ_CHECK(vd_key_set_has_id(set, vd_signing_key_id(set->keys[i])));
        FUZZ_CHECK(!vd_signing_key_verifies(set->keys[i], text, text));
    }
    vd_key_set_unref(set);
}

static void try_discovery(struct vd_slice text)
{
    struct vd_oidc_issuer issuer = {.url = VD_SLICE("https://a.example")};
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_slice url = {0};
    int code = vd_oidc_discover(&issuer, text, &arena, &url, &error);
    FUZZ_CHECK(code ? error.text[0] != 0 : vd_oidc_url_is_safe(url));
    vd_arena_release(&arena);
}

static void try_head(struct vd_slice bytes)
{
    struct vd_http_answer_head head;
    struct vd_error error = {0};
    int rc = vd_http_answer_parse(&head, bytes, &error);
    FUZZ_CHECK(rc >= -1 && rc <= 1);
    FUZZ_CHECK(rc != -1 || error.text[0]);
    FUZZ_CHECK(rc != 1 || (head.used <= bytes.n && head.status >= 100 && head.status <= 599 &&
                           !(head.has_length && head.chunked)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice bytes = vd_slice(data, size);
    try_keys(bytes);
    try_discovery(bytes);
    try_head(bytes);
    return 0;
}
