/* src/kinds/name.c: each rule, and what is said of names that break it. */
#include "kinds/name.h"

#include <stdio.h>

#include "check.h"

static char long_name[300];

static const struct {
    enum vd_name_rule rule;
    const char *name, *says; /* the start of the first reason; NULL: fine */
} cases[] = {
    {VD_NAME_SUBDOMAIN, "a", NULL},
    {VD_NAME_SUBDOMAIN, "a-b.c0", NULL},
    {VD_NAME_SUBDOMAIN, "", "a lowercase RFC 1123 subdomain must consist of"},
    {VD_NAME_SUBDOMAIN, "A", "a lowercase RFC 1123 subdomain"},
    {VD_NAME_SUBDOMAIN, "a.-b", "a lowercase RFC 1123 subdomain"},
    {VD_NAME_SUBDOMAIN, "a-.b", "a lowercase RFC 1123 subdomain"},
    {VD_NAME_SUBDOMAIN, "a.", "a lowercase RFC 1123 subdomain"},
    {VD_NAME_SUBDOMAIN, long_name, "must be no more than 253 characters"},
    {VD_NAME_LABEL, "0a-b", NULL},
    {VD_NAME_LABEL, "a.b", "a lowercase RFC 1123 label must consist of"},
    {VD_NAME_LABEL, long_name, "must be no more than 63 characters"},
    {VD_NAME_DNS1035, "a0", NULL},
    {VD_NAME_DNS1035, "0a", "a DNS-1035 label must consist of"},
    {VD_NAME_DNS1035, "", "a DNS-1035 label must consist of"},
    {VD_NAME_PATH_SEGMENT, "system:node A", NULL},
    {VD_NAME_PATH_SEGMENT, ".", "may not be '.'"},
    {VD_NAME_PATH_SEGMENT, "..", "may not be '..'"},
    {VD_NAME_PATH_SEGMENT, "a/b", "may not contain '/'"},
    {VD_NAME_PATH_SEGMENT, "a%b", "may not contain '%'"},
    {VD_NAME_CONFIG_KEY, "a.B_c-0", NULL},
    {VD_NAME_CONFIG_KEY, ".hidden", NULL},
    {VD_NAME_CONFIG_KEY, "a b", "a valid config key must consist of"},
    {VD_NAME_CONFIG_KEY, "", "a valid config key must consist of"},
    {VD_NAME_CONFIG_KEY, ".", "must not be '.'"},
    {VD_NAME_CONFIG_KEY, "..", "must not be '..'"},
    {VD_NAME_CONFIG_KEY, "..a", "must not start with '..'"},
};

static void names_follow_their_rule(void **state)
{
    (void)state;
    memset(long_name, 'a', sizeof long_name - 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_name_faults faults;
        bool ok = vd_name_check(cases[i].rule, vd_slice_of(cases[i].name), &faults);
        assert_int_equal(ok, vd_name_check(cases[i].rule, vd_slice_of(cases[i].name), NULL));
        if (ok != !cases[i].says)
            fail_msg("\"%s\" under rule %d: %d", cases[i].name, cases[i].rule, ok);
        if (cases[i].says)
            assert_ptr_equal(strstr(faults.p[0], cases[i].says), faults.p[0]);
    }
}

static void prefixes_may_end_in_a_dash(void **state)
{
    (void)state;
    assert_true(vd_name_prefix_check(VD_NAME_SUBDOMAIN, VD_SLICE("web-"), NULL));
    assert_true(vd_name_prefix_check(VD_NAME_LABEL, VD_SLICE("web-"), NULL));
    assert_false(vd_name_prefix_check(VD_NAME_SUBDOMAIN, VD_SLICE("-"), NULL));
    assert_false(vd_name_prefix_check(VD_NAME_SUBDOMAIN, VD_SLICE("Web-"), NULL));
    assert_true(vd_name_prefix_check(VD_NAME_PATH_SEGMENT, VD_SLICE("a:"), NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_follow_their_rule),
        cmocka_unit_test(prefixes_may_end_in_a_dash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
