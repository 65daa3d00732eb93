/* src/auth/user.c: identities are whole, independent copies. */
#include "auth/user.h"

#include "check.h"

static void everything_is_copied(void **state)
{
    (void)state;
    char name[] = "ann", group[] = "dev", value[] = "v";
    struct vd_slice groups[] = {vd_slice_of(group), VD_SLICE("ops"), vd_slice_of(group)};
    struct vd_slice values[] = {vd_slice_of(value), VD_SLICE("w")};
    struct vd_user_extra extra = {VD_SLICE("example.com/k"), values, 2};
    struct vd_user *user = vd_user_new(&(struct vd_identity){
        .name = vd_slice_of(name),
        .uid = VD_SLICE("u1"),
        .groups = groups,
        .groups_n = 3,
        .extra = &extra,
        .extra_n = 1,
        .method = VD_AUTH_TOKEN,
        .expires_ms = 1000,
        .credential_id = VD_SLICE("TOKEN=1"),
    });
    memset(name, 'x', 3), memset(group, 'x', 3), memset(value, 'x', 1);
    assert_slice(user->is.name, "ann");
    assert_slice(user->is.uid, "u1");
    assert_int_equal(user->is.groups_n, 3);
    assert_slice(user->is.groups[0], "dev");
    assert_slice(user->is.groups[1], "ops");
    assert_slice(user->is.groups[2], "system:authenticated");
    assert_int_equal(user->is.extra_n, 2);
    assert_slice(user->is.extra[0].key, "example.com/k");
    assert_slice(user->is.extra[0].values[0], "v");
    assert_slice(user->is.extra[1].key, "authentication.kubernetes.io/credential-id");
    assert_slice(user->is.extra[1].values[0], "TOKEN=1");
    assert_true(vd_user_in_group(user, VD_SLICE("ops")));
    assert_false(vd_user_in_group(user, VD_SLICE("op")));
    assert_false(vd_user_is_master(user));
    assert_false(vd_user_has_expired(user, 999));
    assert_true(vd_user_has_expired(user, 1000));
    vd_user_unref(user);
}

static void the_anonymous_are_not_authenticated(void **state)
{
    (void)state;
    struct vd_user *user = vd_user_new_anonymous();
    assert_slice(user->is.name, "system:anonymous");
    assert_int_equal(user->is.groups_n, 1);
    assert_slice(user->is.groups[0], "system:unauthenticated");
    assert_int_equal(user->is.extra_n, 0);
    assert_false(vd_user_has_expired(user, INT64_MAX));
    vd_user_unref(user);
}

static struct vd_user *user_of(const char *name, const char *uid, const char *group)
{
    struct vd_slice groups = vd_slice_of(group);
    return vd_user_new(&(struct vd_identity){.name = vd_slice_of(name),
                                             .uid = vd_slice_of(uid),
                                             .groups = &groups,
                                             .groups_n = 1,
                                             .method = VD_AUTH_TOKEN});
}

static void equality_is_of_everything_that_counts(void **state)
{
    (void)state;
    static const struct {
        const char *name, *uid, *group;
        bool eq;
    } cases[] = {
        {"a", "1", "g", true},
        {"b", "1", "g", false},
        {"a", "2", "g", false},
        {"a", "1", "h", false},
        {"a", "1", "system:masters", false},
    };
    struct vd_user *a = user_of("a", "1", "g");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_user *b = user_of(cases[i].name, cases[i].uid, cases[i].group);
        assert_int_equal(vd_user_eq(a, b), cases[i].eq);
        assert_int_equal(vd_user_is_master(b), i == 4);
        vd_user_unref(b);
    }
    assert_ptr_equal(vd_user_ref(a), a);
    vd_user_unref(a);
    vd_user_unref(a);
    vd_user_unref(NULL);
    assert_string_equal(vd_auth_method_name(VD_AUTH_SERVICE_ACCOUNT), "service-account");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_copied),
        cmocka_unit_test(the_anonymous_are_not_authenticated),
        cmocka_unit_test(equality_is_of_everything_that_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
