/*
 * Fuzzes slices: numbers against the C library's reading of them, and cutting
 * against putting together again.
 *
 * The first byte is the separator, the rest is the text.
 */
#include "fuzz.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/slice.h"

/* The contract in other words: digits only, no leading zero, and strtoull takes it whole. */
static bool model_to_u64(struct vd_slice text, uint64_t *out)
{
    char copy[32];
    if (text.n == 0 || text.n >= sizeof copy)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    if (strspn(copy, "0123456789") != text.n || (copy[0] == '0' && text.n > 1))
        return false;
    errno = 0;
    unsigned long long value = strtoull(copy, NULL, 10);
    *out = value;
    return errno == 0;
}

static void check_number(struct vd_slice text)
{
    uint64_t got = 77, want = 0;
    bool ok = vd_slice_to_u64(text, &got) == 0;
    FUZZ_CHECK(ok == model_to_u64(text, &want));
    if (!ok) {
        FUZZ_CHECK(got == 77); /* filled only on success */
        return;
    }
    FUZZ_CHECK(got == want);
    char digits[20];
    FUZZ_CHECK(vd_slice_eq(vd_slice(digits, vd_u64_digits(got, digits)), text));
}

static void check_cut_and_join(struct vd_slice text, char separator)
{
    struct vd_buf joined = {0};
    struct vd_slice rest = text, part;
    size_t parts = 0, separators = 0;
    while (vd_slice_cut(&rest, separator, &part)) {
        FUZZ_CHECK(part.n == 0 || !memchr(part.p, separator, part.n));
        if (parts++)
            vd_buf_add_char(&joined, separator);
        vd_buf_add_slice(&joined, part);
        check_number(part);
    }
    for (size_t i = 0; i < text.n; i++)
        separators += text.p[i] == separator;
    FUZZ_CHECK(parts == separators + 1);
    FUZZ_CHECK(vd_slice_eq(vd_buf_slice(&joined), text));
    vd_buf_release(&joined);
}

static void check_trim(struct vd_slice text)
{
    struct vd_slice trimmed = vd_slice_trim(text);
    FUZZ_CHECK(trimmed.n <= text.n);
    FUZZ_CHECK(trimmed.n == 0 || !memchr(" \t\r\n", trimmed.p[0], 4));
    FUZZ_CHECK(trimmed.n == 0 || !memchr(" \t\r\n", trimmed.p[trimmed.n - 1], 4));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct vd_slice text = vd_slice(data + 1, size - 1);
    check_number(text);
    check_cut_and_join(text, (char)data[0]);
    check_trim(text);
    return 0;
}
