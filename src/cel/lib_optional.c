/* Optional values, and the formats that Kubernetes gives names to. */
#include <string.h>

#include "cel/program_internal.h"

static struct vd_cel_value of(struct vd_cel_run *run, const struct vd_cel_node *node,
                              const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    return vd_cel_some(run, *a);
}

static struct vd_cel_value none(struct vd_cel_run *run, const struct vd_cel_node *node,
                                const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node, (void)a, (void)n;
    return vd_cel_none();
}

static bool is_zero(const struct vd_cel_value *v)
{
    switch ((enum vd_cel_kind)v->kind) {
    case VD_CEL_NULL:
        return true;
    case VD_CEL_BOOL:
        return !v->truth;
    case VD_CEL_INT:
    case VD_CEL_DURATION:
        return v->i == 0;
    case VD_CEL_UINT:
        return v->u == 0;
    case VD_CEL_DOUBLE:
        return v->d == 0;
    default:
        return vd_cel_is_sized(v) && vd_cel_size(v) == 0;
    }
}

static struct vd_cel_value of_non_zero(struct vd_cel_run *run, const struct vd_cel_node *node,
                                       const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    return is_zero(a) ? vd_cel_none() : vd_cel_some(run, *a);
}

static struct vd_cel_value has_value(struct vd_cel_run *run, const struct vd_cel_node *node,
                                     const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node, (void)n;
    return a->kind == VD_CEL_OPTIONAL ? vd_cel_bool(a->some != NULL) : vd_cel_no_overload();
}

static struct vd_cel_value value(struct vd_cel_run *run, const struct vd_cel_node *node,
                                 const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    if (a->kind != VD_CEL_OPTIONAL)
        return vd_cel_no_overload();
    return a->some ? *a->some : vd_cel_error(run, "optional.none() dereference");
}

static struct vd_cel_value or_else(struct vd_cel_run *run, const struct vd_cel_node *node,
                                   const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node, (void)n;
    if (a->kind != VD_CEL_OPTIONAL)
        return vd_cel_no_overload();
    return a->some ? a[0] : a[1];
}

static struct vd_cel_value or_value(struct vd_cel_run *run, const struct vd_cel_node *node,
                                    const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node, (void)n;
    if (a->kind != VD_CEL_OPTIONAL)
        return vd_cel_no_overload();
    return a->some ? *a->some : a[1];
}

static const char *const formats[] = {
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
};

static struct vd_cel_value format_of(struct vd_slice name, bool *found)
{
    struct vd_cel_value v = {.kind = VD_CEL_FORMAT};
    *found = false;
    for (size_t i = 0; i < sizeof formats / sizeof *formats && !*found; i++) {
        *found = vd_slice_is(name, formats[i]);
        v.format = formats[i];
    }
    return v;
}

/* format.dns1123Label() and so on. */
static struct vd_cel_value format(struct vd_cel_run *run, const struct vd_cel_node *node,
                                  const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)a, (void)n;
    bool found;
    struct vd_cel_value v = format_of(vd_slice_from(node->name, strlen("format.")), &found);
    return found ? v : vd_cel_no_overload();
}

static struct vd_cel_value named(struct vd_cel_run *run, const struct vd_cel_node *node,
                                 const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    bool found;
    if (a->kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    struct vd_cel_value v = format_of(a->s, &found);
    return found ? vd_cel_some(run, v) : vd_cel_none();
}

static struct vd_cel_value validate(struct vd_cel_run *run, const struct vd_cel_node *node,
                                    const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    struct vd_slice faults[4];
    if (a->kind != VD_CEL_FORMAT || a[1].kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    size_t count = run->host ? run->host->format_faults(a->format, a[1].s, run->arena, faults) : 0;
    if (count == 0)
        return vd_cel_none();
    struct vd_cel_value *p = vd_cel_alloc(run, count * sizeof *p);
    for (size_t i = 0; p && i < count; i++)
        p[i] = vd_cel_string(faults[i]);
    return p ? vd_cel_some(run, vd_cel_list(run, p, count)) : vd_cel_no_overload();
}

#define FORMAT(name)                                                                               \
    {                                                                                              \
        "format." name, ">F", format, VD_CEL_PRICE_ONE                                             \
    }

static const struct vd_cel_function table[] = {
    {"optional.of", "A>OA", of, VD_CEL_PRICE_ONE},
    {"optional.none", ">OA", none, VD_CEL_PRICE_ONE},
    {"optional.ofNonZeroValue", "A>OA", of_non_zero, VD_CEL_PRICE_ONE},
    {"hasValue", ".OA>b", has_value, VD_CEL_PRICE_ONE},
    {"value", ".OA>A", value, VD_CEL_PRICE_ONE},
    {"or", ".OAOA>OA", or_else, VD_CEL_PRICE_ONE},
    {"orValue", ".OAA>A", or_value, VD_CEL_PRICE_ONE},
    {"format.named", "s>OF", named, VD_CEL_PRICE_ONE},
    {"validate", ".Fs>OLs", validate, VD_CEL_PRICE_VALIDATE},
    FORMAT("dns1123Label"),
    FORMAT("dns1123Subdomain"),
    FORMAT("dns1035Label"),
    FORMAT("qualifiedName"),
    FORMAT("dns1123LabelPrefix"),
    FORMAT("dns1123SubdomainPrefix"),
    FORMAT("dns1035LabelPrefix"),
    FORMAT("labelValue"),
    FORMAT("uri"),
    FORMAT("uuid"),
    FORMAT("byte"),
    FORMAT("date"),
    FORMAT("datetime"),
};

VD_CEL_LIBRARY(vd_cel_lib_optional, table);
