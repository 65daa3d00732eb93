/*
 * The tables of the kinds that are in use: made when first asked for, kept while the
 * registry does not change, shared by all loops.
 */
#ifndef VD_KUBE_TABLE_TABLES_H
#define VD_KUBE_TABLE_TABLES_H

#include "base/attributes.h"
#include "kinds/kinds.h"
#include "kube/table/table.h"

struct vd_tables;

struct vd_tables *vd_tables_new(void) VD_MUST_USE;
void vd_tables_free(struct vd_tables *tables); /* NULL allowed; tables stay while referenced */

/* The table of a kind of the set: one reference. Any thread. */
struct vd_table *vd_tables_get(struct vd_tables *tables, const struct vd_kind_set *set,
                               const struct vd_kind *kind) VD_MUST_USE;

#endif
