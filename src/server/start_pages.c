/* See start_pages.h. */
#include "server/start_pages.h"

#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Only segments that can be run and never written: a page of any other kind may hold what exists
 * nowhere else, such as relocated addresses. */
static int release_code(struct dl_phdr_info *object, size_t size, void *arg)
{
    const uintptr_t page = *(const uintptr_t *)arg;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || segment->p_flags & PF_W)
            continue;
        uintptr_t from = (object->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_memsz) & ~(page - 1);
        if (from < end)
            madvise((void *)from, end - from, MADV_DONTNEED); /* at worst they stay */
    }
    return 0;
}

void vd_start_pages_release(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(release_code, &page);
}
