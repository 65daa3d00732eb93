/* For tests of RBAC: policies from short texts, and users. */
#ifndef VD_TESTS_RBAC_CHECK_H
#define VD_TESTS_RBAC_CHECK_H

#include "auth/rbac.h"
#include "json_check.h"
#include "json/yaml_read.h"

/* Puts every document of a YAML text into the policy. */
static inline void policy_put_yaml(struct vd_policy *policy, const char *yaml)
{
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_json *document = NULL;
    struct vd_yaml_reader *reader = vd_yaml_reader_new(vd_slice_of(yaml), NULL);
    for (;;) {
        assert_ok(vd_yaml_reader_next(reader, &arena, &document, &error), &error);
        if (!document)
            break;
        assert_ok(vd_policy_put(policy, document, &error), &error);
    }
    vd_yaml_reader_free(reader);
    vd_arena_release(&arena);
}

/* The snapshot of the documents of a YAML text. */
static inline struct vd_rbac *rbac_of_yaml(const char *yaml)
{
    struct vd_policy *policy = vd_policy_new();
    policy_put_yaml(policy, yaml);
    struct vd_rbac *rbac = vd_policy_snapshot(policy);
    vd_policy_free(policy);
    return rbac;
}

/* A user by name, with groups that have blanks between them. */
static inline struct vd_user *user_named(const char *name, const char *groups)
{
    struct vd_slice list[8], rest = vd_slice_of(groups), word;
    size_t n = 0;
    while (rest.n && n < 8 && vd_slice_cut(&rest, ' ', &word))
        list[n++] = word;
    return vd_user_new(&(struct vd_identity){
        .name = vd_slice_of(name), .groups = list, .groups_n = n, .method = VD_AUTH_TOKEN});
}

#endif
