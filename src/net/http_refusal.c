/* See http_refusal.h. */
#include "net/http_refusal.h"

#include <assert.h>

static const struct {
    unsigned status;
    const char *text;
} refusals[] = {
#define REFUSAL_ROW(name, status, text) {status, text},
    VD_HTTP_REFUSALS(REFUSAL_ROW)
#undef REFUSAL_ROW
};

unsigned vd_http_refusal_status(enum vd_http_refusal refusal)
{
    assert(refusal < VD_HTTP_REFUSAL_COUNT);
    return refusals[refusal].status;
}

const char *vd_http_refusal_text(enum vd_http_refusal refusal)
{
    assert(refusal < VD_HTTP_REFUSAL_COUNT);
    return refusals[refusal].text;
}
