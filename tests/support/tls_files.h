/* Certificates for tests of TLS, made anew for each run. */
#ifndef VD_TESTS_TLS_FILES_H
#define VD_TESTS_TLS_FILES_H

/* Paths into one folder; all PEM. */
struct tls_files {
    char *folder;
    char ca[256];
    char server[256], server_key[256];     /* for 127.0.0.1, signed by the CA */
    char client[256], client_key[256];     /* CN=alice, O=team, signed by the CA */
    char stranger[256], stranger_key[256]; /* CN=mallory, signed by itself */
    char locked_key[256];                  /* the server's key, with a password */
    char garbage[256];
};

void tls_files_make(struct tls_files *files);
void tls_files_remove(struct tls_files *files);

#endif
