/* See webhook.h. */
#include "git/webhook.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
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

bool vd_webhooks_admit(struct vd_webhooks *w, uint64_t now_ms)
{
    pthread_mutex_lock(&w->lock);
    if (w->second != now_ms / 1000) {
        w->second = now_ms / 1000;
        w->in_second = 0;
    }
    bool admitted = w->in_second < VD_GIT_WEBHOOKS_PER_S;
    w->in_second += admitted;
    pthread_mutex_unlock(&w->lock);
    return admitted;
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

/* Whether it has come before; it is remembered. */
static bool is_replayed(struct vd_webhooks *w, const struct vd_webhook_request *r, uint64_t now_ms)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    bool found = false;
    digest_of(r, digest);
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < VD_GIT_WEBHOOKS_KEPT && !found; i++)
        found = w->calls[i].until_ms > now_ms &&
                memcmp(w->calls[i].digest, digest, sizeof digest) == 0;
    if (!found) {
        struct vd_webhook_call *call = &w->calls[w->next];
        memcpy(call->digest, digest, sizeof digest);
        call->until_ms = now_ms + VD_GIT_WEBHOOK_WINDOW_MS;
        w->next = (w->next + 1) % VD_GIT_WEBHOOKS_KEPT;
    }
    pthread_mutex_unlock(&w->lock);
    return found;
}

enum vd_webhook_result vd_webhook_judge(struct vd_webhooks *w, const struct vd_webhook_request *r,
                                        struct vd_slice secret, uint64_t now_ms)
{
    bool good = r->signature.n ? has_signature(r, secret)
                               : r->token.n && is_equal(r->token, secret);
    if (!good || !secret.n)
        return VD_WEBHOOK_REFUSED;
    return is_replayed(w, r, now_ms) ? VD_WEBHOOK_REPLAYED : VD_WEBHOOK_ACCEPTED;
}
