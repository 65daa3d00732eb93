/*
 * Changes that shell tests make to a data folder without the program under test.
 *
 *   store_tool fill FOLDER N        N objects of two kinds, some changed, some deleted
 *   store_tool run FOLDER           says "ready", then commits until it is killed
 *   store_tool probe FOLDER CURSOR  opens the store, says what it sees, writes once
 *   store_tool sql FILE STATEMENTS  runs SQL on a database, without the store
 *   store_tool patch FILE OLD NEW   changes bytes of a file; OLD must be in it
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "store/folder.h"

static struct vd_store *store_open(const char *folder)
{
    struct vd_store *store = NULL;
    struct vd_error error;
    struct vd_folder where = {.path = folder};
    if (vd_store_open_in(&store, &where, NULL, &error)) {
        fprintf(stderr, "store_tool: %s\n", error.text);
        exit(1);
    }
    return store;
}

static uint64_t number(const char *text)
{
    uint64_t n;
    if (vd_slice_to_u64(vd_slice_of(text), &n) != 0) {
        fprintf(stderr, "store_tool: '%s' is not a number\n", text);
        exit(2);
    }
    return n;
}

/* Fills a store: of every ten objects one is changed twice and one is deleted. */
static int fill(const char *folder, const char *count)
{
    struct vd_store *store = store_open(folder);
    char name[32], value[48];
    for (uint64_t i = 0; i < number(count); i++) {
        const char *kind = i % 3 ? "configmaps" : "widgets.example.com";
        snprintf(name, sizeof name, "object-%llu", (unsigned long long)i);
        snprintf(value, sizeof value, "value-of-%llu-end", (unsigned long long)i);
        put(store, kind, "default", name, value);
        if (i % 10 == 3) {
            put(store, kind, "default", name, "second");
            put(store, kind, "default", name, "third");
        }
        if (i % 10 == 7)
            del(store, kind, "default", name);
    }
    printf("%llu\n", (unsigned long long)vd_store_revision(store));
    vd_store_close(store);
    return 0;
}

VD_NORETURN static void run(const char *folder)
{
    struct vd_store *store = store_open(folder);
    for (uint64_t i = 0;; i++) {
        char name[32], value[32];
        snprintf(name, sizeof name, "busy-%llu", (unsigned long long)(i % 50));
        snprintf(value, sizeof value, "%llu", (unsigned long long)i);
        put(store, "configmaps", "busy", name, value);
        if (i % 7 == 6)
            del(store, "configmaps", "busy", name);
        if (i == 100) {
            puts("ready");
            fflush(stdout);
        }
    }
}

static int probe(const char *folder, const char *cursor)
{
    struct vd_store *store = store_open(folder);
    struct vd_store_stats stats;
    struct vd_error error;
    vd_store_stats(store, &stats);
    int code = vd_store_check_revision(store, number(cursor), &error);
    printf("revision %llu, floor %llu, objects %llu, cursor %s, wrote ",
           (unsigned long long)stats.revision, (unsigned long long)stats.floor,
           (unsigned long long)stats.objects, vd_code_name(code));
    printf("%llu\n", (unsigned long long)put(store, "configmaps", "default", "probe", cursor));
    vd_store_close(store);
    return 0;
}

static int sql(const char *file, const char *statements)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    int rc = sqlite3_open(file, &db);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, statements, NULL, NULL, &message);
    if (rc != SQLITE_OK)
        fprintf(stderr, "store_tool: %s\n", message ? message : sqlite3_errmsg(db));
    sqlite3_free(message);
    sqlite3_close(db);
    return rc != SQLITE_OK;
}

static int patch(const char *file, const char *old, const char *new)
{
    int fd = open(file, O_RDWR | O_CLOEXEC);
    struct stat s;
    if (fd < 0 || fstat(fd, &s) != 0 || strlen(old) != strlen(new))
        return 1;
    size_t size = (size_t)s.st_size, n = strlen(old);
    char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *at = bytes == MAP_FAILED ? NULL : memmem(bytes, size, old, n);
    if (at)
        memcpy(at, new, n);
    else
        fprintf(stderr, "store_tool: '%s' is not in %s\n", old, file);
    if (bytes != MAP_FAILED)
        munmap(bytes, size);
    close(fd);
    return !at;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 2 ? argv[1] : "";
    if (strcmp(verb, "fill") == 0 && argc == 4)
        return fill(argv[2], argv[3]);
    if (strcmp(verb, "run") == 0 && argc == 3)
        run(argv[2]);
    if (strcmp(verb, "probe") == 0 && argc == 4)
        return probe(argv[2], argv[3]);
    if (strcmp(verb, "sql") == 0 && argc == 4)
        return sql(argv[2], argv[3]);
    if (strcmp(verb, "patch") == 0 && argc == 5)
        return patch(argv[2], argv[3], argv[4]);
    fprintf(stderr, "usage: store_tool fill|run|probe|sql|patch ...\n");
    return 2;
}
