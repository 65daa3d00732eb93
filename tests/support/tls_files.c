/* See tls_files.h. */
#include "tls_files.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

static void path_in(char room[256], const struct tls_files *files, const char *name)
{
    if (snprintf(room, 256, "%s/%s", files->folder, name) >= 256)
        abort();
}

static FILE *create(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        abort();
    return f;
}

static void write_key(const char *path, EVP_PKEY *key, const char *password)
{
    FILE *f = create(path);
    if (!PEM_write_PrivateKey(f, key, password ? EVP_aes_128_cbc() : NULL, NULL, 0, NULL,
                              (void *)(uintptr_t)password))
        abort();
    fclose(f);
}

static void add_extension(X509 *certificate, int nid, const char *value)
{
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    if (!e || !X509_add_ext(certificate, e, -1))
        abort();
    X509_EXTENSION_free(e);
}

static X509 *make(const char *common_name, const char *organization, EVP_PKEY *key, X509 *issuer,
                  EVP_PKEY *issuer_key)
{
    static long serial = 1;
    X509 *x = X509_new();
    X509_NAME *name = X509_get_subject_name(x);
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), serial++);
    X509_gmtime_adj(X509_getm_notBefore(x), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x), 86400);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)common_name, -1,
                               -1, 0);
    if (organization)
        X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, (const unsigned char *)organization,
                                   -1, -1, 0);
    X509_set_issuer_name(x, issuer ? X509_get_subject_name(issuer) : name);
    X509_set_pubkey(x, key);
    if (issuer)
        add_extension(x, NID_subject_alt_name, "IP:127.0.0.1");
    else
        add_extension(x, NID_basic_constraints, "critical,CA:TRUE");
    if (!X509_sign(x, issuer_key, EVP_sha256()))
        abort();
    return x;
}

static void write_certificate(const char *path, X509 *certificate)
{
    FILE *f = create(path);
    if (!PEM_write_X509(f, certificate))
        abort();
    fclose(f);
}

void tls_files_make(struct tls_files *t)
{
    t->folder = temp_folder_new();
    path_in(t->ca, t, "ca.pem");
    path_in(t->server, t, "server.pem");
    path_in(t->server_key, t, "server.key");
    path_in(t->client, t, "client.pem");
    path_in(t->client_key, t, "client.key");
    path_in(t->stranger, t, "stranger.pem");
    path_in(t->stranger_key, t, "stranger.key");
    path_in(t->locked_key, t, "locked.key");
    path_in(t->garbage, t, "garbage.pem");
    EVP_PKEY *keys[4];
    for (int i = 0; i < 4; i++)
        keys[i] = EVP_EC_gen("P-256");
    X509 *ca = make("test CA", NULL, keys[0], NULL, keys[0]);
    X509 *server = make("server", NULL, keys[1], ca, keys[0]);
    X509 *client = make("alice", "team", keys[2], ca, keys[0]);
    X509 *stranger = make("mallory", NULL, keys[3], NULL, keys[3]);
    write_certificate(t->ca, ca);
    write_certificate(t->server, server);
    write_certificate(t->client, client);
    write_certificate(t->stranger, stranger);
    write_key(t->server_key, keys[1], NULL);
    write_key(t->client_key, keys[2], NULL);
    write_key(t->stranger_key, keys[3], NULL);
    write_key(t->locked_key, keys[1], "open sesame");
    FILE *f = create(t->garbage);
    fputs("-----BEGIN CERTIFICATE-----\nnothing\n", f);
    fclose(f);
    for (int i = 0; i < 4; i++)
        EVP_PKEY_free(keys[i]);
    X509_free(ca);
    X509_free(server);
    X509_free(client);
    X509_free(stranger);
}

void tls_files_remove(struct tls_files *t)
{
    temp_folder_remove(t->folder);
}
