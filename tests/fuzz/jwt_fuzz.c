/*
 * JSON web tokens from arbitrary bytes, and from arbitrary claims.
 *
 * Properties: parsing and verifying never crash; a refusal has a sentence and
 * opens no claims; nothing passes that the key did not sign. The input is tried
 * as a whole token, and, if it is JSON, as the claims of a token that is truly
 * signed: then what was signed is what comes back.
 */
#include "auth/jwt.h"

#include "fuzz.h"
#include "json/parse.h"
#include "json/write.h"

static int verify(struct vd_signing_key *key, struct vd_arena *arena, struct vd_slice token,
                  struct vd_jwt *jwt)
{
    struct vd_error error = {0};
    struct vd_slice audience = VD_SLICE("api");
    int code = vd_jwt_parse(jwt, arena, token, &error);
    if (!code)
        code = vd_jwt_verify(jwt,
                             &(struct vd_jwt_expected){.keys = &key,
                                                       .keys_n = 1,
                                                       .issuer = VD_SLICE("i"),
                                                       .audiences = &audience,
                                                       .audiences_n = 1,
                                                       .now_ms = 1794735590000},
                             &error);
    FUZZ_CHECK(!code || (code == (int)error.code && error.text[0]));
    FUZZ_CHECK((jwt->claims != NULL) == !code);
    return code;
}

static void try_claims(struct vd_signing_key *key, struct vd_arena *arena, struct vd_slice text)
{
    struct vd_json *claims;
    struct vd_jwt jwt;
    struct vd_buf token = {0}, was = {0}, is = {0};
    if (vd_json_parse(arena, text, NULL, &claims, NULL) == VD_OK &&
        vd_jwt_sign(&token, key, claims, NULL) == VD_OK &&
        verify(key, arena, vd_buf_slice(&token), &jwt) == VD_OK) {
        vd_json_write(&was, claims);
        vd_json_write(&is, jwt.claims);
        FUZZ_CHECK(vd_slice_eq(vd_buf_slice(&was), vd_buf_slice(&is)));
        FUZZ_CHECK(jwt.expires_ms > 0 && jwt.issued_ms >= 0);
    }
    vd_buf_release(&token);
    vd_buf_release(&was);
    vd_buf_release(&is);
}

/* One key for the whole run: making one costs more than a thousand inputs. */
static struct vd_signing_key *key_of_run(void)
{
    static struct vd_signing_key *key;
    if (!key)
        key = vd_signing_key_generate();
    return key;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_arena arena = {0};
    struct vd_signing_key *key = key_of_run();
    struct vd_jwt jwt;
    /* No input can be signed by a key that is made after it. */
    FUZZ_CHECK(verify(key, &arena, vd_slice(data, size), &jwt) != VD_OK);
    try_claims(key, &arena, vd_slice(data, size));
    vd_arena_release(&arena);
    return 0;
}
