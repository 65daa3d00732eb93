/*
 * See setting.h. One parser for each type; a refusal always says what is wanted
 * and shows what was written, so that one sentence is enough to mend it.
 */
#include "server/setting.h"

#include <assert.h>
#include <stdio.h>

#include "base/quantity.h"
#include "base/utf8.h"
#include "net/listener.h"
#include "server/config.h"

enum { SHOWN_MAX = 80 }; /* bytes of a wrong value that the error shows */

size_t vd_setting_find(struct vd_slice name)
{
    size_t i = 0;
    while (i < VD_SETTINGS_N && !vd_slice_is(name, vd_settings[i].name))
        i++;
    return i;
}

/* ---- names ---- */

const char *vd_setting_flag(const struct vd_setting *s, char out[VD_SETTING_NAME_MAX])
{
    int n = snprintf(out, VD_SETTING_NAME_MAX, "%s", s->name);
    assert(n < VD_SETTING_NAME_MAX);
    for (char *c = out; *c; c++)
        if (*c == '.')
            *c = '-';
    return out;
}

const char *vd_setting_variable(const struct vd_setting *s, char out[VD_SETTING_NAME_MAX])
{
    int n = snprintf(out, VD_SETTING_NAME_MAX, "VEDETTE_%s", s->name);
    assert(n < VD_SETTING_NAME_MAX);
    for (char *c = out; *c; c++)
        if (*c == '.' || *c == '-')
            *c = '_';
        else if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    return out;
}

/* ---- values ---- */

static int wants(struct vd_error *error, struct vd_slice text, const char *what)
{
    return vd_error_set(error, VD_ERR_INVALID, "wants %s, not '%.*s'%s", what,
                        (int)(text.n < SHOWN_MAX ? text.n : SHOWN_MAX), text.p,
                        text.n < SHOWN_MAX ? "" : "...");
}

static const char *amount_text(const struct vd_setting *s, uint64_t amount,
                               char out[VD_QUANTITY_MAX])
{
    if (s->type == VD_SETTING_DURATION)
        return vd_duration_text(amount, out);
    if (s->type == VD_SETTING_SIZE)
        return vd_bytes_text(amount, out);
    snprintf(out, VD_QUANTITY_MAX, "%llu", (unsigned long long)amount);
    return out;
}

static int parse_amount(const struct vd_setting *s, struct vd_slice text, uint64_t *out,
                        struct vd_error *error)
{
    char low[VD_QUANTITY_MAX], high[VD_QUANTITY_MAX], what[96];
    uint64_t amount;
    int rc = s->type == VD_SETTING_DURATION ? vd_duration_parse(text, &amount)
             : s->type == VD_SETTING_SIZE   ? vd_size_parse(text, &amount)
                                            : vd_slice_to_u64(text, &amount);
    if (rc != 0)
        return wants(error, text,
                     s->type == VD_SETTING_DURATION ? "a time such as 24h, 1m30s or 500ms"
                     : s->type == VD_SETTING_SIZE   ? "a size such as 64MiB or 1GiB"
                                                    : "a number");
    if (amount < s->min || amount > s->max) {
        snprintf(what, sizeof what, "%s to %s", amount_text(s, s->min, low),
                 amount_text(s, s->max, high));
        return wants(error, text, what);
    }
    *out = amount;
    return VD_OK;
}

static int parse_choice(const struct vd_setting *s, struct vd_slice text, int *out,
                        struct vd_error *error)
{
    char what[96] = "";
    size_t n = 0;
    for (const struct vd_setting_choice *c = s->choices; c->name; c++) {
        if (vd_slice_is(text, c->name)) {
            *out = c->value;
            return VD_OK;
        }
        const char *joint = c == s->choices ? "" : c[1].name ? ", " : " or ";
        n += (size_t)snprintf(what + n, sizeof what - n, "%s%s", joint, c->name);
        assert(n < sizeof what);
    }
    return wants(error, text, what);
}

static int parse_switch(struct vd_slice text, bool *out, struct vd_error *error)
{
    bool on = vd_slice_is(text, "on") || vd_slice_is(text, "true");
    if (!on && !vd_slice_is(text, "off") && !vd_slice_is(text, "false"))
        return wants(error, text, "on or off");
    *out = on;
    return VD_OK;
}

static int parse_auto(struct vd_slice text, int *out, struct vd_error *error)
{
    bool on = false;
    if (!vd_slice_is(text, "auto") && parse_switch(text, &on, NULL))
        return wants(error, text, "on, off or auto");
    *out = vd_slice_is(text, "auto") ? VD_CONFIG_AUTO : on ? VD_CONFIG_ON : VD_CONFIG_OFF;
    return VD_OK;
}

static int parse_address(struct vd_slice text, const char **out, struct vd_arena *arena,
                         struct vd_error *error)
{
    const char *address = vd_arena_copy(arena, text).p;
    if (vd_slice_is(text, "off"))
        address = NULL;
    else if (vd_address_check(address, NULL))
        return wants(
            error, text,
            "HOST:PORT with a numeric host and a port up to 65535, such as 127.0.0.1:8080 or "
            "[::1]:8080, or off");
    *out = address;
    return VD_OK;
}

/* v1.32.4: clients cut it into numbers. */
static int parse_version(struct vd_slice text, const char **out, struct vd_arena *arena,
                         struct vd_error *error)
{
    struct vd_slice rest = vd_slice_from(text, 1), part;
    uint64_t number;
    size_t parts = 0;
    bool good = text.n > 1 && text.p[0] == 'v';
    while (good && vd_slice_cut(&rest, '.', &part)) {
        good = vd_slice_to_u64(part, &number) == 0;
        parts++;
    }
    if (!good || parts != 3)
        return wants(error, text, "a version of Kubernetes such as v1.32.4");
    *out = vd_arena_copy(arena, text).p;
    return VD_OK;
}

static int parse_list(struct vd_slice text, struct vd_config_list *out, struct vd_arena *arena,
                      struct vd_error *error)
{
    struct vd_slice rest = text, item;
    size_t n = 1;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == ',';
    const char **items = vd_arena_alloc(arena, n * sizeof *items);
    struct vd_config_list list = {.items = items};
    while (text.n && vd_slice_cut(&rest, ',', &item)) {
        item = vd_slice_trim(item);
        if (item.n == 0)
            return wants(error, text, "items with commas between them, none empty");
        items[list.n++] = vd_arena_copy(arena, item).p;
    }
    *out = list;
    return VD_OK;
}

/* A text must be one that can be printed in one line, and be a C string. */
static bool is_line(struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f)
            return false;
    return vd_utf8_is_valid(text);
}

int vd_setting_parse(const struct vd_setting *s, struct vd_slice text, void *config,
                     struct vd_arena *arena, struct vd_error *error)
{
    void *field = (char *)config + s->field;
    if (!is_line(text))
        return vd_error_set(error, VD_ERR_INVALID,
                            "wants one line of UTF-8 text without control characters");
    switch (s->type) {
    case VD_SETTING_TEXT:
        *(const char **)field = text.n ? vd_arena_copy(arena, text).p : NULL;
        return VD_OK;
    case VD_SETTING_VERSION:
        return parse_version(text, field, arena, error);
    case VD_SETTING_ADDRESS:
        return parse_address(text, field, arena, error);
    case VD_SETTING_LIST:
        return parse_list(text, field, arena, error);
    case VD_SETTING_SWITCH:
        return parse_switch(text, field, error);
    case VD_SETTING_AUTO:
        return parse_auto(text, field, error);
    case VD_SETTING_CHOICE:
        return parse_choice(s, text, field, error);
    case VD_SETTING_COUNT:
    case VD_SETTING_SIZE:
    case VD_SETTING_DURATION:
        return parse_amount(s, text, field, error);
    }
    assert(false); /* every type is above */
    return VD_ERR_INVALID;
}
