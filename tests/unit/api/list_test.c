/* Listings: pages, one state for all pieces, and who may have them. */
#include "api/list.h"

#include "api/read.h"
#include "api_fixture.h"
#include "check.h"
#include "gatekeeper_fixture.h"

static struct api_fixture api;

/* One page, which is written whole. */
static struct {
    struct vd_listing listing;
    struct vd_listing_options options;
    struct vd_buf names, after;
    struct vd_listing_rest rest;
    int code;
    struct vd_error error;
    uint64_t revision;
    _Atomic size_t done;
} page;

static int add(struct vd_listing *l, struct vd_buf *out, const struct vd_event *event,
               struct vd_effort *effort, struct vd_error *error)
{
    (void)l, (void)effort, (void)error;
    vd_buf_addf(out, "%.*s ", VD_FMT(vd_entry_name(event->entry)));
    return VD_OK;
}

static void ready(struct vd_listing *l)
{
    enum vd_listing_state state = vd_listing_next(l, &page.names, SIZE_MAX, &page.error);
    if (state == VD_LISTING_MORE) {
        vd_listing_yield(l);
        return;
    }
    assert_int_equal(state, VD_LISTING_DONE);
    assert_ok(vd_listing_rest(l, true, &page.rest, &page.error), &page.error);
    vd_buf_reset(&page.after);
    vd_buf_add_slice(&page.after, page.rest.after);
    vd_listing_close(l);
}

static void closed(struct vd_listing *l)
{
    (void)l;
    page.done++;
}

static const struct vd_listing_ops ops = {.add = add, .ready = ready, .closed = closed};

static void open_page(void *arg)
{
    (void)arg;
    page.code = vd_listing_open(&page.listing, &api.api, &page.options, &page.error);
    if (page.code) {
        page.done++;
        return;
    }
    page.revision = vd_listing_revision(&page.listing);
    ready(&page.listing);
}

/* The names of the page. */
static const char *list(void)
{
    size_t before = page.done;
    vd_buf_reset(&page.names);
    api_do(&api, open_page, NULL);
    api_wait_for(&page.done, before + 1);
    return vd_buf_text(&page.names);
}

static int set_up(void **state)
{
    struct vd_arena arena = {0};
    struct vd_error error;
    (void)state;
    api_open(&api, 0);
    page.options = (struct vd_listing_options){.ops = &ops, .kind = api.kind};
    assert_ok(vd_api_filter(&page.options.filter, &(struct vd_selection){.kind = api.kind}, &arena,
                            &error),
              &error);
    vd_arena_release(&arena);
    for (char name[] = "a"; name[0] <= 'e'; name[0]++)
        api_put(&api, name, "");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    vd_filter_unref(page.options.filter);
    vd_buf_release(&page.names);
    vd_buf_release(&page.after);
    api_close(&api);
    return 0;
}

static void pages_show_one_state(void **state)
{
    (void)state;
    page.options.limit = 2;
    assert_string_equal(list(), "a b ");
    assert_true(page.rest.more);
    assert_int_equal(page.rest.remaining, 3);
    api_put(&api, "bb", ""); /* the next page does not show it */
    struct vd_slice after = vd_buf_slice(&page.after);
    char room[64];
    memcpy(room, after.p, after.n);
    page.options.after = vd_slice(room, after.n);
    page.options.revision = page.revision;
    page.options.limit = 0;
    assert_string_equal(list(), "c d e ");
    assert_false(page.rest.more);
}

static void a_filter_selects_by_labels(void **state)
{
    struct vd_arena arena = {0};
    struct vd_selection selection = {.kind = api.kind};
    (void)state;
    assert_ok(vd_selector_parse(&selection.labels, VD_SLICE("name in (b,d)"), &page.error),
              &page.error);
    vd_filter_unref(page.options.filter);
    assert_ok(vd_api_filter(&page.options.filter, &selection, &arena, &page.error), &page.error);
    assert_string_equal(list(), "b d ");
    vd_selector_unref(selection.labels);
    vd_arena_release(&arena);
}

static void a_revision_that_is_to_come_is_refused(void **state)
{
    (void)state;
    page.options.not_older = vd_store_revision(api.store) + 1;
    list();
    assert_int_equal(page.code, VD_ERR_FUTURE);
}

static void the_access_is_checked_if_it_is_given(void **state)
{
    struct vd_access access = {.user = api.user,
                               .verb = VD_SLICE("list"),
                               .group = VD_SLICE("example.com"),
                               .resource = VD_SLICE("lights")};
    (void)state;
    page.options.access = &access;
    assert_string_equal(list(), "a b c d e ");
    struct vd_rbac *rules = rules_for_all("\"get\"");
    vd_gatekeeper_fix(api.env.gatekeeper, rules);
    vd_rbac_unref(rules);
    assert_string_equal(list(), "");
    assert_int_equal(page.code, VD_ERR_FORBIDDEN);
    assert_non_null(strstr(page.error.text, "cannot list resource \"lights\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pages_show_one_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_filter_selects_by_labels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_revision_that_is_to_come_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_access_is_checked_if_it_is_given, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
