/*
 * What the commands of `vedette repo` share: how a Repository is named and asked for.
 */
#ifndef VD_CMD_REPO_CLIENT_H
#define VD_CMD_REPO_CLIENT_H

#include "client.h"

/* The operand NAMESPACE/NAME. */
#define VD_REPO_OPERAND                                                                            \
    {                                                                                              \
        .name = "repository", .value = "NAMESPACE/NAME", .type = VD_OPTION_TEXT, .required = true, \
        .operand = true, .help = "the repository"                                                  \
    }

/* A Repository by its name. The slices are in the word that was given. */
struct vd_repo_name {
    struct vd_slice namespace, name;
};

/* VD_ERR_INVALID: it is none. */
int vd_repo_name_read(struct vd_repo_name *out, const char *word,
                      struct vd_error *error) VD_MUST_USE;

/* Adds the path of the collection of a namespace, or, if that is empty, of all, and of an object.
 */
void vd_repo_add_collection(struct vd_buf *out, struct vd_slice namespace);
void vd_repo_add_path(struct vd_buf *out, const struct vd_repo_name *name);

/* Passes the code of a failed request on; for VD_ERR_NOT_FOUND the error says which repository is
 * missing, with its namespace. */
int vd_repo_refuse(const struct vd_repo_name *name, int code, struct vd_error *error) VD_MUST_USE;

/* The object, in the client's arena. */
int vd_repo_get(struct vd_client *client, const struct vd_repo_name *name, struct vd_json **out,
                struct vd_error *error) VD_MUST_USE;

/* What is waited for. */
struct vd_repo_wait {
    uint64_t timeout_ms;
    /* Whether the object is as it should be. If not, *reason may become a text of the object that
     * says why. */
    bool (*holds)(const void *arg, const struct vd_json *repository, struct vd_slice *reason);
    const void *arg;
    const char *otherwise; /* what is said after the time: "was created, but is not ready" */
};

/* Asks for the object again and again until it is as it should be; *out is the object then.
 * VD_ERR_IO: it was not in time. */
int vd_repo_wait(struct vd_client *client, const struct vd_repo_name *name,
                 const struct vd_repo_wait *wait, struct vd_json **out,
                 struct vd_error *error) VD_MUST_USE;

/* The condition of this type, or NULL. */
const struct vd_json *vd_repo_condition(const struct vd_json *repository, const char *type);
struct vd_slice vd_repo_condition_status(const struct vd_json *repository, const char *type);

/* A text or number of the object as text, empty where there is none. */
struct vd_slice vd_repo_text(const struct vd_json *object, const char *key);

/* The first characters of the commit of an admission, as git shows it. */
struct vd_slice vd_repo_short_commit(const struct vd_json *admission);

/* Adds how many objects an admission has created, updated, deleted and left as they were. */
void vd_repo_add_counts(struct vd_buf *out, const struct vd_json *admission);

/* Adds the URL to clone from. */
void vd_repo_add_url(struct vd_buf *out, const struct vd_client *client,
                     const struct vd_repo_name *name);

/* Adds a word for a shell, in quotes if it needs them. */
void vd_repo_add_shell_word(struct vd_buf *out, struct vd_slice word);

/* Opens the client and reads the name; false: the mistake has been printed, and *status is the exit
 * status. */
bool vd_repo_open(struct vd_client *client, struct vd_repo_name *name, const char *word,
                  const struct vd_option_value *values, enum vd_exit *status) VD_MUST_USE;

#endif
