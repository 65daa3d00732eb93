/* See webhook.h. */
#include "git/webhook.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash_map.h"
#include "base/limits.h"

struct vd_webhook_call {
    unsigned char digest[SHA256_DIGEST_LENGTH];
    uint64_t until_ms; /* that it is remembered; 0: there was none */
};

void vd_webhooks_init(struct vd_webhooks *w)
{
    *w = (struct vd_webhooks){.calls = vd_calloc(VD_GIT_WEBHOOKS_KEPT, sizeof *w->calls)};
    pthread_mutex_init(&w->lock, NULL);
}

void vd_webhooks_release(struct vd_webhooks *w)
{
    free(w->calls);
    pthread_mutex_destroy(&w->lock);
}

/* ---- strangers ---- */

static struct vd_webhook_stranger *stranger_at(struct vd_webhooks *w, struct vd_slice address,
                                               uint64_t now_ms)
{
    struct vd_webhook_stranger *s =
        &w->strangers[vd_hash_bytes(address.p, address.n) % VD_WEBHOOK_STRANGERS];
    if (s->second != now_ms / 1000)
        *s = (struct vd_webhook_stranger){.second = now_ms / 1000};
    return s;
}

bool vd_webhooks_look(struct vd_webhooks *w, struct vd_slice address, uint64_t len, uint64_t now_ms)
{
    if (len <= VD_GIT_WEBHOOK_SHORT_LEN)
        return true;
    pthread_mutex_lock(&w->lock);
    bool looks = stranger_at(w, address, now_ms)->len < VD_GIT_WEBHOOK_REFUSED_LEN;
    pthread_mutex_unlock(&w->lock);
    return looks;
}

void vd_webhooks_refused(struct vd_webhooks *w, struct vd_slice address, uint64_t len,
                         uint64_t now_ms)
{
    pthread_mutex_lock(&w->lock);
    stranger_at(w, address, now_ms)->len += len;
    pthread_mutex_unlock(&w->lock);
}

/* ---- the signature ---- */

static bool is_equal(struct vd_slice a, struct vd_slice b)
{
    unsigned char x[SHA256_DIGEST_LENGTH], y[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)a.p, a.n, x); /* so that not even lengths are told */
    SHA256((const unsigned char *)b.p, b.n, y);
    return CRYPTO_memcmp(x, y, sizeof x) == 0;
}

static bool has_signature(const struct vd_webhook_request *r, struct vd_slice secret)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char text[7 + 2 * SHA256_DIGEST_LENGTH] = "sha256=";
    if (!HMAC(EVP_sha256(), secret.p, (int)secret.n, (const unsigned char *)r->body.p, r->body.n,
              hash, &n) ||
        n != SHA256_DIGEST_LENGTH)
        return false;
    for (size_t i = 0; i < n; i++) {
        text[7 + 2 * i] = digits[hash[i] >> 4];
        text[8 + 2 * i] = digits[hash[i] & 15];
    }
    return is_equal(r->signature, vd_slice(text, sizeof text));
}

/* ---- replays ---- */

static void digest_of(const struct vd_webhook_request *r, unsigned char out[SHA256_DIGEST_LENGTH])
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_DigestInit_ex(context, EVP_sha256(), NULL);
    EVP_DigestUpdate(context, r->repository.p, r->repository.n);
    EVP_DigestUpdate(context, r->body.p, r->body.n);
    EVP_DigestFinal_ex(context, out, NULL);
    EVP_MD_CTX_free(context);
}

/* Under the lock: whether one more may be accepted now. */
static bool is_admitted(struct vd_webhooks *w, uint64_t now_ms)
{
    if (w->second != now_ms / 1000) {
        w->second = now_ms / 1000;
        w->in_second = 0;
    }
    bool admitted = w->in_second < VD_GIT_WEBHOOKS_PER_S;
    w->in_second += admitted;
    return admitted;
}

/* Whether it has come before, and whether it may come now; if so, it is remembered. */
static enum vd_webhook_result admit(struct vd_webhooks *w, const struct vd_webhook_request *r,
                                    uint64_t now_ms)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    enum vd_webhook_result result = VD_WEBHOOK_ACCEPTED;
    digest_of(r, digest);
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < VD_GIT_WEBHOOKS_KEPT && result == VD_WEBHOOK_ACCEPTED; i++)
        if (w->calls[i].until_ms > now_ms && memcmp(w->calls[i].digest, digest, sizeof digest) == 0)
            result = VD_WEBHOOK_REPLAYED;
    if (result == VD_WEBHOOK_ACCEPTED && !is_admitted(w, now_ms))
        result = VD_WEBHOOK_LIMITED;
    if (result == VD_WEBHOOK_ACCEPTED) {
        struct vd_webhook_call *call = &w->calls[w->next];
        memcpy(call->digest, digest, sizeof digest);
        call->until_ms = now_ms + VD_GIT_WEBHOOK_WINDOW_MS;
        w->next = (w->next + 1) % VD_GIT_WEBHOOKS_KEPT;
    }
    pthread_mutex_unlock(&w->lock);
    return result;
}

enum vd_webhook_result vd_webhook_judge(struct vd_webhooks *w, const struct vd_webhook_request *r,
                                        struct vd_slice secret, uint64_t now_ms)
{
    bool good = r->signature.n ? has_signature(r, secret)
                               : r->token.n && is_equal(r->token, secret);
    return good && secret.n ? admit(w, r, now_ms) : VD_WEBHOOK_REFUSED;
}
