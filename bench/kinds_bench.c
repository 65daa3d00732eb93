/*
 * What it costs to check an object that is written: pruning, defaulting and validation of an object
 * of about 1 KB, built-in and custom, without and with ten CEL rules; registering a thousand
 * definitions; look-ups.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "base/clock.h"
#include "kinds/builtin.h"
#include "kinds/object.h"
#include "json/parse.h"
#include "json/write.h"

static void demand(int code, const struct vd_error *error)
{
    if (code == VD_OK)
        return;
    fprintf(stderr, "kinds_bench: %s\n", error->text);
    exit(1);
}

static struct vd_json *parsed(struct vd_arena *arena, struct vd_slice text)
{
    struct vd_json *document = NULL;
    struct vd_error error = {0};
    demand(vd_json_parse_copy(arena, text, NULL, &document, &error), &error);
    return document;
}

/* Rules as operators write them: bounds, patterns, uniqueness, one-of, formats. */
static const char ten_rules[] =
    "\"x-kubernetes-validations\":["
    "{\"rule\":\"self.size >= 1 && self.size <= 100\"},"
    "{\"rule\":\"self.image.startsWith('registry.')\"},"
    "{\"rule\":\"self.mode != 'Slow' || self.paused\"},"
    "{\"rule\":\"!has(self.limit) || type(self.limit) == int || self.limit.endsWith('%')\"},"
    "{\"rule\":\"!has(self.since) || self.since > timestamp('2020-01-01T00:00:00Z')\"},"
    "{\"rule\":\"self.ports.all(p, p.port != 22)\"},"
    "{\"rule\":\"self.ports.all(p, self.ports.exists_one(q, q.port == p.port))\"},"
    "{\"rule\":\"self.ports.exists(p, p.name == 'http')\"},"
    "{\"rule\":\"self.image.matches('^[a-z0-9./:-]+$')\"},"
    "{\"rule\":\"self == oldSelf || self.size != oldSelf.size || self.image == oldSelf.image\"}],";

/* A definition with twelve fields of every common sort. */
static void add_definition(struct vd_buf *out, int number, const char *rules)
{
    vd_buf_addf(
        out,
        "{\"spec\":{\"group\":\"g%d.example.com\",\"scope\":\"Namespaced\",\"names\":{\"kind\":"
        "\"Widget%d\",\"plural\":\"widget%ds\"},\"versions\":[{\"name\":\"v1\",\"served\":true,"
        "\"storage\":true,\"subresources\":{\"status\":{}},\"schema\":{\"openAPIV3Schema\":{"
        "\"type\":\"object\",\"required\":[\"spec\"],\"properties\":{\"spec\":{\"type\":\"object\","
        "%s\"description\":\"What is wanted.\",\"required\":[\"size\",\"image\"],\"properties\":{",
        number % 50, number, number, rules);
    vd_buf_add_text(
        out,
        "\"size\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\"description\":\"How "
        "big.\"},"
        "\"image\":{\"type\":\"string\",\"pattern\":\"^[a-z0-9./:-]+$\",\"maxLength\":200},"
        "\"mode\":{\"type\":\"string\",\"enum\":[\"Fast\",\"Slow\"],\"default\":\"Fast\"},"
        "\"paused\":{\"type\":\"boolean\",\"default\":false},"
        "\"limit\":{\"x-kubernetes-int-or-string\":true},"
        "\"since\":{\"type\":\"string\",\"format\":\"date-time\"},"
        "\"selector\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"
        "\"ports\":{\"type\":\"array\",\"maxItems\":32,\"x-kubernetes-list-type\":\"map\","
        "\"x-kubernetes-list-map-keys\":[\"name\"],\"items\":{\"type\":\"object\",\"required\":["
        "\"name\",\"port\"],\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1},"
        "\"port\":"
        "{\"type\":\"integer\",\"minimum\":1,\"maximum\":65535},\"protocol\":{\"type\":\"string\","
        "\"default\":\"TCP\"}}}}}},"
        "\"status\":{\"type\":\"object\",\"properties\":{\"phase\":{\"type\":\"string\"},"
        "\"conditions\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"type\"],"
        "\"properties\":{\"type\":{\"type\":\"string\"},\"status\":{\"type\":\"string\"}}}}}}}}}}]}"
        "}");
}

static const char widget[] =
    "{\"apiVersion\":\"g7.example.com/v1\",\"kind\":\"Widget7\",\"metadata\":{\"name\":\"web-7\","
    "\"namespace\":\"default\",\"uid\":\"a8098c1a-f86e-11da-bd1a-00112444be1e\","
    "\"resourceVersion\":\"12345\",\"generation\":3,\"creationTimestamp\":\"2026-11-15T09:00:00Z\","
    "\"labels\":{\"app\":\"web\",\"tier\":\"front\",\"app.kubernetes.io/name\":\"web\"},"
    "\"annotations\":{\"example.com/note\":\"nothing much, but a sentence of some length\"}},"
    "\"spec\":{\"size\":5,\"image\":\"registry.example.com/team/web:1.2.3\",\"mode\":\"Slow\","
    "\"paused\":true,\"limit\":\"25%\",\"since\":\"2026-11-15T09:35:21Z\",\"selector\":{\"app\":"
    "\"web\",\"tier\":\"front\"},\"ports\":[{\"name\":\"http\",\"port\":80,\"protocol\":\"TCP\"},"
    "{\"name\":\"https\",\"port\":443,\"protocol\":\"TCP\"},{\"name\":\"metrics\",\"port\":9090,"
    "\"protocol\":\"TCP\"}]},\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\","
    "\"status\":\"True\"},{\"type\":\"Available\",\"status\":\"True\"}]}}";

static const char configmap[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"web-7\",\"namespace\":"
    "\"default\",\"labels\":{\"app\":\"web\"}},\"data\":{\"a.properties\":\"x=1\\ny=2\\n\",\"b\":"
    "\"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567\"}"
    "}";

/* Nanoseconds that one call of `work` takes, the best of some rounds. */
static double time_of(void (*work)(void *context), void *context, int times)
{
    double best = 0;
    for (int round = 0; round < 7; round++) {
        uint64_t start = vd_clock_mono_ns(vd_clock_system());
        for (int i = 0; i < times; i++)
            work(context);
        double each = (double)(vd_clock_mono_ns(vd_clock_system()) - start) / times;
        best = round == 0 || each < best ? each : best;
    }
    return best;
}

struct subject {
    const struct vd_kind *kind;
    struct vd_json *object, *old;
    struct vd_arena arena;
};

static void validate_schema(void *context)
{
    struct subject *s = context;
    struct vd_violations violations = {0};
    if (!vd_schema_validate(s->kind->schema, s->object, &violations))
        abort();
    vd_violations_release(&violations);
}

static void validate_all(void *context)
{
    struct subject *s = context;
    struct vd_violations violations = {0};
    if (!vd_object_validate(s->kind, s->object, s->old, &violations)) {
        struct vd_buf text = {0};
        vd_violations_write(&text, &violations);
        fprintf(stderr, "kinds_bench: %s\n", vd_buf_text(&text));
        abort();
    }
    vd_violations_release(&violations);
}

static void prepare(void *context)
{
    struct subject *s = context;
    struct vd_effort effort = {0};
    if (vd_object_prepare(s->kind, &s->arena, s->object, true, NULL, &effort, NULL))
        abort();
}

static void measure(const struct vd_kind_set *set, const char *group, const char *kind,
                    const char *text)
{
    struct subject s = {0};
    s.kind = vd_kind_set_kind(set, vd_slice_of(group), VD_SLICE("v1"), vd_slice_of(kind));
    s.object = parsed(&s.arena, vd_slice_of(text));
    printf("%-10s %5zu bytes  prune+default %6.0f ns  schema %6.0f ns  schema+metadata+rules "
           "%6.0f ns\n",
           kind, strlen(text), time_of(prepare, &s, 20000), time_of(validate_schema, &s, 20000),
           time_of(validate_all, &s, 20000));
    vd_arena_release(&s.arena);
}

/* An update of the same object, of two definitions that differ in their rules. */
static void compare_rules(const struct vd_kind_set *set)
{
    static const char *const kinds[] = {"Widget7", "Widget1007"};
    double took[2];
    for (size_t i = 0; i < 2; i++) {
        struct subject s = {0};
        s.kind = vd_kind_set_kind(set, VD_SLICE("g7.example.com"), VD_SLICE("v1"),
                                  vd_slice_of(kinds[i]));
        s.object = parsed(&s.arena, vd_slice_of(widget));
        s.old = parsed(&s.arena, vd_slice_of(widget));
        took[i] = time_of(validate_all, &s, 20000);
        vd_arena_release(&s.arena);
    }
    printf("update     validation without rules %6.0f ns, with 10 CEL rules %6.0f ns: %.0f ns a "
           "rule\n",
           took[0], took[1], (took[1] - took[0]) / 10);
}

static long peak_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

struct lookup {
    const struct vd_kind_set *set;
};

static void look_up(void *context)
{
    struct lookup *l = context;
    if (!vd_kind_set_resource(l->set, VD_SLICE("g7.example.com"), VD_SLICE("v1"),
                              VD_SLICE("widget507s")))
        abort();
}

static void put_definition(struct vd_kinds *kinds, int number, const char *rules)
{
    struct vd_arena arena = {0};
    struct vd_buf text = {0};
    struct vd_error error = {0};
    add_definition(&text, number, rules);
    demand(vd_kinds_put(kinds, parsed(&arena, vd_buf_slice(&text)), false, &error), &error);
    vd_buf_release(&text);
    vd_arena_release(&arena);
}

int main(void)
{
    enum { DEFINITIONS = 1000 };
    uint64_t start = vd_clock_mono_ns(vd_clock_system());
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    printf("built-in kinds loaded in %.2f ms\n",
           (double)(vd_clock_mono_ns(vd_clock_system()) - start) / 1e6);

    long before_kb = peak_kb();
    start = vd_clock_mono_ns(vd_clock_system());
    for (int i = 0; i < DEFINITIONS; i++)
        put_definition(kinds, i, "");
    printf("%d definitions registered in %.0f ms, %.1f MB more\n", DEFINITIONS,
           (double)(vd_clock_mono_ns(vd_clock_system()) - start) / 1e6,
           (double)(peak_kb() - before_kb) / 1024);

    start = vd_clock_mono_ns(vd_clock_system());
    put_definition(kinds, DEFINITIONS + 7, ten_rules);
    printf("a definition with 10 CEL rules registered in %.2f ms\n",
           (double)(vd_clock_mono_ns(vd_clock_system()) - start) / 1e6);

    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct lookup lookup = {set};
    printf("look-up of a resource among %d: %.0f ns\n", DEFINITIONS,
           time_of(look_up, &lookup, 100000));
    measure(set, "g7.example.com", "Widget7", widget);
    measure(set, "", "ConfigMap", configmap);
    compare_rules(set);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
    return 0;
}
