/*
 * src/watch/routes.c, through the registry: which watchers a change finds. Whatever
 * route leads to a watcher, it sees exactly what a cursor with its filter reads.
 */
#include <stdio.h>

#include "cursor_setting.h"
#include "watcher_record.h"

enum { BUDGET = 100000 };

static struct vd_registry *registry;

static void wake(void *arg)
{
    (void)arg;
}

static int setup_registry(void **state)
{
    registry = vd_registry_new(((struct setting *)*state)->store, wake, NULL);
    return 0;
}

static int setup_in_memory(void **state)
{
    setup_memory(state);
    return setup_registry(state);
}

static int setup_on_disk(void **state)
{
    setup_sqlite(state);
    return setup_registry(state);
}

static int teardown_all(void **state)
{
    records_free();
    vd_registry_free(registry);
    return teardown(state);
}

static struct record *watch(struct setting *t, struct filter_texts texts)
{
    return record_new(registry, t->store, texts, FROM_NOW);
}

static void turn(void)
{
    while (vd_registry_turn(registry, BUDGET))
        continue;
}

#define assert_text(record, want) assert_string_equal(record_take(record), (want))

/* ---- labels ---- */

static void a_change_of_labels_leads_to_old_and_new_watchers(void **state)
{
    struct setting *t = *state;
    static const struct {
        const char *labels; /* NULL: deleted */
        const char *web, *db, *tier, *both, *any, *not_web;
    } steps[] = {
        {"", "", "", "", "", "+2 ns/x=0 ", "+2 ns/x=0 "},
        {"\"app\":\"web\"", "+3 ns/x=1 ", "", "", "", "~3 ns/x=1 ", "-3 ns/x=0 "},
        {"\"app\":\"web\",\"z\":\"1\"", "~4 ns/x=2 ", "", "", "", "~4 ns/x=2 ", ""},
        {"\"app\":\"db\"", "-5 ns/x=2 ", "+5 ns/x=3 ", "", "", "~5 ns/x=3 ", "+5 ns/x=3 "},
        {"\"tier\":\"1\",\"app\":\"db\"", "", "~6 ns/x=4 ", "+6 ns/x=4 ", "", "~6 ns/x=4 ",
         "~6 ns/x=4 "},
        {"\"tier\":\"1\",\"app\":\"web\"", "+7 ns/x=5 ", "-7 ns/x=4 ", "~7 ns/x=5 ", "+7 ns/x=5 ",
         "~7 ns/x=5 ", "-7 ns/x=4 "},
        {"\"tier\":\"2\"", "-8 ns/x=5 ", "", "-8 ns/x=5 ", "-8 ns/x=5 ", "~8 ns/x=6 ",
         "+8 ns/x=6 "},
        {"\"app\":\"web\",\"tier\":\"1\"", "+9 ns/x=7 ", "", "+9 ns/x=7 ", "+9 ns/x=7 ",
         "~9 ns/x=7 ", "-9 ns/x=6 "},
        {NULL, "-10 ns/x=7 ", "", "-10 ns/x=7 ", "-10 ns/x=7 ", "-10 ns/x=7 ", ""},
        {"\"app\":\"db\"", "", "+11 ns/x=9 ", "", "", "+11 ns/x=9 ", "+11 ns/x=9 "},
    };
    struct record *web = watch(t, (struct filter_texts){.resource = "things", .labels = "app=web"});
    struct record *db = watch(t, (struct filter_texts){.labels = "app in (db)"});
    struct record *tier = watch(
        t, (struct filter_texts){.resource = "things", .namespace = "ns", .labels = "tier=1"});
    struct record *both = watch(
        t, (struct filter_texts){.resource = "things", .labels = "tier=1,app=web"});
    struct record *any = watch(t, (struct filter_texts){.resource = "things"});
    struct record *not_web = watch(
        t, (struct filter_texts){.resource = "things", .labels = "app!=web"});
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char value[2] = {(char)('0' + i), 0};
        if (steps[i].labels)
            put_labelled(t->store, "things", "ns", "x", steps[i].labels, value);
        else
            del(t->store, "things", "ns", "x");
        turn();
        assert_text(web, steps[i].web);
        assert_text(db, steps[i].db);
        assert_text(tier, steps[i].tier);
        assert_text(both, steps[i].both);
        assert_text(any, steps[i].any);
        assert_text(not_web, steps[i].not_web);
    }
}

/* Odd bytes: the same label twice, escaped, empty, or of a type that is no text. */
static void odd_labels_are_followed_once(void **state)
{
    struct setting *t = *state;
    struct record *one = watch(t, (struct filter_texts){.resource = "things", .labels = "a=1"});
    struct record *two = watch(t, (struct filter_texts){.resource = "things", .labels = "a=2"});
    struct record *empty = watch(t, (struct filter_texts){.resource = "things", .labels = "a="});
    put_labelled(t->store, "things", "ns", "x", "\"a\":\"1\",\"a\":\"1\"", "1");
    put_labelled(t->store, "things", "ns", "x", "\"a\":\"1\",\"a\":\"2\"", "2");
    put_labelled(t->store, "things", "ns", "x", "\"\\u0061\":\"\\u0032\"", "3");
    put_labelled(t->store, "things", "ns", "x", "\"a\":\"\"", "4");
    put_labelled(t->store, "things", "ns", "x", "\"a\":1", "5");
    put_labelled(t->store, "things", "ns", "x", "\"a\\u0000\":\"1\",\"a\":\"1\\u0000\"", "6");
    turn();
    assert_text(one, "+2 ns/x=1 ~3 ns/x=2 -4 ns/x=2 ");
    assert_text(two, "+4 ns/x=3 -5 ns/x=3 ");
    assert_text(empty, "+5 ns/x=4 -6 ns/x=4 ");
}

/* The labels of a damaged version are unknown: all filters with a label selector judge the
 * change. */
static void a_damaged_version_leads_to_all_who_go_by_labels(void **state)
{
    struct setting *t = *state;
    uint64_t bad = put_labelled(t->store, "things", "ns", "x", "\"app\":\"web\"", "1");
    vd_registry_free(registry);
    damage_row(t, bad);
    reopen(t, 0);
    setup_registry(state);
    struct record *web = watch(t, WEB);
    struct record *db = watch(t, (struct filter_texts){.resource = "things", .labels = "app=db"});
    struct record *all = watch(t, (struct filter_texts){0});
    struct record *others = watch(t,
                                  (struct filter_texts){.resource = "others", .labels = "app=web"});
    struct record *elsewhere = watch(
        t, (struct filter_texts){.resource = "things", .namespace = "b", .labels = "app=web"});
    put_labelled(t->store, "things", "ns", "x", "\"app\":\"db\"", "2");
    put_labelled(t->store, "things", "ns", "x", "\"app\":\"db\"", "3");
    turn();
    assert_text(web, "-3 ns/x=? ");
    assert_text(db, "~3 ns/x=2 ~4 ns/x=3 ");
    assert_text(all, "~3 ns/x=2 ~4 ns/x=3 ");
    assert_text(others, "");
    assert_text(elsewhere, "");
}

/* ---- every shape ---- */

/* All combinations of what a filter can ask for. */
enum { SHAPES = 3 * 3 * 3 * 5 * 3 };

static struct filter_texts shape(unsigned i)
{
    static const char *const resources[] = {NULL, "things", "others"};
    static const char *const namespaces[] = {NULL, "a", "ab"};
    static const char *const names[] = {NULL, "x0", "x1"};
    static const char *const labels[] = {NULL, "app=web", "app=db,tier=1", "app!=web", "tier"};
    static const char *const fields[] = {NULL, "metadata.name=x1", "value!=v3"};
    struct filter_texts texts = {.resource = resources[i % 3], .namespace = namespaces[i / 3 % 3]};
    texts.name = names[i / 9 % 3];
    texts.labels = labels[i / 27 % 5];
    texts.fields = fields[i / 135 % 3];
    return texts;
}

static void random_write(struct setting *t, uint32_t *random, unsigned number)
{
    static const char *const resources[] = {"things", "others", "thirds"};
    static const char *const namespaces[] = {"", "a", "ab"};
    static const char *const labels[] = {"", "\"app\":\"web\"", "\"app\":\"db\",\"tier\":\"1\"",
                                         "\"tier\":\"1\",\"app\":\"web\"", "\"tier\":\"2\""};
    *random = *random * 1664525u + 1013904223u;
    uint32_t r = *random >> 8;
    char name[8], value[16];
    snprintf(name, sizeof name, "x%u", r % 3);
    snprintf(value, sizeof value, "v%u", number % 7);
    const char *resource = resources[r / 3 % 3], *namespace = namespaces[r / 9 % 3];
    if (r / 27 % 5 == 0)
        test_delete(t->store, resource, namespace, name, NULL);
    else
        put_labelled(t->store, resource, namespace, name, labels[r / 135 % 5], value);
}

/* Ordered, Unique, Reliable, Filtered: for every filter a watcher is given the same at commits as a
 * cursor reads from the log, in turns of one commit and of many. */
static void every_watcher_sees_what_its_cursor_reads(void **state)
{
    struct setting *t = *state;
    static struct record *w[SHAPES];
    uint32_t random = 3;
    for (unsigned i = 0; i < SHAPES; i++)
        w[i] = watch(t, shape(i));
    struct vd_registry_stats stats;
    vd_registry_stats(registry, &stats);
    assert_int_equal(stats.groups, SHAPES);
    for (unsigned i = 0; i < 400; i++) {
        random_write(t, &random, i);
        if (random % 3)
            turn();
    }
    turn();
    size_t seen = 0;
    for (unsigned i = 0; i < SHAPES; i++) {
        seen += w[i]->text.n > 0;
        assert_string_equal(record_take(w[i]), read_at(t, shape(i), 1));
        record_free(w[i]);
    }
    assert_true(seen > SHAPES / 2);
    vd_registry_stats(registry, &stats);
    assert_int_equal(stats.groups, 0);
}

/* Groups and buckets come and go; the routes of those that stay remain. */
static void routes_survive_the_coming_and_going_of_others(void **state)
{
    struct setting *t = *state;
    static struct record *w[SHAPES];
    static uint64_t since[SHAPES];
    uint32_t random = 5;
    for (unsigned i = 0; i < 600; i++) {
        unsigned at = (random >> 9) % SHAPES;
        if (w[at]) {
            turn();
            assert_string_equal(record_take(w[at]), read_at(t, shape(at), since[at]));
            record_free(w[at]);
            w[at] = NULL;
        } else {
            since[at] = vd_store_revision(t->store);
            w[at] = watch(t, shape(at));
        }
        random_write(t, &random, i);
    }
    turn();
    for (unsigned i = 0; i < SHAPES; i++)
        if (w[i])
            assert_string_equal(record_take(w[i]), read_at(t, shape(i), since[i]));
}

/* ---- what a change costs ---- */

static size_t looked_up;

/* Counts how often a filter with a field selector is asked about an object. */
static bool counting_field(const void *attributes, struct vd_slice field, struct vd_slice *value)
{
    looked_up++;
    return vd_attributes_field(attributes, field, value);
}

enum { CROWD = 10000 };

/* One of many watchers, each with a filter of its own. */
static void crowd_add(struct setting *t, struct vd_watcher *w, const struct vd_watcher_ops *ops,
                      struct vd_filter_spec spec)
{
    struct vd_error error;
    spec.field = counting_field;
    assert_ok(vd_field_selector_parse(&spec.fields, VD_SLICE("value!=none"), &error), &error);
    struct vd_filter *filter = vd_filter_new(&spec);
    vd_field_selector_unref(spec.fields);
    w->ops = ops;
    vd_cursor_open_now(&w->cursor, t->store, filter);
    vd_registry_add(registry, w);
    vd_filter_unref(filter);
}

static struct vd_selector *selector_of(const char *text)
{
    struct vd_selector *selector;
    struct vd_error error;
    assert_ok(vd_selector_parse(&selector, vd_slice_of(text), &error), &error);
    return selector;
}

static size_t served;

static enum vd_take count_delivery(struct vd_watcher *w, const struct vd_deliveries *d,
                                   struct vd_shared **shared)
{
    (void)w;
    (void)shared;
    served += d->list.n;
    return VD_TAKE_MORE;
}

static void never_ended(struct vd_watcher *w, const struct vd_error *error)
{
    (void)w;
    fail_msg("ended: %s", error->text);
}

/* The cost of a change depends on the watchers that it concerns: no filter of ten thousand watchers
 * of other names, namespaces, resources or labels judges it. */
static void a_change_asks_only_those_it_may_concern(void **state)
{
    struct setting *t = *state;
    static const struct vd_watcher_ops ops = {.deliver = count_delivery, .ended = never_ended};
    struct vd_watcher *crowd = calloc(CROWD, sizeof *crowd);
    for (size_t i = 0; i < CROWD; i++) {
        char text[16], label[32];
        snprintf(text, sizeof text, "n%zu", i / 5);
        snprintf(label, sizeof label, "app=n%zu", i / 5);
        struct vd_slice own = vd_slice_of(text), things = VD_SLICE("things");
        struct vd_selector *selector = selector_of(label);
        struct vd_filter_spec specs[] = {
            {.resource = things, .namespace = VD_SLICE("ns"), .name = own},
            {.resource = things, .name = own},
            {.resource = things, .namespace = own},
            {.resource = own},
            {.resource = things, .labels = selector},
        };
        crowd_add(t, &crowd[i], &ops, specs[i % 5]);
        vd_selector_unref(selector);
    }
    static const struct {
        const char *resource, *namespace, *name, *labels;
        size_t concerns;
    } changes[] = {
        {"things", "ns", "other", "\"app\":\"other\"", 0},
        {"things", "ns", "n7", "", 2},
        {"things", "n7", "other", "", 1},
        {"n7", "n7", "n7", "\"app\":\"n7\"", 1},
        {"things", "ns", "labelled", "\"b\":\"n7\",\"app\":\"n7\"", 1},
        {"things", "n1", "n2", "\"app\":\"n3\"", 3},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        looked_up = served = 0;
        put_labelled(t->store, changes[i].resource, changes[i].namespace, changes[i].name,
                     changes[i].labels, "v");
        turn();
        assert_int_equal(served, changes[i].concerns);
        assert_int_equal(looked_up, changes[i].concerns);
    }
    for (size_t i = 0; i < CROWD; i++) {
        vd_registry_remove(&crowd[i]);
        vd_cursor_close(&crowd[i].cursor);
    }
    free(crowd);
}

/* However many share a filter, it is judged once. */
static void a_group_is_judged_once(void **state)
{
    struct setting *t = *state;
    static const struct vd_watcher_ops ops = {.deliver = count_delivery, .ended = never_ended};
    struct vd_watcher *crowd = calloc(1000, sizeof *crowd);
    struct vd_selector *selector = selector_of("app=web,tier=1");
    for (size_t i = 0; i < 1000; i++)
        crowd_add(t, &crowd[i], &ops,
                  (struct vd_filter_spec){.resource = VD_SLICE("things"), .labels = selector});
    vd_selector_unref(selector);
    looked_up = served = 0;
    put_labelled(t->store, "things", "ns", "x", "\"app\":\"web\",\"tier\":\"1\"", "1");
    turn();
    assert_int_equal(looked_up, 1);
    assert_int_equal(served, 1000);
    put_labelled(t->store, "things", "ns", "x", "\"tier\":\"1\",\"app\":\"web\"", "2");
    turn();
    assert_int_equal(looked_up, 3); /* the update: as it is now and as it was before */
    assert_int_equal(served, 2000);
    for (size_t i = 0; i < 1000; i++) {
        vd_registry_remove(&crowd[i]);
        vd_cursor_close(&crowd[i].cursor);
    }
    free(crowd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_in_memory, teardown_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_change_of_labels_leads_to_old_and_new_watchers),
        TEST(odd_labels_are_followed_once),
        cmocka_unit_test_setup_teardown(a_damaged_version_leads_to_all_who_go_by_labels,
                                        setup_on_disk, teardown_all),
        TEST(every_watcher_sees_what_its_cursor_reads),
        TEST(routes_survive_the_coming_and_going_of_others),
        TEST(a_change_asks_only_those_it_may_concern),
        TEST(a_group_is_judged_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
