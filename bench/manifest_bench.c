/*
 * How fast manifests are read and checked: `manifest_bench [SECONDS]`.
 *
 * The subjects are small manifests as a shop has them, Markdown with front matter and a body, of a
 * custom kind with bounds, a pattern and a CEL rule, each with another name. A file is read as in a
 * push (git/manifest.h) and its object goes through the whole pipeline of src/kinds. Each line is
 * the best of several rounds, for one second of CPU time: one thread does this.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "git/manifest.h"
#include "kinds/builtin.h"
#include "kinds/kinds.h"
#include "kinds/object.h"
#include "kinds/object_meta.h"
#include "json/yaml_read.h"

enum { ROUNDS = 10, FILES = 1000 };

static const char definition[] =
    "apiVersion: apiextensions.k8s.io/v1\n"
    "kind: CustomResourceDefinition\n"
    "metadata: {name: products.shop.example.com}\n"
    "spec:\n"
    "  group: shop.example.com\n"
    "  names: {plural: products, singular: product, kind: Product, listKind: ProductList}\n"
    "  scope: Namespaced\n"
    "  versions:\n"
    "  - name: v1\n"
    "    served: true\n"
    "    storage: true\n"
    "    schema:\n"
    "      openAPIV3Schema:\n"
    "        type: object\n"
    "        properties:\n"
    "          body: {type: string}\n"
    "          spec:\n"
    "            type: object\n"
    "            required: [title, price]\n"
    "            properties:\n"
    "              title: {type: string, minLength: 1, maxLength: 200}\n"
    "              currency: {type: string, default: EUR, enum: [EUR, USD]}\n"
    "              price: {type: integer, minimum: 0}\n"
    "              sku: {type: string, pattern: '^[A-Z]{3}-[0-9]+$'}\n"
    "              tags: {type: array, maxItems: 20, items: {type: string}}\n"
    "              media:\n"
    "                type: array\n"
    "                items:\n"
    "                  type: object\n"
    "                  properties: {url: {type: string}, alt: {type: string}}\n"
    "            x-kubernetes-validations:\n"
    "            - rule: \"self.price > 0 || self.title.startsWith('Free')\"\n";

static const char file_text[] = "---\n"
                                "apiVersion: shop.example.com/v1\n"
                                "kind: Product\n"
                                "metadata:\n"
                                "  name: product-%04d\n"
                                "  labels:\n"
                                "    season: summer\n"
                                "spec:\n"
                                "  title: A pair of shoes\n"
                                "  price: %d\n"
                                "  sku: SHO-%d\n"
                                "  tags: [shoe, summer]\n"
                                "  media:\n"
                                "  - url: https://cdn.example.com/shoe.jpg\n"
                                "    alt: The shoe from the side\n"
                                "---\n"
                                "# A pair of shoes\n"
                                "\n"
                                "They are light and red, and they last for years.\n";

/* Reads one file and, with a set of kinds, checks its object; ends the program if it is wrong. */
static void check(const struct vd_buf *text, struct vd_kind_set *set, struct vd_arena *arena)
{
    static const struct vd_repository_config config;
    struct vd_git_file file = {VD_SLICE("products/shoe.md"), vd_buf_slice(text)};
    struct vd_git_manifests manifests = {0};
    struct vd_git_report report = {0};
    struct vd_violations violations = {0};
    struct vd_effort effort = {0};
    struct vd_pruned pruned = {0};
    bool ok = vd_git_file_read(&file, &config, arena, &manifests, &report);
    if (ok && set) {
        struct vd_git_manifest *m = &manifests.list.p[0];
        const struct vd_kind *kind = vd_kind_set_kind(set, m->group, m->version, m->kind);
        ok = kind && vd_git_manifest_complete(m, kind, VD_SLICE("shop"), arena, &report) &&
             !vd_object_prepare(kind, arena, m->document, true, &pruned, &effort, NULL) &&
             !pruned.paths.n && vd_object_validate(kind, m->document, NULL, &violations);
    }
    if (!ok) {
        struct vd_buf out = {0};
        vd_git_report_write_text(&out, &report);
        vd_violations_write(&out, &violations);
        fprintf(stderr, "a manifest of the benchmark is wrong: %s\n", vd_buf_text(&out));
        exit(1);
    }
    VD_VEC_RELEASE(&manifests.list);
    vd_git_report_release(&report);
    vd_violations_release(&violations);
    vd_pruned_release(&pruned);
    vd_arena_reset(arena);
}

static void measure(const char *what, const struct vd_buf *files, struct vd_kind_set *set,
                    double seconds)
{
    struct vd_arena arena = {0};
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        clock_t begin = clock(), now = begin;
        size_t n = 0;
        for (; (double)(now - begin) < seconds / ROUNDS * CLOCKS_PER_SEC; now = clock())
            for (int i = 0; i < 100; i++, n++)
                check(&files[n % FILES], set, &arena);
        double rate = (double)n / ((double)(now - begin) / CLOCKS_PER_SEC);
        best = rate > best ? rate : best;
    }
    printf("%-32s %9.0f manifests/s of CPU time\n", what, best);
    vd_arena_release(&arena);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
    static struct vd_buf files[FILES];
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    struct vd_arena arena = {0};
    struct vd_json *document = NULL;
    struct vd_error error;
    for (int i = 0; i < FILES; i++)
        vd_buf_addf(&files[i], file_text, i, i + 1, i);
    if (vd_yaml_read(&arena, vd_slice_of(definition), &document, &error) ||
        vd_kinds_put(kinds, document, false, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    measure("manifests read", files, NULL, seconds / 2);
    measure("manifests read and checked", files, set, seconds / 2);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
    vd_arena_release(&arena);
    for (int i = 0; i < FILES; i++)
        vd_buf_release(&files[i]);
    return 0;
}
