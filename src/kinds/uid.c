/* See uid.h. */
#include "kinds/uid.h"

#include <openssl/sha.h>
#include <string.h>

#include "base/clock.h"

enum { RANDOM = 4, OUR_OWN = 8 }; /* versions: RFC 9562 */

static struct vd_uid of_version(struct vd_uid uid, unsigned version)
{
    uid.bytes[6] = (uint8_t)((uid.bytes[6] & 0x0f) | (version << 4));
    uid.bytes[8] = (uint8_t)((uid.bytes[8] & 0x3f) | 0x80); /* variant 10 */
    return uid;
}

struct vd_uid vd_uid_generate(void)
{
    struct vd_uid uid;
    vd_random_bytes(uid.bytes, sizeof uid.bytes);
    return of_version(uid, RANDOM);
}

/* Is there a hyphen before byte i of the uid? */
static bool starts_group(size_t i)
{
    return i == 4 || i == 6 || i == 8 || i == 10;
}

struct vd_slice vd_uid_format(struct vd_uid uid, char out[VD_UID_TEXT_MAX])
{
    static const char digits[] = "0123456789abcdef";
    size_t n = 0;
    for (size_t i = 0; i < VD_UID_LEN; i++) {
        if (starts_group(i))
            out[n++] = '-';
        out[n++] = digits[uid.bytes[i] >> 4];
        out[n++] = digits[uid.bytes[i] & 15];
    }
    out[n] = 0;
    return vd_slice(out, n);
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool vd_uid_parse(struct vd_slice text, struct vd_uid *out)
{
    struct vd_uid uid;
    const char *at = text.p;
    if (text.n != VD_UID_TEXT_LEN)
        return false;
    for (size_t i = 0; i < VD_UID_LEN; i++, at += 2) {
        if (starts_group(i) && *at++ != '-')
            return false;
        int high = digit_of(at[0]), low = digit_of(at[1]);
        if (high < 0 || low < 0)
            return false;
        uid.bytes[i] = (uint8_t)(high * 16 + low);
    }
    *out = uid;
    return true;
}

/* Objects have random uids only. */
struct vd_uid vd_uid_of_text(struct vd_slice text)
{
    unsigned char hash[SHA256_DIGEST_LENGTH];
    struct vd_uid uid;
    if (vd_uid_parse(text, &uid))
        return uid;
    SHA256((const unsigned char *)text.p, text.n, hash);
    memcpy(uid.bytes, hash, sizeof uid.bytes);
    return of_version(uid, OUR_OWN);
}
