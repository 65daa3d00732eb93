/* See error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *vd_code_name(int code)
{
    static const char *const names[] = {
#define VD_CODE_NAME(name, text) [name] = text,
        VD_CODES(VD_CODE_NAME)
#undef VD_CODE_NAME
    };
    return code >= 0 && code < VD_CODE_COUNT ? names[code] : "unknown";
}

#undef vd_error_set /* error.h defines it as a macro for the analyser */

int vd_error_set(struct vd_error *error, enum vd_code code, const char *format, ...)
{
    if (!error)
        return (int)code;
    va_list arguments;
    va_start(arguments, format);
    error->code = code;
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return (int)code;
}

void vd_error_prefix(struct vd_error *error, const char *format, ...)
{
    if (!error)
        return;
    char prefixed[VD_ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(prefixed, sizeof prefixed, format, arguments);
    va_end(arguments);
    size_t n = strlen(prefixed);
    snprintf(prefixed + n, sizeof prefixed - n, ": %s", error->text);
    memcpy(error->text, prefixed, sizeof prefixed);
}
