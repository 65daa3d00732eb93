/*
 * A configuration as the YAML file that would give it, each value with a comment
 * that says where it came from:
 *
 *     listen: 127.0.0.1:8080 # default
 *     watch:
 *       bookmark-period: 30s # vedette.yaml:3:3
 */
#include <string.h>

#include "server/config.h"
#include "json/yaml_write.h"

/* The value as it must be written so that YAML gives this text back. Settings that
 * are no texts are read from any scalar, so they stay bare: off, 100, 1m30s. */
static void write_value(const struct vd_setting *s, const char *text, struct vd_buf *out)
{
    struct vd_arena arena = {0};
    bool is_text = s->type == VD_SETTING_TEXT || s->type == VD_SETTING_LIST;
    if (is_text) {
        vd_yaml_write(out, vd_json_string(&arena, vd_slice_of(text)));
        out->p[--out->n] = 0; /* its newline */
    } else
        vd_buf_add_text(out, text);
    vd_arena_release(&arena);
}

void vd_config_write(const struct vd_config *config, struct vd_buf *out)
{
    struct vd_slice group = VD_SLICE("");
    for (size_t i = 0; i < VD_SETTINGS_N; i++) {
        const struct vd_setting *s = &vd_settings[i];
        const struct vd_config_entry *entry = &config->entries[i];
        const char *dot = strchr(s->name, '.');
        struct vd_slice in = vd_slice(s->name, dot ? (size_t)(dot - s->name) : 0);
        if (dot && !vd_slice_eq(in, group))
            vd_buf_addf(out, "%.*s:\n", VD_FMT(in));
        group = in;
        vd_buf_addf(out, "%s%s: ", dot ? "  " : "", dot ? dot + 1 : s->name);
        write_value(s, entry->text, out);
        vd_buf_addf(out, " # %s\n", entry->origin ? entry->origin : "default");
    }
}
