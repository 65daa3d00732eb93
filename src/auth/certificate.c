/* See certificate.h: reading certificates. certificate_make.c makes them. */
#include "auth/certificate.h"

#include <assert.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <time.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "base/vec.h"

/* The text of a name's entry, added to `out`; false when it is no text. */
static bool add_entry_text(struct vd_buf *out, const X509_NAME_ENTRY *entry)
{
    unsigned char *text = NULL;
    int n = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry));
    bool ok = n > 0 && (size_t)n <= VD_USER_NAME_LEN_MAX && !memchr(text, 0, (size_t)n) &&
              vd_utf8_is_valid(vd_slice(text, (size_t)n));
    if (ok)
        vd_buf_add(out, text, (size_t)n);
    OPENSSL_free(text);
    ERR_clear_error();
    return ok;
}

/* The subject's texts of one type, in order, one after the other in `room`. */
struct entries {
    struct vd_buf room;
    VD_VEC(size_t) ends;
};

static int read_entries(struct entries *out, const X509_NAME *subject, int nid,
                        struct vd_error *error)
{
    for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, nid, at)) >= 0;) {
        if (!add_entry_text(&out->room, X509_NAME_get_entry(subject, at)))
            return vd_error_set(error, VD_ERR_INVALID,
                                "the client certificate's %s is no text of 1 to %d bytes",
                                OBJ_nid2ln(nid), VD_USER_NAME_LEN_MAX);
        if (out->ends.n >= VD_USER_GROUPS_MAX)
            return vd_error_set(error, VD_ERR_LIMIT,
                                "the client certificate has more than %d groups",
                                VD_USER_GROUPS_MAX);
        *VD_VEC_PUSH(&out->ends) = out->room.n;
    }
    return VD_OK;
}

static struct vd_slice entry_at(const struct entries *e, size_t i)
{
    assert(i < e->ends.n);
    size_t begin = i ? e->ends.p[i - 1] : 0;
    return vd_slice(e->room.p + begin, e->ends.p[i] - begin);
}

static void add_credential_id(struct vd_buf *out, X509 *certificate)
{
    unsigned char hash[SHA256_DIGEST_LENGTH];
    unsigned n = 0;
    vd_buf_add_text(out, "X509SHA256=");
    if (X509_digest(certificate, EVP_sha256(), hash, &n) != 1)
        n = 0;
    for (unsigned i = 0; i < n; i++)
        vd_buf_addf(out, "%02x", hash[i]);
}

int vd_certificate_user(struct x509_st *certificate, struct vd_user **out, struct vd_error *error)
{
    const X509_NAME *subject = X509_get_subject_name(certificate);
    struct entries names = {0}, organisations = {0};
    VD_VEC(struct vd_slice) groups = {0};
    struct vd_buf credential = {0};
    int code = read_entries(&names, subject, NID_commonName, error);
    if (!code)
        code = read_entries(&organisations, subject, NID_organizationName, error);
    if (!code && !names.ends.n)
        code = vd_error_set(error, VD_ERR_INVALID,
                            "the client certificate has no common name to be the user's");
    if (code)
        goto out;
    for (size_t i = 0; i < organisations.ends.n; i++)
        *VD_VEC_PUSH(&groups) = entry_at(&organisations, i);
    add_credential_id(&credential, certificate);
    *out = vd_user_new(&(struct vd_identity){
        .name = entry_at(&names, names.ends.n - 1), /* the last one, as Go reads it */
        .groups = groups.p,
        .groups_n = groups.n,
        .method = VD_AUTH_CERTIFICATE,
        .expires_ms = vd_certificate_expires_ms(certificate),
        .credential_id = vd_buf_slice(&credential),
    });
out:
    vd_buf_release(&credential);
    VD_VEC_RELEASE(&groups);
    VD_VEC_RELEASE(&names.ends);
    VD_VEC_RELEASE(&organisations.ends);
    vd_buf_release(&names.room);
    vd_buf_release(&organisations.room);
    return code;
}

int vd_certificate_user_der(struct vd_slice der, struct vd_user **out, struct vd_error *error)
{
    const unsigned char *p = (const unsigned char *)der.p;
    X509 *certificate = d2i_X509(NULL, &p, (long)der.n);
    ERR_clear_error();
    if (!certificate || (const char *)p != der.p + der.n) {
        X509_free(certificate);
        return vd_error_set(error, VD_ERR_INVALID, "the client certificate is no certificate");
    }
    int code = vd_certificate_user(certificate, out, error);
    X509_free(certificate);
    return code;
}

int vd_certificate_from_pem(struct x509_st **out, struct vd_slice pem, struct vd_error *error)
{
    BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    ERR_clear_error();
    if (!certificate)
        return vd_error_set(error, VD_ERR_INVALID, "this is no certificate in PEM form");
    *out = certificate;
    return VD_OK;
}

int64_t vd_certificate_expires_ms(const struct x509_st *certificate)
{
    struct tm t;
    if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &t) != 1) {
        ERR_clear_error();
        return 1; /* a certificate whose time cannot be read counts as expired */
    }
    return (int64_t)timegm(&t) * 1000;
}

void vd_certificate_add_pem(const struct x509_st *certificate, struct vd_buf *pem)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *text;
    PEM_write_bio_X509(bio, certificate);
    long n = BIO_get_mem_data(bio, &text);
    vd_buf_add(pem, text, (size_t)n);
    BIO_free(bio);
}
