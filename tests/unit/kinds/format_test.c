/* src/kinds/format.c and time_format.c: good and bad texts of each format. */
#include "kinds/format.h"

#include "check.h"

static const struct {
    const char *format, *good[6], *bad[8];
} cases[] = {
    {"bsonobjectid", {"507f1f77bcf86cd799439011"}, {"507f1f77bcf86cd79943901", "x"}},
    {"uri",
     {"http://a.b:80/c?d#e", "/path", "urn:x:y", "http://[::1]:8080/", "https://u:p@h/%20"},
     {"", "a b", "no-scheme", "http://h:x/", "http://[::1", "http://h/%2", "://x"}},
    {"email",
     {"a@b.c", "\"a b\"@c", "Ann <a.b@c>", "a+b@c"},
     {"", "a", "@b", "a@", "a..b@c", ".a@b", "a@b c"}},
    {"hostname", {"a", "a-b.example", "A.b.com", "x1"}, {"", "-a", "a-.b", "a..b", "a.b1", "a_b"}},
    {"ipv4", {"1.2.3.4", "0.0.0.0", "010.1.1.1"}, {"1.2.3", "1.2.3.256", "1.2.3.4.5", "", "::1"}},
    {"ipv6", {"::1", "fe80::1", "::ffff:1.2.3.4"}, {"1.2.3.4", ":::", "", "g::1"}},
    {"cidr", {"10.0.0.0/8", "::/0", "fd00::/64"}, {"10.0.0.0", "10.0.0.0/33", "::/129", "/8"}},
    {"mac",
     {"01:23:45:67:89:ab", "01-23-45-67-89-AB", "0123.4567.89ab", "01:23:45:67:89:ab:cd:ef"},
     {"", "01:23:45:67:89", "01:23:45-67:89:ab", "0g:23:45:67:89:ab"}},
    {"uuid",
     {"a8098c1a-f86e-11da-bd1a-00112444be1e", "a8098c1af86e11dabd1a00112444be1e"},
     {"", "a8098c1a-f86e-11da-bd1a-00112444be1", "a8098c1a-f86e-11da-bd1a-00112444be1g"}},
    {"uuid3", {"bcd02e22-68f0-3046-a512-327cca9def8f"}, {"bcd02e22-68f0-4046-a512-327cca9def8f"}},
    {"uuid4",
     {"025b0d74-00a2-4048-bf57-227c5111bb34"},
     {"025b0d74-00a2-5048-bf57-227c5111bb34", "025b0d74-00a2-4048-0f57-227c5111bb34"}},
    {"uuid5", {"886313e1-3b8a-5372-9b90-0c9aee199e5d"}, {"886313e1-3b8a-4372-9b90-0c9aee199e5d"}},
    {"isbn", {"0321751043", "978-0321751041"}, {"0321751042", "978-0321751042", ""}},
    {"isbn10", {"0-321-75104-3", "080442957X"}, {"9780321751041", "0804429570"}},
    {"isbn13", {"9780321751041"}, {"0321751043", "978032175104X"}},
    {"creditcard", {"4111 1111 1111 1111"}, {"4111-1111-1111-1112", "", "41"}},
    {"ssn", {"111-11-1111", "111 11 1111", "111111111"}, {"111-11-111", "11a-11-1111", ""}},
    {"hexcolor", {"#FFFFFF", "abc"}, {"#FFFF", "#GGG", ""}},
    {"rgbcolor", {"rgb(100,0,255)", "rgb( 1, 2, 3 )"}, {"rgb(1,2)", "rgb(1,2,256)", "rgb(,,)", ""}},
    {"byte", {"", "QQ==", "QUI=", "QUJD", "a+/b"}, {"Q", "Q===", "Q=Q=", "QU D", "QQ==QUJD"}},
    {"password", {"", "anything"}, {NULL}},
    {"date",
     {"2026-11-15", "2024-02-29"},
     {"2026-02-29", "2026-13-01", "2026-11-1", "", "2026-00-01"}},
    {"date-time",
     {"2026-11-15T09:35:21Z", "2026-11-15t09:35:21.123456z", "2026-11-15T09:35:21+01:00"},
     {"2026-11-15", "2026-11-15 09:35:21Z", "2026-11-15T24:00:00Z", "2026-11-15T09:35:21",
      "2026-11-15T09:35:21.Z", "2026-02-30T09:35:21Z", "2026-11-15T09:35:21+0100"}},
    {"datetime", {"2026-11-15T09:35:21Z"}, {"now"}},
    {"duration",
     {"1h30m", "-1.5s", "0", "2 days", "1w", "3 hours 5 min"},
     {"", "1", "h", "1x", "1 "}},
    {"k8s-short-name", {"a-b", "0"}, {"a.b", "", "-a", "A"}},
    {"k8s-long-name", {"a.b-c"}, {"a..b", ""}},
};

static void texts_have_their_format(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum vd_format format = vd_format_of(vd_slice_of(cases[i].format));
        assert_int_not_equal(format, VD_FORMAT_NONE);
        for (size_t g = 0; g < 6 && cases[i].good[g]; g++)
            if (!vd_format_matches(format, vd_slice_of(cases[i].good[g])))
                fail_msg("%s: \"%s\" is refused", cases[i].format, cases[i].good[g]);
        for (size_t b = 0; b < 8 && cases[i].bad[b]; b++)
            if (vd_format_matches(format, vd_slice_of(cases[i].bad[b])))
                fail_msg("%s: \"%s\" is taken", cases[i].format, cases[i].bad[b]);
    }
}

static void other_formats_check_nothing(void **state)
{
    static const char *const names[] = {"", "int32", "int64", "double", "uuid6", "dates", "dat"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(vd_format_of(vd_slice_of(names[i])), VD_FORMAT_NONE);
    assert_true(vd_format_matches(VD_FORMAT_NONE, VD_SLICE("x")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_their_format),
        cmocka_unit_test(other_formats_check_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
