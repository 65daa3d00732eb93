/* src/store/key.h: what can be a key, and how paths are ordered. */
#include "store/key.h"

#include "check.h"

static char long_text[1024]; /* 'x' all over */

static struct vd_slice of_len(size_t n)
{
    return vd_slice(long_text, n);
}

static void keys_are_checked(void **state)
{
    (void)state;
    memset(long_text, 'x', sizeof long_text);
    const struct {
        struct vd_key key;
        int code;
        const char *says;
    } cases[] = {
        {{VD_SLICE("pods"), VD_SLICE("default"), VD_SLICE("a")}, VD_OK, NULL},
        {{VD_SLICE("nodes"), VD_SLICE(""), VD_SLICE("a")}, VD_OK, NULL},
        {{VD_SLICE("nodes"), {NULL, 0}, VD_SLICE("a")}, VD_OK, NULL},
        {{VD_SLICE("roles.rbac"), VD_SLICE("n"), VD_SLICE("system:node-1.a")}, VD_OK, NULL},
        {{VD_SLICE("k"), VD_SLICE("n"), VD_SLICE("gr\xc3\xbc\xc3\x9f")}, VD_OK, NULL},
        {{VD_SLICE(""), VD_SLICE("n"), VD_SLICE("a")}, VD_ERR_INVALID, "kind is empty"},
        {{VD_SLICE("k"), VD_SLICE("n"), VD_SLICE("")}, VD_ERR_INVALID, "name is empty"},
        {{VD_SLICE("k/l"), VD_SLICE("n"), VD_SLICE("a")}, VD_ERR_INVALID, "the kind"},
        {{VD_SLICE("k"), VD_SLICE("n/m"), VD_SLICE("a")}, VD_ERR_INVALID, "0x2f at position 1"},
        {{VD_SLICE("k"), VD_SLICE("n"), VD_SLICE("a/b")}, VD_ERR_INVALID, "the name"},
        {{VD_SLICE("k"), VD_SLICE("n"), VD_SLICE("a\0b")}, VD_ERR_INVALID, "0x00 at position 1"},
        {{VD_SLICE("k"), VD_SLICE("n"), VD_SLICE("a\n")}, VD_ERR_INVALID, "0x0a"},
        {{VD_SLICE("k"), VD_SLICE("n"), VD_SLICE("\x7f")}, VD_ERR_INVALID, "0x7f"},
        {{of_len(VD_RESOURCE_LEN_MAX), VD_SLICE("n"), VD_SLICE("a")}, VD_OK, NULL},
        {{of_len(VD_RESOURCE_LEN_MAX + 1), VD_SLICE("n"), VD_SLICE("a")},
         VD_ERR_LIMIT,
         "317 bytes"},
        {{VD_SLICE("k"), of_len(VD_NAMESPACE_LEN_MAX), VD_SLICE("a")}, VD_OK, NULL},
        {{VD_SLICE("k"), of_len(VD_NAMESPACE_LEN_MAX + 1), VD_SLICE("a")},
         VD_ERR_LIMIT,
         "namespace"},
        {{VD_SLICE("k"), VD_SLICE("n"), of_len(VD_NAME_LEN_MAX)}, VD_OK, NULL},
        {{VD_SLICE("k"), VD_SLICE("n"), of_len(VD_NAME_LEN_MAX + 1)}, VD_ERR_LIMIT, "the name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error;
        int code = vd_key_check(&cases[i].key, &error);
        if (code != cases[i].code)
            fail_msg("case %zu: got %s", i, vd_code_name(code));
        if (code)
            assert_says(&error, cases[i].says);
        assert_int_equal(vd_key_check(&cases[i].key, NULL), code);
    }
}

static void a_path_is_the_namespace_and_the_name(void **state)
{
    (void)state;
    struct vd_path room;
    struct vd_key key = {VD_SLICE("k"), VD_SLICE("ns"), VD_SLICE("name")};
    assert_slice(vd_key_path(&room, &key), "ns/name");
    key.namespace = (struct vd_slice){NULL, 0};
    assert_slice(vd_key_path(&room, &key), "/name");
    memset(long_text, 'x', sizeof long_text);
    key.namespace = of_len(VD_NAMESPACE_LEN_MAX);
    key.name = of_len(VD_NAME_LEN_MAX);
    assert_int_equal(vd_key_path(&room, &key).n, VD_NAMESPACE_LEN_MAX + 1 + VD_NAME_LEN_MAX);
}

static void the_uid_none_is_all_zeros(void **state)
{
    (void)state;
    struct vd_uid none = {{0}}, last = {{0}};
    last.bytes[VD_UID_LEN - 1] = 1;
    assert_true(vd_uid_is_none(none));
    assert_false(vd_uid_is_none(last));
    assert_true(vd_uid_eq(last, last));
    assert_false(vd_uid_eq(last, none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_checked),
        cmocka_unit_test(a_path_is_the_namespace_and_the_name),
        cmocka_unit_test(the_uid_none_is_all_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
