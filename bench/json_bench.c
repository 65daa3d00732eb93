/*
 * How fast JSON goes in and out: `json_bench [SECONDS]`.
 *
 * The subject is a pod as kubectl prints it, some 4.5 KB in compact form, made
 * here so that nothing has to be read from disk. Each line is the best of
 * several rounds: the machine has other things to do, and the best round is
 * the one in which it had not.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "json/parse.h"

enum { ROUNDS = 12 };

static double round_s = 0.02;

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
    "\"operator\":\"Exists\",\"tolerationSeconds\":300}],\"volumes\":[{\"configMap\":{"
    "\"defaultMode\":420,\"name\":\"web-config\"},\"name\":\"config\"}]},"
    "\"status\":{\"conditions\":[{\"lastProbeTime\":null,\"lastTransitionTime\":"
    "\"2026-11-15T09:35:24Z\",\"status\":\"True\",\"type\":\"Ready\"},{\"lastProbeTime\":null,"
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
    struct vd_arena arena;
    struct vd_buf text;
    struct vd_buf out;
    struct vd_json *document;
};

static void run_parse(struct subject *s)
{
    struct vd_json *document;
    vd_arena_reset(&s->arena);
    int code = vd_json_parse(&s->arena, vd_buf_slice(&s->text), NULL, &document, NULL);
    assert(code == VD_OK);
    (void)code;
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
            for (int i = 0; i < 64; i++)
                run(s);
            calls += 64;
            now = vd_clock_mono_ns(clock);
        }
        double ns = (double)(now - start) / (double)calls;
        best = ns < best ? ns : best;
    }
    return best;
}

static void show_rate(const char *what, size_t n, double ns)
{
    printf("%-22s %6zu bytes %9.0f ns %8.0f MB/s\n", what, n, ns, (double)n * 1000 / ns);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        round_s = strtod(argv[1], NULL) / ROUNDS / 6;
    struct subject compact = {0};
    make_pod(&compact.text);
    show_rate("parse compact", compact.text.n, measure(&compact, run_parse));
    vd_arena_release(&compact.arena);
    vd_buf_release(&compact.text);
    return 0;
}
