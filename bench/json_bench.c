/*
 * How fast JSON is parsed and written: `json_bench [SECONDS]`.
 *
 * The subject is a pod as kubectl prints it, some 4.5 KB in compact form, made here so that nothing
 * has to be read from disk. One document parsed over and over flatters the CPU's branch predictor,
 * so 256 pods that differ in shape and lengths are also parsed in turn. Each line is the best of
 * several rounds, the one in which other programs disturbed least.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "json/compare.h"
#include "json/merge_patch.h"
#include "json/parse.h"
#include "json/revision_hole.h"
#include "json/span.h"
#include "json/write.h"

enum { ROUNDS = 10, LINES = 10, HERD = 256 };

static double round_s = 1.0 / ROUNDS / LINES;

static const char *const pod_head =
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"annotations\":{"
    "\"kubectl.kubernetes.io/last-applied-configuration\":\"{\\\"apiVersion\\\":\\\"v1\\\","
    "\\\"kind\\\":\\\"Pod\\\",\\\"metadata\\\":{\\\"name\\\":\\\"web-0\\\"}}\\n\","
    "\"prometheus.io/scrape\":\"true\",\"prometheus.io/port\":\"9102\"},"
    "\"creationTimestamp\":\"2026-11-15T09:35:21Z\",\"generateName\":\"web-7c5ddbdf54-\","
    "\"labels\":{\"app.kubernetes.io/name\":\"web\",\"app.kubernetes.io/component\":\"frontend\","
    "\"pod-template-hash\":\"7c5ddbdf54\"},\"name\":\"web-7c5ddbdf54-x2x9p\","
    "\"namespace\":\"production\",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\","
    "\"blockOwnerDeletion\":true,\"controller\":true,\"kind\":\"ReplicaSet\","
    "\"name\":\"web-7c5ddbdf54\",\"uid\":\"0f1f7a3e-9b3b-4c1e-8d1f-2f6f0a9d7c11\"}],"
    "\"resourceVersion\":\"184467\",\"uid\":\"4a7c3c1e-51a4-4a0e-9d4a-7f1b2c3d4e5f\"},"
    "\"spec\":{\"containers\":[";

static const char *const pod_container =
    "{\"args\":[\"--listen=:8080\",\"--log-level=info\",\"--config=/etc/web/config.yaml\"],"
    "\"env\":[{\"name\":\"POD_NAME\",\"valueFrom\":{\"fieldRef\":{\"apiVersion\":\"v1\","
    "\"fieldPath\":\"metadata.name\"}}},{\"name\":\"GOMAXPROCS\",\"value\":\"2\"}],"
    "\"image\":\"registry.example.com/shop/web:v1.42.0\",\"imagePullPolicy\":\"IfNotPresent\","
    "\"livenessProbe\":{\"failureThreshold\":3,\"httpGet\":{\"path\":\"/healthz\","
    "\"port\":8080,\"scheme\":\"HTTP\"},\"initialDelaySeconds\":10,\"periodSeconds\":10,"
    "\"successThreshold\":1,\"timeoutSeconds\":1},\"name\":\"web\",\"ports\":["
    "{\"containerPort\":8080,\"name\":\"http\",\"protocol\":\"TCP\"},"
    "{\"containerPort\":9102,\"name\":\"metrics\",\"protocol\":\"TCP\"}],"
    "\"resources\":{\"limits\":{\"cpu\":\"500m\",\"memory\":\"256Mi\"},"
    "\"requests\":{\"cpu\":\"100m\",\"memory\":\"128Mi\"}},\"securityContext\":{"
    "\"allowPrivilegeEscalation\":false,\"readOnlyRootFilesystem\":true,\"runAsUser\":1000},"
    "\"terminationMessagePath\":\"/dev/termination-log\",\"volumeMounts\":["
    "{\"mountPath\":\"/etc/web\",\"name\":\"config\",\"readOnly\":true},"
    "{\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\","
    "\"name\":\"kube-api-access-7xk2p\",\"readOnly\":true}]}";

static const char *const pod_tail =
    "],\"dnsPolicy\":\"ClusterFirst\",\"enableServiceLinks\":true,\"nodeName\":\"node-17\","
    "\"preemptionPolicy\":\"PreemptLowerPriority\",\"priority\":0,\"restartPolicy\":\"Always\","
    "\"schedulerName\":\"default-scheduler\",\"securityContext\":{},"
    "\"serviceAccountName\":\"default\",\"terminationGracePeriodSeconds\":30,\"tolerations\":["
    "{\"effect\":\"NoExecute\",\"key\":\"node.kubernetes.io/not-ready\","
    "\"operator\":\"Exists\",\"tolerationSeconds\":300},{\"effect\":\"NoExecute\","
    "\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\","
    "\"tolerationSeconds\":300}],\"volumes\":[{\"configMap\":{"
    "\"defaultMode\":420,\"name\":\"web-config\"},\"name\":\"config\"}]},"
    "\"status\":{\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":"
    "\"2026-11-15T09:35:24Z\",\"status\":\"True\",\"type\":\"Ready\"},{\"lastProbeTime\":null,"
    "\"lastTransitionTime\":\"2026-11-15T09:35:21Z\",\"status\":\"True\","
    "\"type\":\"Initialized\"},{\"lastProbeTime\":null,\"lastTransitionTime\":"
    "\"2026-11-15T09:35:24Z\",\"status\":\"True\",\"type\":\"ContainersReady\"},{\"lastProbeTime\":"
    "null,"
    "\"lastTransitionTime\":\"2026-11-15T09:35:21Z\",\"status\":\"True\","
    "\"type\":\"PodScheduled\"}],\"containerStatuses\":[{\"containerID\":"
    "\"containerd://8f0c1c5b4b9d0c1a5e5d8f2b7a6c3e4d5f60718293a4b5c6d7e8f9010203040\","
    "\"image\":\"registry.example.com/shop/web:v1.42.0\",\"lastState\":{},\"name\":\"web\","
    "\"ready\":true,\"restartCount\":0,\"started\":true,\"state\":{\"running\":{"
    "\"startedAt\":\"2026-11-15T09:35:23Z\"}}}],\"hostIP\":\"10.0.3.17\",\"phase\":\"Running\","
    "\"podIP\":\"10.244.3.91\",\"podIPs\":[{\"ip\":\"10.244.3.91\"}],"
    "\"qosClass\":\"Burstable\",\"startTime\":\"2026-11-15T09:35:21Z\"}}";

static void make_pod(struct vd_buf *out)
{
    vd_buf_add_text(out, pod_head);
    vd_buf_add_text(out, pod_container);
    vd_buf_add_char(out, ',');
    vd_buf_add_text(out, pod_container);
    vd_buf_add_text(out, pod_tail);
}

/* What one measurement works on. */
struct subject {
    struct vd_arena arena; /* reset by each call that parses */
    struct vd_buf text;
    struct vd_buf out;
    struct vd_json *document; /* in another arena */
    struct vd_json *patch;
    size_t hole;
    size_t turn;
    struct vd_buf herd[HERD];
};

/* A result that the compiler must not drop. */
static volatile size_t sink;

static uint32_t random_below(uint32_t n)
{
    static uint32_t seed = 20261115;
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

/* Changes lengths and leaves members out: the same kind of document in another shape. */
static void vary(struct vd_arena *a, struct vd_json *v)
{
    static const char letters[] = "the-quick-brown-fox-jumps-over-the-lazy-dog.example.com/x";
    struct vd_json *before = NULL;
    for (struct vd_json *m = vd_json_first(v), *next; m; m = next) {
        next = vd_json_next(m);
        if (random_below(8) == 0) {
            vd_json_remove_after(v, before);
            continue;
        }
        if (vd_json_is(m, VD_JSON_STRING) && random_below(2))
            vd_json_assign(m, vd_json_string_ref(a, vd_slice(letters, random_below(56))));
        vary(a, m);
        before = m;
    }
}

static struct vd_json *parse(struct vd_arena *a, const struct vd_buf *text)
{
    struct vd_json *document;
    int code = vd_json_parse(a, vd_buf_slice(text), NULL, &document, NULL);
    assert(code == VD_OK);
    (void)code;
    return document;
}

static void make_herd(struct subject *s)
{
    for (size_t i = 0; i < HERD; i++) {
        struct vd_json *pod = parse(&s->arena, &s->text);
        vary(&s->arena, pod);
        vd_json_write(&s->herd[i], pod);
        vd_arena_reset(&s->arena);
    }
}

static void run_parse(struct subject *s)
{
    vd_arena_reset(&s->arena);
    sink = parse(&s->arena, &s->text)->n;
}

static void run_parse_herd(struct subject *s)
{
    vd_arena_reset(&s->arena);
    sink = parse(&s->arena, &s->herd[s->turn++ % HERD])->n;
}

static void run_write(struct subject *s)
{
    vd_buf_reset(&s->out);
    vd_json_write(&s->out, s->document);
}

static void run_hash(struct subject *s)
{
    sink = (size_t)vd_json_hash(s->document);
}

static void run_merge(struct subject *s)
{
    vd_arena_reset(&s->arena);
    vd_json_merge_patch(&s->arena, vd_json_clone(&s->arena, s->document), s->patch);
}

static void run_find_name(struct subject *s)
{
    static const struct vd_slice keys[] = {VD_SLICE("metadata"), VD_SLICE("name")};
    struct vd_slice value;
    sink = vd_span_find(vd_buf_slice(&s->text), keys, 2, &value);
}

static void run_find_phase(struct subject *s)
{
    static const struct vd_slice keys[] = {VD_SLICE("status"), VD_SLICE("phase")};
    struct vd_slice value;
    sink = vd_span_find(vd_buf_slice(&s->text), keys, 2, &value);
}

static void run_write_hole(struct subject *s)
{
    vd_buf_reset(&s->out);
    sink = (size_t)vd_revision_hole_write(&s->out, s->document, &s->hole, NULL);
}

/* Nanoseconds of one call, in the best round. */
static double measure(struct subject *s, void (*run)(struct subject *))
{
    const struct vd_clock *clock = vd_clock_system();
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = vd_clock_mono_ns(clock), now = start;
        uint64_t calls = 0;
        while ((double)(now - start) < round_s * 1e9) {
            for (int i = 0; i < HERD; i++)
                run(s);
            calls += HERD;
            now = vd_clock_mono_ns(clock);
        }
        double ns = (double)(now - start) / (double)calls;
        best = ns < best ? ns : best;
    }
    return best;
}

static void show(const char *what, size_t n, double ns)
{
    if (n)
        printf("%-28s %6zu bytes %9.0f ns %8.0f MB/s\n", what, n, ns, (double)n * 1000 / ns);
    else
        printf("%-28s %22.0f ns\n", what, ns);
}

static void release(struct subject *s)
{
    for (size_t i = 0; i < HERD; i++)
        vd_buf_release(&s->herd[i]);
    vd_buf_release(&s->text);
    vd_buf_release(&s->out);
    vd_arena_release(&s->arena);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        round_s = strtod(argv[1], NULL) / ROUNDS / LINES;
    struct vd_arena kept = {0};
    struct subject s = {0}, pretty = {0};
    struct vd_buf patch = {0};
    make_pod(&s.text);
    make_herd(&s);
    size_t herd_bytes = 0;
    for (size_t i = 0; i < HERD; i++)
        herd_bytes += s.herd[i].n;
    s.document = parse(&kept, &s.text);
    vd_json_write_pretty(&pretty.text, s.document, 4);
    vd_buf_add_text(&patch,
                    "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"status\":{\"phase\":\"x\"}}");
    s.patch = parse(&kept, &patch);

    show("parse, compact", s.text.n, measure(&s, run_parse));
    show("parse, pretty", pretty.text.n, measure(&pretty, run_parse));
    show("parse, 256 different pods", herd_bytes / HERD, measure(&s, run_parse_herd));
    show("write, compact", s.text.n, measure(&s, run_write));
    show("hash", s.text.n, measure(&s, run_hash));
    show("write with a revision hole", s.text.n, measure(&s, run_write_hole));
    show("find metadata.name", 0, measure(&s, run_find_name));
    show("find status.phase", 0, measure(&s, run_find_phase));
    show("clone and merge patch", 0, measure(&s, run_merge));
    release(&s);
    release(&pretty);
    vd_buf_release(&patch);
    vd_arena_release(&kept);
    return 0;
}
