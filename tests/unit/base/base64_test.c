/* src/base/base64.c: every text has one meaning, and bytes have one text. */
#include "base/base64.h"

#include "check.h"

static void known_texts(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *standard, *url;
    } cases[] = {
        {"", "", ""},
        {"f", "Zg==", "Zg"},
        {"fo", "Zm8=", "Zm8"},
        {"foo", "Zm9v", "Zm9v"},
        {"foob", "Zm9vYg==", "Zm9vYg"},
        {"fooba", "Zm9vYmE=", "Zm9vYmE"},
        {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
        {"\xfb\xff\xfe", "+//+", "-__-"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (enum vd_base64 kind = VD_BASE64_STANDARD; kind <= VD_BASE64_URL; kind++) {
            const char *text = kind == VD_BASE64_URL ? cases[i].url : cases[i].standard;
            struct vd_buf out = {0}, back = {0};
            vd_base64_encode(&out, vd_slice_of(cases[i].bytes), kind);
            assert_slice(vd_buf_slice(&out), text);
            assert_int_equal(vd_base64_decode(&back, vd_slice_of(text), kind), 0);
            assert_slice(vd_buf_slice(&back), cases[i].bytes);
            vd_buf_release(&out);
            vd_buf_release(&back);
        }
    }
}

static void second_spellings_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum vd_base64 kind;
    } cases[] = {
        {"Zg", VD_BASE64_STANDARD},
        {"Zg=", VD_BASE64_STANDARD},
        {"Zg===", VD_BASE64_STANDARD},
        {"Z===", VD_BASE64_STANDARD},
        {"Zh==", VD_BASE64_STANDARD},
        {"Zm9=", VD_BASE64_STANDARD},
        {"Zg==Zg==", VD_BASE64_STANDARD},
        {"Zm9v\n", VD_BASE64_STANDARD},
        {"-__-", VD_BASE64_STANDARD},
        {"====", VD_BASE64_STANDARD},
        {"Zg==", VD_BASE64_URL},
        {"Z", VD_BASE64_URL},
        {"Zh", VD_BASE64_URL},
        {"Zm9", VD_BASE64_URL},
        {"+//+", VD_BASE64_URL},
        {"Zm 9v", VD_BASE64_URL},
        {"Zm9vZ", VD_BASE64_URL},
        {"Zm\xc3\xa9", VD_BASE64_URL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf out = {0};
        vd_buf_add_text(&out, "kept");
        if (vd_base64_decode(&out, vd_slice_of(cases[i].text), cases[i].kind) != -1)
            fail_msg("\"%s\" was accepted", cases[i].text);
        assert_slice(vd_buf_slice(&out), "kept");
        vd_buf_release(&out);
    }
}

static void every_byte_round_trips(void **state)
{
    (void)state;
    char bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    for (size_t n = 0; n <= sizeof bytes; n++) {
        struct vd_buf text = {0}, back = {0};
        vd_base64_encode(&text, vd_slice(bytes, n), VD_BASE64_URL);
        assert_int_equal(vd_base64_decode(&back, vd_buf_slice(&text), VD_BASE64_URL), 0);
        assert_true(vd_slice_eq(vd_buf_slice(&back), vd_slice(bytes, n)));
        vd_buf_release(&text);
        vd_buf_release(&back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts),
        cmocka_unit_test(second_spellings_are_refused),
        cmocka_unit_test(every_byte_round_trips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
