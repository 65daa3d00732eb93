/* src/watch/filter.h: how a change is delivered through a filter, and which filters can share
 * deliveries. */
#include "watch/filter.h"

#include "check.h"
#include "watch_fixture.h"

static struct vd_collection *things;

/* Bodies that match a=1 and spec.f=1, and bodies that do not. */
#define META(labels) "{\"metadata\":{\"labels\":{" labels "},\"resourceVersion\":\"\"},"
#define IN(value)    META("\"a\":\"1\"") "\"spec\":{\"f\":\"1\"},\"value\":\"" value "\"}"
#define OFF(value)   META("\"a\":\"2\"") "\"spec\":{\"f\":\"2\"},\"value\":\"" value "\"}"
#define BARE(value)  META("") "\"value\":\"" value "\"}"
#define LOST         "lost"

static struct vd_event *event_of(const char *json, enum vd_event_type type, uint64_t revision)
{
    return test_event(things, "ns", "x", type, revision, strcmp(json, LOST) ? json : NULL);
}

/* The change from `before` at 4 to `now` at 5; NULL: the object does not exist. A deletion carries
 * the last bytes, as the store makes it. */
static struct vd_change change_of(const char *before, const char *now)
{
    enum vd_event_type type = !now     ? VD_EVENT_DELETED
                              : before ? VD_EVENT_UPDATED
                                       : VD_EVENT_CREATED;
    return (struct vd_change){
        .before = before ? event_of(before, VD_EVENT_CREATED, 4) : NULL,
        .now = event_of(now ? now : before, type, 5),
    };
}

/* What the filter delivers of a change, as text; the references are dropped. */
static void judge_text(const struct vd_filter *filter, struct vd_change change, struct vd_buf *out)
{
    struct vd_attributes now = {0}, before = {0};
    struct vd_deliveries deliveries = {0};
    vd_attributes_set(&now, change.now);
    vd_attributes_set(&before, change.before);
    bool added = vd_filter_judge(filter, &change, &now, &before, &deliveries);
    assert_int_equal(added, deliveries.list.n);
    vd_change_release(&change);
    vd_buf_reset(out);
    deliveries_add_text(out, &deliveries);
    vd_deliveries_release(&deliveries);
    vd_attributes_release(&now);
    vd_attributes_release(&before);
}

struct transition {
    const char *before, *now, *delivered;
};

static void check_transitions(struct filter_texts texts, const struct transition *rows, size_t n)
{
    struct vd_filter *filter = test_filter(texts);
    struct vd_buf got = {0};
    for (size_t i = 0; i < n; i++) {
        judge_text(filter, change_of(rows[i].before, rows[i].now), &got);
        if (!vd_slice_is(vd_buf_slice(&got), rows[i].delivered))
            fail_msg("row %zu: got \"%s\", want \"%s\"", i, vd_buf_text(&got), rows[i].delivered);
    }
    vd_buf_release(&got);
    vd_filter_unref(filter);
}

/* The whole table: before x now, a deletion being "now: nothing". */
static const struct transition selected[] = {
    {NULL, IN("new"), "+5 ns/x=new "},
    {NULL, OFF("new"), ""},
    {NULL, BARE("new"), ""},
    {IN("old"), IN("new"), "~5 ns/x=new "},
    {IN("old"), OFF("new"), "-5 ns/x=old "},
    {IN("old"), BARE("new"), "-5 ns/x=old "},
    {IN("old"), NULL, "-5 ns/x=old "},
    {OFF("old"), IN("new"), "+5 ns/x=new "},
    {BARE("old"), IN("new"), "+5 ns/x=new "},
    {OFF("old"), OFF("new"), ""},
    {OFF("old"), BARE("new"), ""},
    {OFF("old"), NULL, ""},
    {BARE("old"), NULL, ""},
    /* Whether a damaged version matched cannot be known: it counts as if it had. */
    {LOST, IN("new"), "~5 ns/x=new "},
    {LOST, OFF("new"), "-5 ns/x=? "},
    {LOST, NULL, "-5 ns/x=? "},
};
enum { SELECTED_N = sizeof selected / sizeof *selected };

static void objects_enter_and_leave_by_their_labels(void **state)
{
    (void)state;
    check_transitions((struct filter_texts){.resource = "things", .labels = "a=1"}, selected,
                      SELECTED_N);
    check_transitions((struct filter_texts){.resource = "things", .labels = "a in (0,1)"}, selected,
                      SELECTED_N);
}

static void objects_enter_and_leave_by_their_fields(void **state)
{
    (void)state;
    check_transitions((struct filter_texts){.resource = "things", .fields = "spec.f=1"}, selected,
                      SELECTED_N);
    check_transitions((struct filter_texts){.resource = "things",
                                            .namespace = "ns",
                                            .name = "x",
                                            .labels = "a=1",
                                            .fields = "spec.f=1"},
                      selected, SELECTED_N);
}

static void without_selectors_every_change_is_seen_as_it_is(void **state)
{
    (void)state;
    static const struct transition rows[] = {
        {NULL, BARE("new"), "+5 ns/x=new "}, {BARE("old"), OFF("new"), "~5 ns/x=new "},
        {BARE("old"), NULL, "-5 ns/x=old "}, {LOST, BARE("new"), "~5 ns/x=new "},
        {LOST, NULL, "-5 ns/x=? "},
    };
    size_t n = sizeof rows / sizeof *rows;
    check_transitions((struct filter_texts){.resource = 0}, rows, n);
    check_transitions((struct filter_texts){.resource = "things"}, rows, n);
    check_transitions(
        (struct filter_texts){
            .resource = "things", .namespace = "ns", .name = "x", .labels = "", .fields = ""},
        rows, n);
    check_transitions((struct filter_texts){.name = "x"}, rows, n);
    check_transitions((struct filter_texts){.namespace = "ns"}, rows, n);
}

static void a_negative_selector_takes_those_without_the_label(void **state)
{
    (void)state;
    static const struct transition rows[] = {
        {NULL, BARE("new"), "+5 ns/x=new "},      {OFF("old"), IN("new"), "-5 ns/x=old "},
        {IN("old"), BARE("new"), "+5 ns/x=new "}, {IN("old"), NULL, ""},
        {LOST, IN("new"), "-5 ns/x=? "},
    };
    size_t n = sizeof rows / sizeof *rows;
    check_transitions((struct filter_texts){.resource = "things", .labels = "a!=1"}, rows, n);
    check_transitions((struct filter_texts){.resource = "things", .labels = "a notin (1)"}, rows,
                      n);
    check_transitions((struct filter_texts){.resource = "things", .fields = "spec.f!=1"}, rows, n);
}

static void other_keys_are_never_delivered(void **state)
{
    (void)state;
    static const struct filter_texts others[] = {
        {.resource = "thing"},
        {.resource = "thingss"},
        {.resource = "things", .namespace = "n"},
        {.resource = "things", .namespace = "nss"},
        {.resource = "things", .namespace = "ns/x"},
        {.name = "xx"},
        {.resource = "things", .name = "y"},
        {.namespace = "x"},
        {.resource = "others", .namespace = "ns", .name = "x"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        static const struct transition rows[] = {
            {NULL, IN("new"), ""}, {IN("old"), IN("new"), ""}, {IN("old"), NULL, ""},
            {LOST, IN("new"), ""}, {LOST, NULL, ""},
        };
        check_transitions(others[i], rows, sizeof rows / sizeof *rows);
    }
}

/* An object that leaves the filter is sent a copy with another revision: the bytes of the version
 * before are shared and must not change. */
static void leaving_restamps_a_copy(void **state)
{
    (void)state;
    struct vd_filter *filter = test_filter(
        (struct filter_texts){.resource = "things", .labels = "a=1"});
    struct vd_change change = change_of(IN("old"), OFF("new"));
    struct vd_attributes now = {0}, before = {0};
    struct vd_deliveries deliveries = {0};
    vd_attributes_set(&now, change.now);
    vd_attributes_set(&before, change.before);
    assert_true(vd_filter_judge(filter, &change, &now, &before, &deliveries));
    struct vd_delivery *d = &deliveries.list.p[0];
    assert_ptr_equal(d->event, change.now);
    assert_int_equal(body_revision(d->body), 5);
    assert_int_equal(body_revision(change.before->body), 4);
    assert_slice(vd_body_slice(d->body),
                 "{\"metadata\":{\"labels\":{\"a\":\"1\"},\"resourceVersion\":\"5\"},"
                 "\"spec\":{\"f\":\"1\"},\"value\":\"old\"}");
    vd_change_release(&change);
    vd_deliveries_release(&deliveries);
    vd_attributes_release(&now);
    vd_attributes_release(&before);
    vd_filter_unref(filter);
}

/* Deliveries of an object that matches share the event's own bytes. */
static void what_matches_is_not_copied(void **state)
{
    (void)state;
    struct vd_filter *filter = test_filter((struct filter_texts){.resource = "things"});
    struct vd_change change = change_of(IN("old"), IN("new"));
    struct vd_attributes now = {0}, before = {0};
    struct vd_deliveries deliveries = {0};
    vd_attributes_set(&now, change.now);
    vd_attributes_set(&before, change.before);
    for (int i = 0; i < 3; i++)
        assert_true(vd_filter_judge(filter, &change, &now, &before, &deliveries));
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(deliveries.list.p[i].body, change.now->body);
    vd_deliveries_reset(&deliveries);
    assert_int_equal(deliveries.list.n, 0);
    vd_change_release(&change);
    vd_deliveries_release(&deliveries);
    vd_attributes_release(&now);
    vd_attributes_release(&before);
    vd_filter_unref(filter);
}

static void an_object_as_it_is_matches_or_not(void **state)
{
    (void)state;
    static const struct {
        struct filter_texts texts;
        bool matches;
    } cases[] = {
        {{0}, true},
        {{.resource = "things",
          .namespace = "ns",
          .name = "x",
          .labels = "a=1",
          .fields = "spec.f=1"},
         true},
        {{.resource = "things",
          .namespace = "ns",
          .name = "x",
          .labels = "a=1",
          .fields = "spec.f=2"},
         false},
        {{.resource = "things",
          .namespace = "ns",
          .name = "x",
          .labels = "a=2",
          .fields = "spec.f=1"},
         false},
        {{.resource = "others"}, false},
        {{.resource = "things", .namespace = "other"}, false},
        {{.name = "y"}, false},
        {{.fields = "metadata.name=x,metadata.namespace=ns"}, true},
        {{.fields = "metadata.name!=x"}, false},
        {{.fields = "spec.none="}, true}, /* a missing field counts as empty */
        {{.fields = "spec.none!="}, false},
        {{.labels = "!b"}, true},
    };
    struct vd_event *event = event_of(IN("v"), VD_EVENT_CREATED, 4);
    struct vd_attributes attributes = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_filter *filter = test_filter(cases[i].texts);
        vd_attributes_set(&attributes, event);
        if (vd_filter_matches(filter, &attributes) != cases[i].matches)
            fail_msg("case %zu", i);
        vd_filter_unref(filter);
    }
    vd_attributes_release(&attributes);
    vd_event_unref(event);
}

/* A kind's own field: "half" is how the value begins. */
static bool half_field(const void *arg, struct vd_slice field, struct vd_slice *value)
{
    const struct vd_attributes *attributes = arg;
    char room[64];
    if (!vd_slice_is(field, "half"))
        return vd_attributes_field(arg, field, value);
    const char *text = body_value(attributes->event->body, room);
    *value = strncmp(text, "good", 4) == 0 ? VD_SLICE("good") : VD_SLICE("other");
    return true;
}

static void fields_are_found_by_the_kinds_own_hook(void **state)
{
    (void)state;
    struct vd_filter_spec spec = {.resource = VD_SLICE("things"), .field = half_field};
    struct vd_error error;
    struct vd_buf got = {0};
    assert_ok(vd_field_selector_parse(&spec.fields, VD_SLICE("half=good,spec.f=1"), &error),
              &error);
    struct vd_filter *filter = vd_filter_new(&spec);
    vd_field_selector_unref(spec.fields);
    judge_text(filter, change_of(IN("bad"), IN("goodnews")), &got);
    assert_string_equal(vd_buf_text(&got), "+5 ns/x=goodnews ");
    judge_text(filter, change_of(IN("goodold"), IN("bad")), &got);
    assert_string_equal(vd_buf_text(&got), "-5 ns/x=goodold ");
    judge_text(filter, change_of(OFF("good"), OFF("goodnews")), &got);
    assert_string_equal(vd_buf_text(&got), "");
    vd_filter_unref(filter);
    vd_buf_release(&got);
}

struct identity {
    const char *resource, *namespace, *name, *labels, *fields;
    vd_field_lookup_fn *field;
    uint32_t format;
};

static struct vd_filter *filter_of(const struct identity *i)
{
    struct vd_error error;
    struct vd_filter_spec spec = {
        .resource = vd_slice_of(i->resource ? i->resource : ""),
        .namespace = vd_slice_of(i->namespace ? i->namespace : ""),
        .name = vd_slice_of(i->name ? i->name : ""),
        .field = i->field,
        .format = i->format,
    };
    if (i->labels)
        assert_ok(vd_selector_parse(&spec.labels, vd_slice_of(i->labels), &error), &error);
    if (i->fields)
        assert_ok(vd_field_selector_parse(&spec.fields, vd_slice_of(i->fields), &error), &error);
    struct vd_filter *filter = vd_filter_new(&spec);
    vd_selector_unref(spec.labels);
    vd_field_selector_unref(spec.fields);
    return filter;
}

static bool can_share(const struct identity *a, const struct identity *b)
{
    struct vd_filter *one = filter_of(a), *other = filter_of(b);
    bool same = vd_slice_eq(one->identity, other->identity);
    vd_filter_unref(one);
    vd_filter_unref(other);
    return same;
}

static void filters_that_say_the_same_can_share(void **state)
{
    (void)state;
    static const struct identity pairs[][2] = {
        {{.resource = "k",
          .namespace = "s",
          .name = "n",
          .labels = "a=1",
          .fields = "f=1",
          .format = 3},
         {.resource = "k",
          .namespace = "s",
          .name = "n",
          .labels = "a=1",
          .fields = "f=1",
          .format = 3}},
        {{.resource = "k", .labels = "a=1,b=2"}, {.resource = "k", .labels = "b=2 , a = 1"}},
        {{.resource = "k", .labels = "a in (y,x)"}, {.resource = "k", .labels = "a in (x, y,x)"}},
        {{.resource = "k", .fields = "f=1,g=2"}, {.resource = "k", .fields = "g==2,f=1"}},
        {{.resource = "k"}, {.resource = "k", .labels = "", .fields = ""}},
        {{.resource = "k", .labels = " "}, {.resource = "k", .fields = ""}},
        {{.resource = "k", .fields = "f=1"},
         {.resource = "k", .fields = "f=1", .field = vd_attributes_field}},
        /* without a field selector the lookup function makes no difference */
        {{.resource = "k", .labels = "a=1"},
         {.resource = "k", .labels = "a=1", .field = half_field}},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!can_share(&pairs[i][0], &pairs[i][1]))
            fail_msg("pair %zu cannot share", i);
}

static void filters_that_differ_never_share(void **state)
{
    (void)state;
    static const struct identity pairs[][2] = {
        {{.resource = "k"}, {0}},
        {{.resource = "k"}, {.resource = "l"}},
        {{.resource = "k", .namespace = "a"}, {.resource = "k", .name = "a"}},
        {{.resource = "k", .namespace = "a", .name = "b"}, {.resource = "k", .namespace = "ab"}},
        {{.resource = "ka"}, {.resource = "k", .namespace = "a"}},
        {{.resource = "k", .labels = "a=1"}, {.resource = "k", .labels = "a=2"}},
        {{.resource = "k", .labels = "a=1"}, {.resource = "k", .labels = "a=1,b"}},
        {{.resource = "k", .labels = "a=1"}, {.resource = "k", .fields = "a=1"}},
        {{.resource = "k", .fields = "f=1"}, {.resource = "k", .fields = "f!=1"}},
        {{.resource = "k", .fields = "f=1"},
         {.resource = "k", .fields = "f=1", .field = half_field}},
        {{.resource = "k", .format = 1}, {.resource = "k", .format = 2}},
        {{.resource = "k", .format = 1}, {.resource = "k", .format = 11}},
        {{.resource = "1", .format = 1}, {.format = 11}},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (can_share(&pairs[i][0], &pairs[i][1]))
            fail_msg("pair %zu can share", i);
}

/* Whatever bytes a request has in its parts, the filter never gets the identity of another
 * filter. */
static void a_nul_in_a_part_fakes_no_other_filter(void **state)
{
    (void)state;
    struct vd_error error;
    struct vd_filter_spec honest = {
        .resource = VD_SLICE("k"), .namespace = VD_SLICE("a"), .name = VD_SLICE("b")};
    struct vd_filter_spec forged = {.resource = VD_SLICE("k"), .namespace = vd_slice("a\0b", 3)};
    struct vd_slice text = vd_slice("x\0f=1", 5);
    assert_ok(vd_field_selector_parse(&honest.fields, text, &error), &error);
    assert_ok(vd_selector_parse(&forged.labels, VD_SLICE("x"), &error), &error);
    assert_ok(vd_field_selector_parse(&forged.fields, VD_SLICE("f=1"), &error), &error);
    struct vd_filter *one = vd_filter_new(&honest), *other = vd_filter_new(&forged);
    assert_false(vd_slice_eq(one->identity, other->identity));
    vd_filter_unref(one);
    vd_filter_unref(other);
    vd_field_selector_unref(honest.fields);
    vd_field_selector_unref(forged.fields);
    vd_selector_unref(forged.labels);
}

static void a_filter_keeps_its_own_copies(void **state)
{
    (void)state;
    char resource[] = "things", namespace[] = "ns", name[] = "x", labels[] = "a=1";
    struct vd_filter *filter = test_filter((struct filter_texts){
        .resource = resource, .namespace = namespace, .name = name, .labels = labels});
    memset(resource, '#', sizeof resource - 1);
    memset(namespace, '#', sizeof namespace - 1);
    memset(name, '#', sizeof name - 1);
    memset(labels, '#', sizeof labels - 1);
    struct vd_filter *again = vd_filter_ref(filter);
    vd_filter_unref(filter);
    struct vd_buf got = {0};
    judge_text(again, change_of(NULL, IN("new")), &got);
    assert_string_equal(vd_buf_text(&got), "+5 ns/x=new ");
    vd_buf_release(&got);
    vd_filter_unref(again);
    vd_filter_unref(NULL);
}

static void types_have_their_names_on_the_wire(void **state)
{
    (void)state;
    assert_string_equal(vd_delivery_name(VD_ADDED), "ADDED");
    assert_string_equal(vd_delivery_name(VD_MODIFIED), "MODIFIED");
    assert_string_equal(vd_delivery_name(VD_DELETED), "DELETED");
}

static int setup(void **state)
{
    (void)state;
    things = vd_collection_new(VD_SLICE("things"));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    vd_collection_free(things);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_enter_and_leave_by_their_labels),
        cmocka_unit_test(objects_enter_and_leave_by_their_fields),
        cmocka_unit_test(without_selectors_every_change_is_seen_as_it_is),
        cmocka_unit_test(a_negative_selector_takes_those_without_the_label),
        cmocka_unit_test(other_keys_are_never_delivered),
        cmocka_unit_test(leaving_restamps_a_copy),
        cmocka_unit_test(what_matches_is_not_copied),
        cmocka_unit_test(an_object_as_it_is_matches_or_not),
        cmocka_unit_test(fields_are_found_by_the_kinds_own_hook),
        cmocka_unit_test(filters_that_say_the_same_can_share),
        cmocka_unit_test(filters_that_differ_never_share),
        cmocka_unit_test(a_nul_in_a_part_fakes_no_other_filter),
        cmocka_unit_test(a_filter_keeps_its_own_copies),
        cmocka_unit_test(types_have_their_names_on_the_wire),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
