/*
 * Definitions of kinds: how long it takes to make many, how much memory they take, and how fast
 * discovery shows them. Groups have 20 kinds each.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "load.h"

enum { GROUP_KINDS = 20, ASKS = 50 };

#define AGGREGATED  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

/* A small definition with what most have: a dozen fields, a status, columns. */
static const char versions[] =
    "[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"subresources\":{\"status\":{}},"
    "\"additionalPrinterColumns\":[{\"name\":\"Ready\",\"type\":\"string\",\"jsonPath\":"
    "\".status.conditions[?(@.type==\\\"Ready\\\")].status\"},{\"name\":\"Age\",\"type\":\"date\","
    "\"jsonPath\":\".metadata.creationTimestamp\"}],\"schema\":{\"openAPIV3Schema\":{\"type\":"
    "\"object\",\"description\":\"One of many.\",\"required\":[\"spec\"],\"properties\":{\"spec\":{"
    "\"type\":\"object\",\"description\":\"What is wanted.\",\"required\":[\"name\"],"
    "\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":63},\"replicas\":{"
    "\"type\":\"integer\",\"minimum\":0,\"default\":1},\"mode\":{\"type\":\"string\",\"enum\":["
    "\"fast\",\"slow\"]},\"image\":{\"type\":\"string\",\"pattern\":\"^[a-z0-9./:-]+$\"},"
    "\"labels\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},\"ports\":{"
    "\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":["
    "\"name\"],\"items\":{\"type\":\"object\",\"required\":[\"name\"],\"properties\":{\"name\":{"
    "\"type\":\"string\"},\"port\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":65535}}}}}},"
    "\"status\":{\"type\":\"object\",\"properties\":{\"replicas\":{\"type\":\"integer\"},"
    "\"conditions\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"type\","
    "\"status\"],\"properties\":{\"type\":{\"type\":\"string\"},\"status\":{\"type\":\"string\"},"
    "\"reason\":{\"type\":\"string\"},\"message\":{\"type\":\"string\"}}}}}}}}}}]";

static void define(struct link *l, unsigned i)
{
    struct vd_buf body = {0}, request = {0};
    unsigned group = i / GROUP_KINDS;
    vd_buf_addf(&body,
                "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
                "\"metadata\":{\"name\":\"things%u.g%u.load.example\"},\"spec\":{\"group\":"
                "\"g%u.load.example\",\"scope\":\"Namespaced\",\"names\":{\"kind\":\"Thing%u\","
                "\"plural\":\"things%u\"},\"versions\":%s}}",
                i, group, group, i, i, versions);
    link_request_text(&request, "POST", DEFINITIONS, "application/json", vd_buf_slice(&body));
    unsigned status = link_ask(l, vd_buf_slice(&request), NULL, NULL);
    if (status != 201)
        load_die("defining things%u was answered with %u", i, status);
    vd_buf_release(&body);
    vd_buf_release(&request);
}

static void *define_some(void *arg)
{
    struct link l;
    link_open(&l, false);
    for (unsigned i = (unsigned)(uintptr_t)arg; i < load.objects; i += load.clients)
        define(&l, i);
    link_close(&l);
    return NULL;
}

static void define_all(void)
{
    pthread_t *threads = vd_calloc(load.clients, sizeof *threads);
    for (uintptr_t i = 0; i < load.clients; i++)
        pthread_create(&threads[i], NULL, define_some, (void *)i);
    for (unsigned i = 0; i < load.clients; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

static void count_bytes(void *arg, struct vd_slice part)
{
    *(uint64_t *)arg += part.n;
}

/* The milliseconds of one answer. */
static double ask(struct link *l, const char *path, const char *accept)
{
    struct vd_buf request = {0};
    uint64_t bytes = 0, start_ns = load_now_ns();
    vd_buf_addf(&request, "GET %s HTTP/1.1\r\nHost: %s:%u\r\nAccept: %s\r\n", path, load.host,
                load.port, accept);
    if (load.token)
        vd_buf_addf(&request, "Authorization: Bearer %s\r\n", load.token);
    vd_buf_add_text(&request, "\r\n");
    unsigned status = link_ask(l, vd_buf_slice(&request), count_bytes, &bytes);
    double ms = (double)(load_now_ns() - start_ns) / 1e6;
    if (status != 200 || !bytes)
        load_die("%s was answered with %u", path, status);
    vd_buf_release(&request);
    return ms;
}

void mode_definitions(void)
{
    struct link l;
    double before_kb = server_resident_kb(), cpu_s = server_cpu_s();
    uint64_t start_ns = load_now_ns();
    define_all();
    double s = (double)(load_now_ns() - start_ns) / 1e9;
    double after_kb = server_resident_kb(), again_ms = 0;
    cpu_s = server_cpu_s() - cpu_s;
    link_open(&l, false);
    double list_ms = ask(&l, "/apis/g0.load.example/v1/things0", "application/json");
    double first_ms = ask(&l, "/apis", AGGREGATED);
    for (unsigned i = 0; i < ASKS; i++)
        again_ms += ask(&l, "/apis", AGGREGATED) / ASKS;
    double openapi_ms = ask(&l, "/openapi/v3", "application/json");
    link_close(&l);
    printf("{\"mode\":\"definitions\",\"clients\":%u,\"definitions\":%u,\"seconds\":%.3f,\"cpu_s\":"
           "%.2f,"
           "\"resident_mb\":%.1f,\"list_ms\":%.2f,\"discovery_first_ms\":%.2f,"
           "\"discovery_ms\":%.3f,\"openapi_index_ms\":%.1f}\n",
           load.clients, load.objects, s, cpu_s, (after_kb - before_kb) / 1024, list_ms, first_ms,
           again_ms, openapi_ms);
}
