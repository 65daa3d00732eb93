/* src/auth/access.c: refusals are worded as Kubernetes words them. */
#include "auth/access.h"

#include "check.h"

static void refusals(void **state)
{
    (void)state;
    struct vd_user *user = vd_user_new(&(struct vd_identity){.name = VD_SLICE("a\"b")});
#define A(...)                                                                                     \
    {                                                                                              \
        .user = user, __VA_ARGS__                                                                  \
    }
    const struct {
        struct vd_access access;
        const char *reason, *text;
    } cases[] = {
        {A(.verb = VD_SLICE("list"), .resource = VD_SLICE("configmaps"),
           .namespace = VD_SLICE("default")),
         "",
         "configmaps is forbidden: User \"a\\\"b\" cannot list resource \"configmaps\" in API "
         "group \"\" in the namespace \"default\""},
        {A(.verb = VD_SLICE("get"), .resource = VD_SLICE("configmaps"), .name = VD_SLICE("x"),
           .namespace = VD_SLICE("default")),
         "RBAC: role \"r\" not found",
         "configmaps \"x\" is forbidden: User \"a\\\"b\" cannot get resource \"configmaps\" in API "
         "group \"\" in the namespace \"default\": RBAC: role \"r\" not found"},
        {A(.verb = VD_SLICE("update"), .resource = VD_SLICE("widgets"),
           .subresource = VD_SLICE("status"), .group = VD_SLICE("example.com"),
           .name = VD_SLICE("w")),
         "",
         "widgets.example.com \"w\" is forbidden: User \"a\\\"b\" cannot update resource "
         "\"widgets/status\" in API group \"example.com\" at the cluster scope"},
        {A(.verb = VD_SLICE("get"), .path = VD_SLICE("/metrics")), "",
         "forbidden: User \"a\\\"b\" cannot get path \"/metrics\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf out = {0};
        vd_access_add_forbidden(&out, &cases[i].access, vd_slice_of(cases[i].reason));
        assert_slice(vd_buf_slice(&out), cases[i].text);
        vd_buf_release(&out);
    }
    vd_user_unref(user);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
