/* See plain_number.h. */
#include "json/plain_number.h"

#include "json/number.h"

static int make_plain(struct vd_arena *a, struct vd_json *v, struct vd_error *error)
{
    struct vd_slice text = vd_json_number_text(v);
    int64_t whole;
    double value;
    if (vd_number_classify(text) != VD_NUMBER_DOUBLE)
        return VD_OK;
    if (vd_number_to_i64(text, &whole))
        vd_json_assign(v, vd_json_i64(a, whole));
    else if (!vd_number_to_double(text, &value))
        return vd_error_set(error, VD_ERR_INVALID, "a number is beyond the range of doubles");
    return VD_OK;
}

int vd_json_plain_numbers(struct vd_arena *a, struct vd_json *v, struct vd_error *error)
{
    if (vd_json_is(v, VD_JSON_NUMBER))
        return make_plain(a, v, error);
    if (!vd_json_is(v, VD_JSON_OBJECT) && !vd_json_is(v, VD_JSON_ARRAY))
        return VD_OK;
    VD_JSON_EACH (child, v) {
        int code = vd_json_plain_numbers(a, child, error);
        if (code)
            return code;
    }
    return VD_OK;
}
