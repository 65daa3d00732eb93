/*
 * See certificate.h: making certificates.
 *
 * Hosts are put into the certificate as values, not through OpenSSL's textual
 * extensions: a comma in a host could otherwise add another one.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "auth/certificate.h"
#include "base/clock.h"

enum { HOST_LEN_MAX = 253 }; /* bytes of a host name */

/* The address as 4 or 16 bytes; 0 when the text is none. */
static size_t address_of(const char *host, unsigned char out[16])
{
    if (inet_pton(AF_INET, host, out) == 1)
        return 4;
    return inet_pton(AF_INET6, host, out) == 1 ? 16 : 0;
}

static bool is_label(struct vd_slice label)
{
    if (!label.n || label.n > 63 || label.p[0] == '-' || label.p[label.n - 1] == '-')
        return false;
    for (size_t i = 0; i < label.n; i++) {
        char c = label.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '_'))
            return false;
    }
    return true;
}

bool vd_certificate_host_is_valid(const char *host)
{
    unsigned char address[16];
    struct vd_slice rest = vd_slice_of(host), label;
    if (address_of(host, address))
        return true;
    if (!rest.n || rest.n > HOST_LEN_MAX)
        return false;
    if (vd_slice_starts_with(rest, VD_SLICE("*.")))
        rest = vd_slice_from(rest, 2);
    while (vd_slice_cut(&rest, '.', &label))
        if (!is_label(label))
            return false;
    return true;
}

static GENERAL_NAME *general_name(const char *host)
{
    unsigned char address[16];
    size_t n = address_of(host, address);
    ASN1_STRING *value = n ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
    GENERAL_NAME *name = GENERAL_NAME_new();
    assert(value && name);
    if (n)
        ASN1_STRING_set(value, address, (int)n);
    else
        ASN1_STRING_set(value, host, -1);
    GENERAL_NAME_set0_value(name, n ? GEN_IPADD : GEN_DNS, value);
    return name;
}

static GENERAL_NAMES *general_names(const char *const *hosts, size_t n)
{
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    for (size_t i = 0; i < n; i++)
        sk_GENERAL_NAME_push(names, general_name(hosts[i]));
    return names;
}

static bool has_name(const GENERAL_NAMES *names, GENERAL_NAME *wanted)
{
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++)
        if (GENERAL_NAME_cmp(sk_GENERAL_NAME_value(names, i), wanted) == 0)
            return true;
    return false;
}

bool vd_certificate_has_hosts(struct x509_st *certificate, const char *const *hosts, size_t n)
{
    GENERAL_NAMES *has = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    bool all = has && (size_t)sk_GENERAL_NAME_num(has) == n;
    for (size_t i = 0; all && i < n; i++) {
        GENERAL_NAME *wanted = general_name(hosts[i]);
        all = has_name(has, wanted);
        GENERAL_NAME_free(wanted);
    }
    GENERAL_NAMES_free(has);
    return all;
}

/* ---- the parts of a certificate; what fails only without memory is asserted ---- */

static void set_serial(X509 *x)
{
    unsigned char bytes[16];
    vd_random_bytes(bytes, sizeof bytes);
    bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40); /* positive, of full length */
    BIGNUM *number = BN_bin2bn(bytes, sizeof bytes, NULL);
    assert(number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x)));
    BN_free(number);
}

static void set_subject(X509 *x, const struct vd_certificate_spec *spec)
{
    X509_NAME *name = X509_NAME_new();
    int ok = 1;
    if (spec->organisation)
        ok &= X509_NAME_add_entry_by_NID(name, NID_organizationName, MBSTRING_UTF8,
                                         (const unsigned char *)spec->organisation, -1, -1, 0);
    ok &= X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8,
                                     (const unsigned char *)spec->common_name, -1, -1, 0);
    ok &= X509_set_subject_name(x, name);
    assert(ok == 1);
    (void)ok;
    X509_NAME_free(name);
}

static void set_times(X509 *x, const struct vd_certificate_spec *spec)
{
    int64_t expires_ms = spec->expires_ms;
    if (spec->issuer) {
        int64_t bound_ms = vd_certificate_expires_ms(spec->issuer);
        expires_ms = expires_ms < bound_ms ? expires_ms : bound_ms;
    }
    ASN1_TIME_set(X509_getm_notBefore(x), (time_t)(spec->begins_ms / 1000));
    ASN1_TIME_set(X509_getm_notAfter(x), (time_t)(expires_ms / 1000));
}

static void add_extension(X509 *x, X509V3_CTX *context, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, context, nid, value);
    int ok = extension && X509_add_ext(x, extension, -1) == 1;
    assert(ok);
    (void)ok;
    X509_EXTENSION_free(extension);
}

static const struct {
    const char *constraints, *usage, *extended_usage;
} uses[] = {
    [VD_CERTIFICATE_CA] = {"critical,CA:TRUE", "critical,digitalSignature,keyCertSign,cRLSign",
                           NULL},
    [VD_CERTIFICATE_SERVER] = {"critical,CA:FALSE", "critical,digitalSignature", "serverAuth"},
    [VD_CERTIFICATE_CLIENT] = {"critical,CA:FALSE", "critical,digitalSignature", "clientAuth"},
};

static void add_extensions(X509 *x, const struct vd_certificate_spec *spec)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, spec->issuer ? spec->issuer : x, x, NULL, NULL, 0);
    add_extension(x, &context, NID_basic_constraints, uses[spec->use].constraints);
    add_extension(x, &context, NID_key_usage, uses[spec->use].usage);
    if (uses[spec->use].extended_usage)
        add_extension(x, &context, NID_ext_key_usage, uses[spec->use].extended_usage);
    add_extension(x, &context, NID_subject_key_identifier, "hash");
    add_extension(x, &context, NID_authority_key_identifier, "keyid:always");
    if (spec->hosts_n) {
        GENERAL_NAMES *names = general_names(spec->hosts, spec->hosts_n);
        int ok = X509_add1_ext_i2d(x, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT);
        assert(ok == 1);
        (void)ok;
        GENERAL_NAMES_free(names);
    }
}

int vd_certificate_make(struct x509_st **out, const struct vd_certificate_spec *spec,
                        struct vd_error *error)
{
    for (size_t i = 0; i < spec->hosts_n; i++)
        if (!vd_certificate_host_is_valid(spec->hosts[i]))
            return vd_error_set(error, VD_ERR_INVALID,
                                "%.100s can be no host of a certificate: give a DNS name or an "
                                "IP address",
                                spec->hosts[i]);
    X509 *x = X509_new();
    X509_set_version(x, X509_VERSION_3);
    set_serial(x);
    set_subject(x, spec);
    X509_set_issuer_name(x, X509_get_subject_name(spec->issuer ? spec->issuer : x));
    set_times(x, spec);
    X509_set_pubkey(x, vd_signing_key_handle(spec->key));
    add_extensions(x, spec);
    if (X509_sign(x, vd_signing_key_handle(spec->issuer_key), EVP_sha256()) <= 0) {
        X509_free(x);
        ERR_clear_error();
        return vd_error_set(error, VD_ERR_INVALID, "the CA's key cannot sign a certificate");
    }
    *out = x;
    return VD_OK;
}
