/*
 * Runs a fuzz target without libFuzzer, so that every `make test` does.
 *
 *   X_fuzz_test [SEED [ROUNDS]]       the corpus, then ROUNDS seeded mutations of it
 *   X_fuzz_test FILE...               these inputs only
 *
 * Every file of the corpus folder (CORPUS, set by the build) is run as it is.
 * Then random mutations of the corpus are: flipped and replaced bytes, inserted
 * and deleted runs, splices of two inputs, truncations. The same seed makes the
 * same inputs. Work is bounded by a count, and by CPU time for slow targets.
 *
 * An input lies against a page that cannot be read, so that reading past its
 * end is a crash in any build. When the target dies, the input is written to
 * X_fuzz_test.crash beside the program.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    INPUT_LEN_MAX = 1 << 20, /* bytes of a corpus file */
    GROWTH_LEN_MAX = 4096,   /* bytes that a mutation may be longer than its input */
    CORPUS_FILES_MAX = 4096,
    ROUNDS_DEFAULT = 20000,
    MUTATIONS_MAX = 8, /* of one input, in a round */
    CPU_S_MAX = 10,
};

struct input {
    char *name;
    uint8_t *p;
    size_t n;
};

/* What the crash handler needs; there is one run at a time. */
static struct {
    const uint8_t *p;
    size_t n;
    char path[4096];
} current;

/* Ends right before the unreadable page. */
static uint8_t *arena_end;

static uint64_t random_state;

/* splitmix64. */
static uint64_t random_u64(void)
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 to `end` - 1, or 0 when there is nothing to choose from. */
static size_t random_below(size_t end)
{
    return end ? (size_t)(random_u64() % end) : 0;
}

static void die(const char *what, const char *name)
{
    printf("not ok - %s %s: %s\n", what, name, strerror(errno));
    exit(1);
}

static void save_current(void)
{
    int fd = open(current.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, current.p, current.n) != (ssize_t)current.n)
        return;
    static const char text[] = "# the input that broke it is in ";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0 ||
        write(STDOUT_FILENO, current.path, strlen(current.path)) < 0 ||
        write(STDOUT_FILENO, "\n", 1) < 0)
        return;
}

static void on_crash(int number)
{
    save_current();
    raise(number); /* SA_RESETHAND: this time it ends the process */
}

/* A sanitizer ends the process by itself, without a signal; it calls this first. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void catch_crashes(const char *program)
{
    snprintf(current.path, sizeof current.path, "%s.crash", program);
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGABRT, &action, NULL);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(save_current);
        return; /* the other signals are its own, with a better report */
    }
    const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
}

static void arena_init(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t n = (INPUT_LEN_MAX + GROWTH_LEN_MAX + page - 1) / page * page;
    uint8_t *p = mmap(NULL, n + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + n, page, PROT_NONE) != 0)
        die("could not map", "the input's pages");
    arena_end = p + n;
}

static void run(const uint8_t *p, size_t n)
{
    current.p = arena_end - n;
    current.n = n;
    if (n)
        memcpy(arena_end - n, p, n);
    LLVMFuzzerTestOneInput(current.p, n);
}

static struct input input_read(const char *path)
{
    struct input input = {.name = strdup(path), .p = malloc(INPUT_LEN_MAX)};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (!input.name || !input.p || fd < 0)
        die("could not open", path);
    ssize_t got;
    while ((got = read(fd, input.p + input.n, INPUT_LEN_MAX - input.n)) > 0)
        input.n += (size_t)got;
    if (got < 0)
        die("could not read", path);
    close(fd);
    return input;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The files of the folder in the order of their names, so that a seed means the same everywhere. */
static size_t corpus_read(const char *folder, struct input *inputs)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_visible, alphasort);
    if (count < 0)
        die("could not read the corpus", folder);
    if (count == 0 || count > CORPUS_FILES_MAX) {
        printf("not ok - %s holds %d files; want 1 to %d\n", folder, count, CORPUS_FILES_MAX);
        exit(1);
    }
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        inputs[i] = input_read(path);
        free(entries[i]);
    }
    free(entries);
    return (size_t)count;
}

/* Puts `n` bytes from `p` in at `at`, as far as there is room; gives the new length. */
static size_t insert(uint8_t *bytes, size_t len, size_t len_max, size_t at, const uint8_t *p,
                     size_t n)
{
    if (n > len_max - len)
        n = len_max - len;
    memmove(bytes + at + n, bytes + at, len - at);
    memcpy(bytes + at, p, n);
    return len + n;
}

static size_t delete_run(uint8_t *bytes, size_t len)
{
    size_t at = random_below(len);
    size_t n = random_below(len - at + 1);
    memmove(bytes + at, bytes + at + n, len - at - n);
    return len - n;
}

static size_t mutate_once(uint8_t *bytes, size_t len, size_t len_max, const struct input *other)
{
    static const uint8_t telling[] = "\0\"\\{}[]():,-+.09 \n\r\t/#&*~\x7f\x80\xff";
    uint8_t few[16];
    size_t from = random_below(other->n);
    size_t at = random_below(len + 1);
    switch (random_below(8)) {
    case 0: /* flip a bit */
        if (at < len)
            bytes[at] ^= (uint8_t)(1u << random_below(8));
        return len;
    case 1: /* replace a byte by any */
        if (at < len)
            bytes[at] = (uint8_t)random_u64();
        return len;
    case 2: /* replace a byte by one that means something to a parser */
        if (at < len)
            bytes[at] = telling[random_below(sizeof telling)];
        return len;
    case 3: /* insert a run of such a byte */
        memset(few, telling[random_below(sizeof telling)], sizeof few);
        return insert(bytes, len, len_max, at, few, 1 + random_below(sizeof few));
    case 4: /* truncate */
        return at;
    case 5:
        return delete_run(bytes, len);
    case 6: /* insert a part of another input */
        return insert(bytes, len, len_max, at, other->p + from, random_below(other->n - from + 1));
    default: /* go on as another input does */
        return insert(bytes, at, len_max, at, other->p + from, other->n - from);
    }
}

static bool is_out_of_time(uint64_t round)
{
    return round % 64 == 0 && clock() / CLOCKS_PER_SEC >= CPU_S_MAX;
}

static uint64_t run_mutations(const struct input *inputs, size_t count, uint64_t rounds)
{
    static uint8_t bytes[INPUT_LEN_MAX + GROWTH_LEN_MAX];
    uint64_t round = 0;
    for (; round < rounds && !is_out_of_time(round); round++) {
        const struct input *input = &inputs[random_below(count)];
        size_t len = input->n;
        size_t len_max = input->n + GROWTH_LEN_MAX;
        memcpy(bytes, input->p, len);
        for (size_t left = 1 + random_below(MUTATIONS_MAX); left; left--)
            len = mutate_once(bytes, len, len_max, &inputs[random_below(count)]);
        run(bytes, len);
    }
    return round;
}

static void run_files(int count, char **paths)
{
    for (int i = 0; i < count; i++) {
        struct input input = input_read(paths[i]);
        run(input.p, input.n);
        printf("ok %d - %s\n", i + 1, input.name);
        free(input.name);
        free(input.p);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, rounds = ROUNDS_DEFAULT;
    setvbuf(stdout, NULL, _IOLBF, 0); /* a crash must not swallow what was said before it */
    catch_crashes(argv[0]);
    arena_init();
    if (argc > 1 && access(argv[1], R_OK) == 0) {
        run_files(argc - 1, argv + 1);
        return 0;
    }
    if (argc > 1)
        seed = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        rounds = strtoull(argv[2], NULL, 10);

    static struct input inputs[CORPUS_FILES_MAX];
    size_t count = corpus_read(CORPUS, inputs);
    run(NULL, 0);
    for (size_t i = 0; i < count; i++) {
        run(inputs[i].p, inputs[i].n);
        printf("ok %zu - %s\n", i + 1, strrchr(inputs[i].name, '/') + 1);
    }
    random_state = seed;
    printf("# seed %" PRIu64 "\n", seed);
    uint64_t ran = run_mutations(inputs, count, rounds);
    printf("ok %zu - %" PRIu64 " mutations\n1..%zu\n", count + 1, ran, count + 1);
    for (size_t i = 0; i < count; i++) {
        free(inputs[i].name);
        free(inputs[i].p);
    }
    return 0;
}
