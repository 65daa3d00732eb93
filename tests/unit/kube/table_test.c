/* src/kube/table/table.c, table_cell.c: the tables of every built-in kind, of a custom
 * kind with all types of columns, and of watches. */
#include "kube/table/tables.h"

#include <string.h>

#include "backtick.h"
#include "base/human_time.h"
#include "base/limits.h"
#include "json_check.h"
#include "kinds/builtin.h"

#define NOW     "2026-11-15T10:00:00Z"
#define CREATED "`creationTimestamp`:`2026-11-15T09:59:39Z`" /* 21 s before */

/* Columns and documents, in pieces that every table has. */
#define COLUMN(name, type, format, description, priority)                                          \
    "{`name`:`" name "`,`type`:`" type "`,`format`:`" format "`,`description`:`" description       \
    "`,`priority`:" priority "}"
#define NAME                                                                                       \
    COLUMN("Name", "string", "name", "Unique among the objects of its kind in its namespace.", "0")
#define AGE           COLUMN("Age", "string", "", "Time since the object was created.", "0")
#define CREATED_AT    COLUMN("Created At", "date", "", "When the object was created.", "0")
#define HEAD(version) "{`kind`:`Table`,`apiVersion`:`meta.k8s.io/v1`,`metadata`:" version
#define PARTIAL       "{`kind`:`PartialObjectMetadata`,`apiVersion`:`meta.k8s.io/v1`,`metadata`:"

static const char widgets[] =
    "{`spec`:{`group`:`example.com`,`scope`:`Namespaced`,`names`:{`kind`:`Widget`,`plural`:"
    "`widgets`},`versions`:[{`name`:`v1`,`served`:true,`storage`:true,`additionalPrinterColumns`:["
    "{`name`:`Color`,`type`:`string`,`jsonPath`:`.spec.color`},"
    "{`name`:`Size`,`type`:`integer`,`format`:`int32`,`jsonPath`:`.spec.size`,`priority`:5},"
    "{`name`:`Ratio`,`type`:`number`,`jsonPath`:`.spec.ratio`},"
    "{`name`:`On`,`type`:`boolean`,`jsonPath`:`.spec.on`,`description`:`Is it \\`on\\`?`},"
    "{`name`:`Since`,`type`:`date`,`jsonPath`:`.spec.since`},"
    "{`name`:`Ready`,`type`:`string`,`jsonPath`:`.status.conditions[?(@.type==\\`Ready\\`)]."
    "status`},"
    "{`name`:`Broken`,`type`:`string`,`jsonPath`:`.spec[`}"
    "]},{`name`:`v2`,`served`:true,`storage`:false}]}}";

struct fixture {
    struct vd_arena arena, scratch;
    struct vd_kinds *kinds;
    struct vd_kind_set *set;
    struct vd_tables *tables;
    struct vd_buf out;
    int64_t now_ms;
};

static int setup(void **state)
{
    struct fixture *f = vd_calloc(1, sizeof *f);
    struct vd_error error;
    f->kinds = vd_kinds_new_builtin();
    const struct vd_json *document = json_of(&f->arena, backtick(&f->arena, widgets));
    assert_ok(vd_kinds_put(f->kinds, document, false, &error), &error);
    f->set = vd_kinds_snapshot(f->kinds);
    f->tables = vd_tables_new();
    assert_true(vd_rfc3339_parse(VD_SLICE(NOW), &f->now_ms));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    vd_buf_release(&f->out);
    vd_tables_free(f->tables);
    vd_kind_set_unref(f->set);
    vd_kinds_free(f->kinds);
    vd_arena_release(&f->scratch);
    vd_arena_release(&f->arena);
    free(f);
    return 0;
}

static struct vd_table_writer writer_of(struct fixture *f, const char *group, const char *version,
                                        const char *plural)
{
    const struct vd_kind *kind = vd_kind_set_resource(f->set, vd_slice_of(group),
                                                      vd_slice_of(version), vd_slice_of(plural));
    assert_non_null(kind);
    struct vd_table *table = vd_tables_get(f->tables, f->set, kind);
    vd_table_unref(table); /* they are kept */
    return (struct vd_table_writer){.table = table, .now_ms = f->now_ms};
}

static struct vd_slice one(struct fixture *f, struct vd_table_writer *w, const char *body)
{
    vd_buf_reset(&f->out);
    vd_table_write_one(w, &f->out, &f->scratch, vd_slice_of(backtick(&f->arena, body)));
    return vd_buf_slice(&f->out);
}

/* --- built-in kinds --- */

/* clang-format off */
#define SUBJECTS \
    "`subjects`:[{`kind`:`User`,`name`:`ann`},{`kind`:`Group`,`name`:`devs`}," \
    "{`kind`:`ServiceAccount`,`namespace`:`ci`,`name`:`bot`},{`kind`:`User`,`name`:`bob`}]"
#define SHOWN(name, description) COLUMN(name, "string", "", description, "0")
#define WIDE(name, description) COLUMN(name, "string", "", description, "1")
#define BINDING_COLUMNS \
    NAME "," SHOWN("Role", "The role that is given.") "," AGE "," \
    WIDE("Users", "The users who get it.") "," \
    WIDE("Groups", "The groups that get it.") "," \
    WIDE("ServiceAccounts", "The service accounts that get it.")
#define EVENT_COLUMNS \
    SHOWN("Last Seen", "Time since it last happened.") "," \
    SHOWN("Type", "Normal or Warning.") "," \
    SHOWN("Reason", "Why it happened, in a word.") "," \
    SHOWN("Object", "What it happened to.") "," \
    WIDE("Subobject", "The part of the object that is meant.") "," \
    WIDE("Source", "Who reported it.") "," \
    SHOWN("Message", "What happened, in a sentence.") "," \
    WIDE("First Seen", "Time since it first happened.") "," \
    WIDE("Count", "How often it happened.") "," \
    COLUMN("Name", "string", "name", "The event's name.", "1")
#define RBAC "rbac.authorization.k8s.io"

/* The body is {`metadata`:{`name`:`a`,<created>}<rest>}. */
static const struct {
    const char *group, *plural, *rest, *columns, *cells;
} builtin_rows[] = {
    {"", "configmaps", ",`data`:{`a`:`1`,`b`:`{}`},`binaryData`:{`c`:`AA==`}",
     NAME "," SHOWN("Data", "How many entries it has.") "," AGE,
     "`a`,3,`21s`"},
    {"", "secrets", ",`type`:`Opaque`,`data`:{`k`:`dg==`}",
     NAME "," SHOWN("Type", "What the secret is for.") ","
     SHOWN("Data", "How many entries it has.") "," AGE,
     "`a`,`Opaque`,1,`21s`"},
    {"", "namespaces", ",`status`:{`phase`:`Active`}",
     NAME "," SHOWN("Status", "Active, or Terminating while it is being emptied.") "," AGE,
     "`a`,`Active`,`21s`"},
    {"", "serviceaccounts", ",`secrets`:[{`name`:`x`},{`name`:`y`}]",
     NAME "," SHOWN("Secrets", "How many secrets are listed.") "," AGE,
     "`a`,2,`21s`"},
    {"coordination.k8s.io", "leases", ",`spec`:{`holderIdentity`:`n_1`}",
     NAME "," SHOWN("Holder", "Who holds it.") "," AGE,
     "`a`,`n_1`,`21s`"},
    {RBAC, "roles", ",`rules`:[]", NAME "," CREATED_AT, "`a`,`2026-11-15T09:59:39Z`"},
    {RBAC, "clusterroles", "", NAME "," CREATED_AT, "`a`,`2026-11-15T09:59:39Z`"},
    {RBAC, "rolebindings", ",`roleRef`:{`kind`:`ClusterRole`,`name`:`view`}," SUBJECTS,
     BINDING_COLUMNS, "`a`,`ClusterRole/view`,`21s`,`ann, bob`,`devs`,`ci/bot`"},
    {RBAC, "clusterrolebindings", ",`roleRef`:{`kind`:`ClusterRole`,`name`:`view`}",
     BINDING_COLUMNS, "`a`,`ClusterRole/view`,`21s`,``,``,``"},
    {"", "services",
     ",`spec`:{`type`:`NodePort`,`clusterIP`:`10.0.0.1`,`ports`:[{`port`:80,`nodePort`:30080,"
     "`protocol`:`TCP`},{`port`:53,`protocol`:`UDP`},{`port`:443}],`selector`:{`a`:`1`,`a-b`:``}}",
     NAME "," SHOWN("Type", "How the service is reached.") ","
     SHOWN("Cluster-IP", "The address inside the cluster.") ","
     SHOWN("External-IP", "Addresses outside the cluster.") ","
     SHOWN("Port(s)", "Ports and protocols.") "," AGE ","
     WIDE("Selector", "The labels of the workloads behind it."),
     "`a`,`NodePort`,`10.0.0.1`,`<none>`,`80:30080/TCP,53/UDP,443/TCP`,`21s`,`a-b=,a=1`"},
    {"", "events",
     ",`involvedObject`:{`kind`:`ConfigMap`,`name`:`cm`,`fieldPath`:`data`},`type`:`Warning`,"
     "`reason`:`Bad`,`message`:` oh no\\n`,`source`:{`component`:`kubelet`,`host`:`n1`},"
     "`firstTimestamp`:`2026-11-15T09:00:00Z`,`lastTimestamp`:`2026-11-15T09:55:00Z`,`count`:4",
     EVENT_COLUMNS,
     "`5m`,`Warning`,`Bad`,`configmap/cm`,`data`,`kubelet, n1`,`oh no`,`60m`,4,`a`"},
    {"events.k8s.io", "events",
     ",`regarding`:{`kind`:`Pod`},`type`:`Normal`,`reason`:`R`,`note`:`n`,`eventTime`:"
     "`2026-11-15T09:58:00.000000Z`,`reportingController`:`c`,`reportingInstance`:`c-0`,"
     "`series`:{`count`:9,`lastObservedTime`:`2026-11-15T09:59:50.500000Z`}",
     EVENT_COLUMNS, "`9s`,`Normal`,`R`,`pod`,``,`c, c-0`,`n`,`2m`,9,`a`"},
};
/* clang-format on */

static void built_in_kinds_have_kubernetes_columns(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof builtin_rows / sizeof *builtin_rows; i++) {
        struct vd_table_writer w = writer_of(f, builtin_rows[i].group, "v1",
                                             builtin_rows[i].plural);
        struct vd_buf body = {0}, want = {0};
        const char *metadata = "{`name`:`a`," CREATED ",`resourceVersion`:`17`}";
        vd_buf_addf(&body, "{`kind`:`K`,`apiVersion`:`v1`,`metadata`:%s%s}", metadata,
                    builtin_rows[i].rest);
        vd_buf_addf(&want,
                    HEAD("{`resourceVersion`:`17`}") ",`columnDefinitions`:[%s],`rows`:[{`cells`:"
                                                     "[%s],`object`:" PARTIAL "%s}}]}",
                    builtin_rows[i].columns, builtin_rows[i].cells, metadata);
        assert_slice(one(f, &w, vd_buf_text(&body)), backtick(&f->arena, vd_buf_text(&want)));
        vd_buf_release(&body);
        vd_buf_release(&want);
    }
}

/* --- cells --- */

static void check_cells(struct fixture *f, const char *group, const char *version,
                        const char *plural, const char *body, const char *cells)
{
    struct vd_table_writer w = writer_of(f, group, version, plural);
    w.object = VD_TABLE_NONE;
    w.headed = true;
    struct vd_buf want = {0};
    vd_buf_addf(&want,
                HEAD("{}") ",`columnDefinitions`:null,`rows`:[{`cells`:[%s],`object`:null}]}",
                cells);
    assert_slice(one(f, &w, body), backtick(&f->arena, vd_buf_text(&want)));
    vd_buf_release(&want);
}

static void services_show_their_addresses(void **state)
{
    static const struct {
        const char *rest, *cells;
    } rows[] = {
        {"`spec`:{}", "``,``,`<none>`,`<none>`,`<none>`,`<unknown>`,`<none>`"},
        {"`spec`:{`type`:`ClusterIP`,`clusterIP`:`None`,`externalIPs`:[`1.1.1.1`,`2.2.2.2`]}",
         "``,`ClusterIP`,`None`,`1.1.1.1,2.2.2.2`,`<none>`,`<unknown>`,`<none>`"},
        {"`spec`:{`type`:`ExternalName`,`externalName`:`example.com`}",
         "``,`ExternalName`,`<none>`,`example.com`,`<none>`,`<unknown>`,`<none>`"},
        {"`spec`:{`type`:`LoadBalancer`}",
         "``,`LoadBalancer`,`<none>`,`<pending>`,`<none>`,`<unknown>`,`<none>`"},
        {"`spec`:{`type`:`LoadBalancer`,`externalIPs`:[`1.1.1.1`]},`status`:{`loadBalancer`:"
         "{`ingress`:[{`ip`:`9.9.9.9`},{`hostname`:`lb`},{`ip`:`3.3.3.3`},{`ip`:`9.9.9.9`},{}]}}",
         "``,`LoadBalancer`,`<none>`,`3.3.3.3,9.9.9.9,lb,1.1.1.1`,`<none>`,`<unknown>`,`<none>`"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_buf body = {0};
        vd_buf_addf(&body, "{%s}", rows[i].rest);
        check_cells(*state, "", "v1", "services", vd_buf_text(&body), rows[i].cells);
        vd_buf_release(&body);
    }
}

static void events_show_their_newest_time_and_count(void **state)
{
    static const struct {
        const char *body, *cells;
    } rows[] = {
        {"{}", "`<unknown>`,``,``,``,``,``,``,`<unknown>`,1,``"},
        {"{`firstTimestamp`:`2026-11-15T09:59:00Z`,`lastTimestamp`:null,`count`:0}",
         "`60s`,``,``,``,``,``,``,`60s`,1,``"},
        {"{`firstTimestamp`:null,`eventTime`:`2026-11-15T09:59:58.000000Z`,`reportingComponent`:"
         "`c`}",
         "`2s`,``,``,``,``,`c`,``,`2s`,1,``"},
        {"{`firstTimestamp`:`2026-11-15T11:00:00Z`,`series`:{}}",
         "`<unknown>`,``,``,``,``,``,``,`<invalid>`,0,``"},
        {"{`source`:{`component`:`k`},`reportingComponent`:`c`,`reportingInstance`:`i`}",
         "`<unknown>`,``,``,``,``,`k, i`,``,`<unknown>`,1,``"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_cells(*state, "", "v1", "events", rows[i].body, rows[i].cells);
    check_cells(*state, "events.k8s.io", "v1", "events",
                "{`deprecatedFirstTimestamp`:`2026-11-15T09:59:00Z`,`deprecatedLastTimestamp`:"
                "`2026-11-15T09:59:30Z`,`deprecatedCount`:3,`deprecatedSource`:{`component`:`k`}}",
                "`30s`,``,``,``,``,`k`,``,`60s`,3,``");
}

static void custom_columns_have_types(void **state)
{
    struct fixture *f = *state;
    struct vd_table_writer w = writer_of(f, "example.com", "v1", "widgets");
    /* clang-format off */
#define PATH "Custom resource definition column (in JSONPath format): "
    static const char columns[] =
        "[" NAME "," COLUMN("Color", "string", "", PATH ".spec.color", "0") ","
        COLUMN("Size", "integer", "int32", PATH ".spec.size", "5") ","
        COLUMN("Ratio", "number", "", PATH ".spec.ratio", "0") ","
        COLUMN("On", "boolean", "", "Is it \\`on\\`?", "0") ","
        COLUMN("Since", "date", "", PATH ".spec.since", "0") ","
        COLUMN("Ready", "string", "",
               PATH ".status.conditions[?(@.type==\\`Ready\\`)].status", "0") ","
        COLUMN("Broken", "string", "", PATH ".spec[", "0") "]";
    /* clang-format on */
    assert_slice(vd_table_columns(w.table), backtick(&f->arena, columns));
    static const struct {
        const char *body, *cells;
    } rows[] = {
        {"{`metadata`:{`name`:`w`},`spec`:{`color`:`r\\u00e9d\\n`,`size`:3,`ratio`:1.50,`on`:true,"
         "`since`:`2026-11-15T08:00:00Z`},`status`:{`conditions`:[{`type`:`A`,`status`:`x`},"
         "{`type`:`Ready`,`status`:`True`}]}}",
         "`w`,`r\xc3\xa9"
         "d\\n`,3,1.50,true,`120m`,`True`,null"},
        {"{}", "``,null,null,null,null,null,null,null"},
        {"{`spec`:{`color`:null,`size`:null,`ratio`:null,`on`:null,`since`:null}}",
         "``,null,null,null,null,null,null,null"},
        /* other types: a text shows anything, the rest shows its own */
        {"{`spec`:{`color`:{`a`:[1,`b`]},`size`:`3`,`ratio`:`1`,`on`:`true`,`since`:5}}",
         "``,`{\\`a\\`:[1,\\`b\\`]}`,null,null,null,null,null,null"},
        {"{`spec`:{`color`:7,`size`:-2.9,`ratio`:4,`on`:false,`since`:`never`}}",
         "``,`7`,-2,4,false,`<invalid>`,null,null"},
        {"{`spec`:{`color`:true,`size`:1e40,`ratio`:-0,`since`:``}}",
         "``,`true`,null,-0,null,`<unknown>`,null,null"},
        {"{`metadata`:{`name`:`\\u0061`},`spec`:`s`,`status`:{`conditions`:{}}}",
         "`\\u0061`,null,null,null,null,null,null,null"},
        /* no JSON at all: rows stay whole */
        {"{`spec`:{`color`:nope", "``,null,null,null,null,null,null,null"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_cells(f, "example.com", "v1", "widgets", rows[i].body, rows[i].cells);
}

static void a_kind_without_columns_has_an_age(void **state)
{
    struct fixture *f = *state;
    struct vd_table_writer w = writer_of(f, "example.com", "v2", "widgets");
    assert_slice(vd_table_columns(w.table),
                 backtick(&f->arena, "[" NAME "," COLUMN("Age", "date", "",
                                                         "When the object was created.", "0") "]"));
    check_cells(f, "example.com", "v2", "widgets", "{`metadata`:{`name`:`w`," CREATED "}}",
                "`w`,`21s`");
}

/* --- documents --- */

static void a_list_is_made_in_parts(void **state)
{
    struct fixture *f = *state;
    struct vd_list_meta meta = {.resource_version = VD_SLICE("418"),
                                .continue_token = VD_SLICE("t"),
                                .has_remaining = true,
                                .remaining = 3};
    struct vd_table_writer w = writer_of(f, RBAC, "v1", "roles");
    struct vd_buf rows = {0};
    w.object = VD_TABLE_NONE;
    vd_table_begin(&w, &f->out, &meta);
    assert_slice(vd_buf_slice(&f->out),
                 backtick(&f->arena, HEAD("{`resourceVersion`:`418`,`continue`:`t`,"
                                          "`remainingItemCount`:3}") ",`columnDefinitions`:[" NAME
                                                                     "," CREATED_AT "],`rows`:["));
    vd_table_add(&w, &rows, &f->scratch,
                 vd_slice_of(backtick(&f->arena, "{`metadata`:{`name`:`a`}}")));
    vd_table_add(&w, &rows, &f->scratch,
                 vd_slice_of(backtick(&f->arena, "{`metadata`:{`name`:`b`}}")));
    vd_table_end(&w, &rows);
    assert_slice(vd_buf_slice(&rows), backtick(&f->arena, "{`cells`:[`a`,``],`object`:null},"
                                                          "{`cells`:[`b`,``],`object`:null}]}"));
    vd_buf_release(&rows);
}

static void rows_carry_the_object_that_is_asked_for(void **state)
{
    static const struct {
        enum vd_table_object object;
        enum vd_meta_version version;
        const char *want;
    } rows[] = {
        {VD_TABLE_METADATA, VD_META_V1, PARTIAL "{`name`:`a`}}"},
        {VD_TABLE_METADATA, VD_META_V1BETA1,
         "{`kind`:`PartialObjectMetadata`,`apiVersion`:`meta.k8s.io/v1beta1`,`metadata`:"
         "{`name`:`a`}}"},
        {VD_TABLE_OBJECT, VD_META_V1, "{`metadata`:{`name`:`a`},`rules`:[]}"},
        {VD_TABLE_NONE, VD_META_V1, "null"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_table_writer w = writer_of(f, RBAC, "v1", "roles");
        struct vd_buf want = {0};
        w.object = rows[i].object;
        w.version = rows[i].version;
        w.headed = true;
        vd_buf_addf(&want,
                    "{`kind`:`Table`,`apiVersion`:`%s`,`metadata`:{},`columnDefinitions`:null,"
                    "`rows`:[{`cells`:[`a`,``],`object`:%s}]}",
                    vd_meta_version_name(rows[i].version), rows[i].want);
        assert_slice(one(f, &w, "{`metadata`:{`name`:`a`},`rules`:[]}"),
                     backtick(&f->arena, vd_buf_text(&want)));
        vd_buf_release(&want);
    }
}

static void an_empty_list_has_columns_and_no_rows(void **state)
{
    struct fixture *f = *state;
    struct vd_table_writer w = writer_of(f, RBAC, "v1", "roles");
    struct vd_list_meta meta = {.resource_version = VD_SLICE("5")};
    vd_table_begin(&w, &f->out, &meta);
    vd_table_end(&w, &f->out);
    assert_slice(vd_buf_slice(&f->out),
                 backtick(&f->arena,
                          HEAD("{`resourceVersion`:`5`}") ",`columnDefinitions`:[" NAME
                                                          "," CREATED_AT "],`rows`:[]}"));
}

static void a_watch_sends_columns_once(void **state)
{
    struct fixture *f = *state;
    struct vd_table_writer w = writer_of(f, "", "v1", "configmaps");
    const char *body = "{`metadata`:{`name`:`a`,`resourceVersion`:`8`," CREATED "}}";
    w.object = VD_TABLE_NONE;
    assert_non_null(strstr(one(f, &w, body).p, "\"columnDefinitions\":[{\"name\":\"Name\""));
    w.now_ms += 10000;
    assert_slice(one(f, &w, body),
                 backtick(&f->arena, HEAD("{`resourceVersion`:`8`}") ",`columnDefinitions`:null,"
                                                                     "`rows`:[{`cells`:[`a`,0,"
                                                                     "`31s`],`object`:null}]}"));
}

static void a_bookmark_is_a_row_with_a_version(void **state)
{
    struct fixture *f = *state;
    struct vd_table_writer w = writer_of(f, "", "v1", "configmaps");
    w.headed = true;
    vd_table_write_bookmark(&w, &f->out, &f->scratch, 199);
    assert_slice(
        vd_buf_slice(&f->out),
        backtick(&f->arena,
                 HEAD("{`resourceVersion`:`199`}") ",`columnDefinitions`:null,`rows`:[{"
                                                   "`cells`:[``,0,`<unknown>`],`object`:" PARTIAL
                                                   "{`resourceVersion`:`199`,`creationTimestamp`:"
                                                   "null}}}]}"));
    w = writer_of(f, "example.com", "v2", "widgets");
    w.headed = true;
    w.object = VD_TABLE_OBJECT;
    vd_buf_reset(&f->out);
    vd_table_write_bookmark(&w, &f->out, &f->scratch, 200);
    assert_slice(
        vd_buf_slice(&f->out),
        backtick(&f->arena,
                 HEAD("{`resourceVersion`:`200`}") ",`columnDefinitions`:null,`rows`:[{"
                                                   "`cells`:[``,null],`object`:{`kind`:`Widget`,`"
                                                   "apiVersion`:"
                                                   "`example.com/"
                                                   "v2`,`metadata`:{`resourceVersion`:`200`}}}]}"));
}

/* One table for each kind, until the registry changes; it outlives both. */
static void tables_are_kept_while_the_registry_stays(void **state)
{
    struct fixture *f = *state;
    struct vd_error error;
    const struct vd_kind *kind = vd_kind_set_resource(f->set, VD_SLICE(""), VD_SLICE("v1"),
                                                      VD_SLICE("secrets"));
    struct vd_table *first = vd_tables_get(f->tables, f->set, kind);
    struct vd_table *second = vd_tables_get(f->tables, f->set, kind);
    assert_ptr_equal(first, second);
    vd_table_unref(second);
    assert_ok(vd_kinds_remove(f->kinds, VD_SLICE("example.com"), VD_SLICE("widgets"), &error),
              &error);
    struct vd_kind_set *newer = vd_kinds_snapshot(f->kinds);
    second = vd_tables_get(f->tables, newer, kind);
    assert_ptr_not_equal(first, second);
    struct vd_table *third = vd_tables_get(f->tables, f->set, kind); /* an old set is served, too */
    assert_ptr_equal(second, third);
    vd_table_unref(second);
    vd_table_unref(third);
    vd_kind_set_unref(newer);
    struct vd_table_writer w = {.table = first, .headed = true};
    assert_non_null(strstr(one(f, &w, "{`type`:`Opaque`}").p, "Opaque"));
    vd_table_unref(first);
    vd_table_unref(NULL);
    vd_tables_free(NULL);
}

/* A kind with so many columns of one path, and a row of it for this spec. */
static void write_wide_row(struct fixture *f, size_t columns, const char *path, const char *spec)
{
    struct vd_buf text = {0}, body = {0};
    struct vd_error error;
    vd_buf_add_text(&text, "{`spec`:{`group`:`example.com`,`scope`:`Cluster`,`names`:{`kind`:`Wide`"
                           ",`plural`:`wides`},`versions`:[{`name`:`v1`,`served`:true,`storage`:"
                           "true,`additionalPrinterColumns`:[");
    for (size_t i = 0; i < columns; i++)
        vd_buf_addf(&text, "%s{`name`:`c`,`type`:`string`,`jsonPath`:`%s`}", i ? "," : "", path);
    vd_buf_add_text(&text, "]}]}}");
    const struct vd_json *document = json_of(&f->arena, backtick(&f->arena, vd_buf_text(&text)));
    assert_ok(vd_kinds_put(f->kinds, document, false, &error), &error);
    vd_kind_set_unref(f->set);
    f->set = vd_kinds_snapshot(f->kinds);
    struct vd_table_writer w = writer_of(f, "example.com", "v1", "wides");
    w.object = VD_TABLE_NONE;
    vd_buf_addf(&body, "{\"metadata\":{\"name\":\"n\"},\"spec\":%s}", spec);
    vd_buf_reset(&f->out);
    vd_table_add(&w, &f->out, &f->scratch, vd_buf_slice(&body));
    (void)json_of(&f->arena, vd_buf_text(&f->out)); /* it is JSON */
    vd_buf_release(&body);
    vd_buf_release(&text);
}

/* A row is small and takes little memory, whatever its columns look at. */
static void columns_are_bounded_by_the_row(void **state)
{
    struct fixture *f = *state;
    struct vd_buf spec = {0};
    vd_buf_add_text(&spec, "{\"list\":[{}");
    for (int i = 1; i < 100000; i++)
        vd_buf_add_text(&spec, ",{}");
    vd_buf_add_text(&spec, "],\"text\":\"");
    for (int i = 0; i < 100000; i++)
        vd_buf_add_text(&spec, "\\u00e9");
    vd_buf_add_text(&spec, "\"}");
    const char *paths[] = {
        ".spec", ".spec.list", ".spec.text", ".spec.list[*]", ".spec.list[?(@.a==1)]", "."};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        write_wide_row(f, 400, paths[i], vd_buf_text(&spec));
        assert_in_range(f->out.n, 1, VD_TABLE_ROW_LEN_MAX + 2 * VD_TABLE_CELL_LEN_MAX + 8192);
        assert_in_range(f->scratch.total, 0, 32 << 20);
    }
    vd_buf_release(&spec);
}

/* A cell at its limit is whole, a longer one is cut between two characters. */
static void a_long_cell_is_cut(void **state)
{
    struct fixture *f = *state;
    for (size_t more = 0; more < 2; more++) {
        struct vd_buf text = {0}, spec = {0};
        for (size_t i = 0; i < VD_TABLE_CELL_LEN_MAX / 2; i++)
            vd_buf_add_text(&text, "\xc3\xa9");
        vd_buf_add_text(&text, more ? "x" : "");
        vd_buf_addf(&spec, "\"%s\"", vd_buf_text(&text));
        write_wide_row(f, 1, ".spec", vd_buf_text(&spec));
        struct vd_json *cells = vd_json_get(json_of(&f->arena, vd_buf_text(&f->out)),
                                            VD_SLICE("cells"));
        struct vd_slice cell = vd_json_text(vd_json_at(cells, 1));
        assert_in_range(cell.n, VD_TABLE_CELL_LEN_MAX - 1, VD_TABLE_CELL_LEN_MAX);
        assert_int_equal(vd_slice_eq(vd_slice_from(cell, cell.n - 3), VD_SLICE("...")), more);
        vd_buf_release(&text);
        vd_buf_release(&spec);
    }
}

#define table_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        table_test(built_in_kinds_have_kubernetes_columns),
        table_test(services_show_their_addresses),
        table_test(events_show_their_newest_time_and_count),
        table_test(custom_columns_have_types),
        table_test(a_kind_without_columns_has_an_age),
        table_test(a_list_is_made_in_parts),
        table_test(rows_carry_the_object_that_is_asked_for),
        table_test(an_empty_list_has_columns_and_no_rows),
        table_test(a_watch_sends_columns_once),
        table_test(a_bookmark_is_a_row_with_a_version),
        table_test(tables_are_kept_while_the_registry_stays),
        table_test(columns_are_bounded_by_the_row),
        table_test(a_long_cell_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
