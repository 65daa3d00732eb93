/* See jwt.h. A token is `header.claims.signature`, each in base64url; the
 * signature is over the first two with the dot between them. */
#include "auth/jwt.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/limits.h"
#include "json/escape.h"
#include "json/parse.h"
#include "json/write.h"

/* The end of the year 9999: later times are mistakes or attempts to overflow. */
static const int64_t seconds_max = INT64_C(253402300799);

/* ---- taking apart ---- */

static int decode(struct vd_arena *arena, struct vd_slice text, struct vd_slice *bytes)
{
    struct vd_buf out = {0};
    int bad = vd_base64_decode(&out, text, VD_BASE64_URL);
    if (!bad)
        *bytes = vd_arena_copy(arena, vd_buf_slice(&out));
    vd_buf_release(&out);
    return bad;
}

static const struct vd_json *parse_object(struct vd_arena *arena, struct vd_slice text)
{
    struct vd_json_options strict = {.depth_max = VD_JWT_DEPTH_MAX,
                                     .duplicates = VD_JSON_DUPLICATES_REJECT};
    struct vd_slice bytes;
    struct vd_json *object;
    if (decode(arena, text, &bytes) || vd_json_parse(arena, bytes, &strict, &object, NULL) ||
        !vd_json_is(object, VD_JSON_OBJECT))
        return NULL;
    return object;
}

/* The text of a member that may be missing; false when it is no text. */
static bool optional_text(const struct vd_json *object, struct vd_slice key, struct vd_slice *out)
{
    const struct vd_json *v = vd_json_get(object, key);
    *out = v ? vd_json_text(v) : vd_slice("", 0);
    return !v || vd_json_is(v, VD_JSON_STRING);
}

static int parse_header(struct vd_jwt *jwt, const struct vd_json *header, struct vd_error *error)
{
    if (!header)
        return vd_error_set(error, VD_ERR_INVALID, "the token's header is not JSON in base64url");
    if (vd_json_get(header, VD_SLICE("crit")))
        return vd_error_set(error, VD_ERR_INVALID,
                            "the token's header has critical extensions; none is supported");
    if (!optional_text(header, VD_SLICE("alg"), &jwt->alg) || !jwt->alg.n ||
        !optional_text(header, VD_SLICE("kid"), &jwt->kid))
        return vd_error_set(error, VD_ERR_INVALID,
                            "the token's header does not name its algorithm and key");
    return VD_OK;
}

/* Exactly three parts. */
static bool split(struct vd_slice token, struct vd_slice parts[3])
{
    struct vd_slice rest = token, surplus;
    for (int i = 0; i < 3; i++)
        if (!vd_slice_cut(&rest, '.', &parts[i]))
            return false;
    return !vd_slice_cut(&rest, '.', &surplus);
}

int vd_jwt_parse(struct vd_jwt *jwt, struct vd_arena *arena, struct vd_slice token,
                 struct vd_error *error)
{
    struct vd_slice parts[3];
    *jwt = (struct vd_jwt){0};
    if (token.n > VD_JWT_LEN_MAX)
        return vd_error_set(error, VD_ERR_LIMIT, "the token is longer than %d bytes",
                            VD_JWT_LEN_MAX);
    if (!token.n || !split(token, parts))
        return vd_error_set(error, VD_ERR_INVALID, "the token does not have three parts");
    int code = parse_header(jwt, parse_object(arena, parts[0]), error);
    if (code)
        return code;
    jwt->unverified = parse_object(arena, parts[1]);
    if (!jwt->unverified)
        return vd_error_set(error, VD_ERR_INVALID, "the token's claims are not JSON in base64url");
    if (!optional_text(jwt->unverified, VD_SLICE("iss"), &jwt->issuer))
        return vd_error_set(error, VD_ERR_INVALID, "the token's issuer is not a text");
    if (!parts[2].n || decode(arena, parts[2], &jwt->signature))
        return vd_error_set(error, VD_ERR_INVALID, "the token's signature is not base64url");
    jwt->signed_text = vd_slice(token.p, parts[0].n + 1 + parts[1].n);
    return VD_OK;
}

/* ---- verifying ---- */

/* The key whose signature the token has, or NULL. */
static const struct vd_signing_key *find_signer(const struct vd_jwt *jwt,
                                                const struct vd_jwt_expected *expected)
{
    for (size_t i = 0; i < expected->keys_n; i++) {
        const struct vd_signing_key *key = expected->keys[i];
        if (vd_slice_is(jwt->alg, vd_signing_key_alg_name(key)) &&
            (!jwt->kid.n || vd_slice_eq(jwt->kid, vd_signing_key_id(key))) &&
            vd_signing_key_verifies(key, jwt->signed_text, jwt->signature))
            return key;
    }
    return NULL;
}

static bool has_audience(const struct vd_json *claims, struct vd_slice audience)
{
    const struct vd_json *aud = vd_json_get(claims, VD_SLICE("aud"));
    if (vd_json_is(aud, VD_JSON_STRING))
        return vd_slice_eq(vd_json_text(aud), audience);
    if (!vd_json_is(aud, VD_JSON_ARRAY) || vd_json_count(aud) > VD_JWT_AUDIENCES_MAX)
        return false;
    VD_JSON_EACH (item, aud)
        if (vd_json_is(item, VD_JSON_STRING) && vd_slice_eq(vd_json_text(item), audience))
            return true;
    return false;
}

static bool any_audience(const struct vd_json *claims, const struct vd_jwt_expected *expected)
{
    for (size_t i = 0; i < expected->audiences_n; i++)
        if (has_audience(claims, expected->audiences[i]))
            return true;
    return false;
}

/* A NumericDate in milliseconds, 0 when missing; false when it is no time.
 * Fractions of a second are allowed (RFC 7519) and dropped. */
static bool read_time(const struct vd_json *claims, struct vd_slice key, int64_t *ms)
{
    const struct vd_json *v = vd_json_get(claims, key);
    int64_t seconds = 0;
    double number;
    *ms = 0;
    if (!v)
        return true;
    if (!vd_json_to_i64(v, &seconds)) {
        if (!vd_json_to_double(v, &number) || !(number >= 0 && number <= (double)seconds_max))
            return false;
        seconds = (int64_t)number;
    }
    if (seconds < 0 || seconds > seconds_max)
        return false;
    *ms = seconds * 1000;
    return true;
}

static int check_times(struct vd_jwt *jwt, const struct vd_jwt_expected *expected,
                       struct vd_error *error)
{
    int64_t expires_ms, begins_ms, issued_ms;
    if (!read_time(jwt->unverified, VD_SLICE("exp"), &expires_ms) ||
        !read_time(jwt->unverified, VD_SLICE("nbf"), &begins_ms) ||
        !read_time(jwt->unverified, VD_SLICE("iat"), &issued_ms))
        return vd_error_set(error, VD_ERR_INVALID, "the token's times cannot be read");
    if (!vd_json_get(jwt->unverified, VD_SLICE("exp")))
        return vd_error_set(error, VD_ERR_INVALID, "the token does not say when it expires");
    if (expected->now_ms >= expires_ms + expected->skew_ms)
        return vd_error_set(error, VD_ERR_EXPIRED, "the token has expired");
    if (expected->now_ms < begins_ms - expected->skew_ms ||
        expected->now_ms < issued_ms - expected->skew_ms)
        return vd_error_set(error, VD_ERR_INVALID, "the token is not valid yet");
    jwt->expires_ms = expires_ms;
    jwt->issued_ms = issued_ms;
    return VD_OK;
}

int vd_jwt_verify(struct vd_jwt *jwt, const struct vd_jwt_expected *expected,
                  struct vd_error *error)
{
    if (!vd_slice_eq(jwt->issuer, expected->issuer))
        return vd_error_set(error, VD_ERR_NOT_FOUND, "the token comes from another issuer");
    const struct vd_signing_key *signer = find_signer(jwt, expected);
    if (!signer)
        return vd_error_set(error, VD_ERR_INVALID,
                            "the token's signature does not fit any key of its issuer");
    if (!any_audience(jwt->unverified, expected))
        return vd_error_set(error, VD_ERR_INVALID, "the token is for another audience");
    int code = check_times(jwt, expected, error);
    if (code)
        return code;
    if (!optional_text(jwt->unverified, VD_SLICE("sub"), &jwt->subject) ||
        !optional_text(jwt->unverified, VD_SLICE("jti"), &jwt->id))
        return vd_error_set(error, VD_ERR_INVALID, "the token's subject or id is not a text");
    jwt->claims = jwt->unverified;
    jwt->key = signer;
    return VD_OK;
}

bool vd_jwt_has_audience(const struct vd_jwt *jwt, struct vd_slice audience)
{
    return jwt->claims && has_audience(jwt->claims, audience);
}

/* ---- signing ---- */

int vd_jwt_sign(struct vd_buf *out, const struct vd_signing_key *key, const struct vd_json *claims,
                struct vd_error *error)
{
    struct vd_buf header = {0}, body = {0}, text = {0}, signature = {0};
    vd_buf_addf(&header, "{\"alg\":\"%s\",\"kid\":", vd_signing_key_alg_name(key));
    vd_escape_write(&header, vd_signing_key_id(key));
    vd_buf_add_text(&header, "}");
    vd_json_write(&body, claims);
    vd_base64_encode(&text, vd_buf_slice(&header), VD_BASE64_URL);
    vd_buf_add_char(&text, '.');
    vd_base64_encode(&text, vd_buf_slice(&body), VD_BASE64_URL);
    int code = vd_signing_key_sign(key, vd_buf_slice(&text), &signature, error);
    if (!code) {
        vd_buf_add_char(&text, '.');
        vd_base64_encode(&text, vd_buf_slice(&signature), VD_BASE64_URL);
        if (text.n > VD_JWT_LEN_MAX)
            code = vd_error_set(error, VD_ERR_LIMIT, "the token would be longer than %d bytes",
                                VD_JWT_LEN_MAX);
        else
            vd_buf_add_slice(out, vd_buf_slice(&text));
    }
    vd_buf_release(&header);
    vd_buf_release(&body);
    vd_buf_release(&text);
    vd_buf_release(&signature);
    return code;
}
