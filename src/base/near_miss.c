/*
 * See near_miss.h. The distance is the number of letters to insert, delete,
 * change or swap with their neighbour; up to a third of the word may be wrong.
 */
#include "base/near_miss.h"

#include <string.h>

enum { WORD_MAX = 32 }; /* bytes of a word; a longer one is near to none */

struct vd_near_miss vd_near_miss(const char *typed)
{
    size_t n = strlen(typed);
    return (struct vd_near_miss){.typed = typed, .distance = n / 3 + 2};
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Fills the table of edit distances row by row. Three rows are kept, as a swap looks two back. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *swap = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], swap[j - 2] + 1);
        }
    }
    return rows[a_len % 3][b_len];
}

void vd_near_miss_try(struct vd_near_miss *near, const char *word)
{
    size_t typed_len = strlen(near->typed), word_len = strlen(word);
    if (typed_len > WORD_MAX || word_len > WORD_MAX)
        return;
    size_t d = distance(near->typed, typed_len, word, word_len);
    if (d < near->distance && d < word_len) {
        near->best = word;
        near->distance = d;
    }
}
