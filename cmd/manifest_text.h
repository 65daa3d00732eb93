/* The manifest of an object that a server has: the text of a file of a repository, with what
 * authors say and nothing else. Pure. */
#ifndef VD_CMD_MANIFEST_TEXT_H
#define VD_CMD_MANIFEST_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "json/document.h"

/* Adds the manifest as YAML, or, if the object has a top-level text `body`, as Markdown with YAML
 * front matter. True: it is Markdown. Of metadata it has name, namespace, labels and annotations,
 * without those of Vedette and of kubectl; it has no status. */
bool vd_manifest_text_write(struct vd_buf *out, struct vd_arena *arena,
                            const struct vd_json *object);

#endif
