/* src/kinds/uid.c: uids as text. */
#include "kinds/uid.h"

#include <string.h>

#include "json_check.h"

static void a_uid_survives_its_text(void **state)
{
    (void)state;
    struct vd_uid uid, back;
    char room[VD_UID_TEXT_MAX];
    assert_true(vd_uid_parse(VD_SLICE("0f1e2d3c-4b5a-4697-8877-6655443322Ff"), &uid));
    assert_slice(vd_uid_format(uid, room), "0f1e2d3c-4b5a-4697-8877-6655443322ff");
    assert_int_equal(uid.bytes[0], 0x0f);
    assert_int_equal(uid.bytes[15], 0xff);
    for (int i = 0; i < 100; i++) {
        uid = vd_uid_generate();
        struct vd_slice text = vd_uid_format(uid, room);
        assert_int_equal(text.n, VD_UID_TEXT_LEN);
        assert_int_equal(text.p[14], '4');
        assert_non_null(strchr("89ab", text.p[19]));
        assert_true(vd_uid_parse(text, &back));
        assert_true(vd_uid_eq(uid, back));
        assert_false(vd_uid_eq(uid, vd_uid_generate()));
    }
}

static void what_is_no_uid_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "x",
        "0f1e2d3c-4b5a-4697-8877-66554433221",
        "0f1e2d3c-4b5a-4697-8877-6655443322111",
        "0f1e2d3c04b5a-4697-8877-665544332211",
        "0f1e2d3-c4b5a-4697-8877-665544332211",
        "0f1e2d3c-4b5a-4697-8877-66554433221g",
        "0f1e2d3c-4b5a-4697-8877-66554433 211",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_uid uid = {{1}};
        assert_false(vd_uid_parse(vd_slice_of(cases[i]), &uid));
        assert_int_equal(uid.bytes[0], 1);
    }
}

static void any_text_has_a_uid_of_its_own(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "x", "y", "0f1e2d3c-4b5a-4697-8877-66554433221",
                                        "0f1e2d3c-4b5a-4697-8877-665544332211"};
    enum { TEXTS = sizeof texts / sizeof *texts };
    char room[VD_UID_TEXT_MAX];
    for (size_t i = 0; i < TEXTS; i++) {
        struct vd_uid uid = vd_uid_of_text(vd_slice_of(texts[i]));
        vd_uid_format(uid, room);
        assert_int_equal(room[14], i + 1 < TEXTS ? '8' : '4');
        for (size_t k = 0; k < TEXTS; k++)
            assert_int_equal(vd_uid_eq(uid, vd_uid_of_text(vd_slice_of(texts[k]))), i == k);
    }
    assert_string_equal(room, texts[TEXTS - 1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_uid_survives_its_text),
        cmocka_unit_test(what_is_no_uid_is_refused),
        cmocka_unit_test(any_text_has_a_uid_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
