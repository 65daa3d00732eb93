/* Memory that was used once and stays free goes back to the operating system. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "server/heap_trim.h"

enum { BLOCKS = 40000, BLOCK_LEN = 2000, KEPT = 100 }; /* 80 MB, in blocks too small for pages of their own */

static long resident_kb(void)
{
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &size, &resident), 2);
    fclose(file);
    return (long)(resident * (unsigned long)sysconf(_SC_PAGESIZE) / 1024);
}

static void test_a_burst_goes_back(void **state)
{
    static char *blocks[BLOCKS];
    struct vd_heap_trim trim = {0};
    (void)state;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    skip(); /* they have a heap of their own */
#endif
    assert_false(vd_heap_trim_look(&trim));
    assert_false(vd_heap_trim_look(&trim));
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BLOCK_LEN);
        assert_non_null(blocks[i]);
        memset(blocks[i], 1, BLOCK_LEN);
    }
    for (size_t i = 0; i < BLOCKS; i++) /* some stay, so that the heap cannot shrink at its end */
        if (i % KEPT != KEPT - 1)
            free(blocks[i]);
    long burst_kb = resident_kb();
    assert_false(vd_heap_trim_look(&trim)); /* it may be needed again at once */
    assert_true(vd_heap_trim_look(&trim));
    assert_true(resident_kb() < burst_kb - 60000);
    assert_false(vd_heap_trim_look(&trim));
    assert_false(vd_heap_trim_look(&trim));
    for (size_t i = KEPT - 1; i < BLOCKS; i += KEPT)
        free(blocks[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_burst_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
