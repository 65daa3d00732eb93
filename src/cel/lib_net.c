/*
 * IP addresses and CIDRs, as net/netip of Go reads them: no leading zeros in IPv4,
 * no zones, no IPv4 inside IPv6 (::ffff:1.2.3.4).
 */
#include <arpa/inet.h>
#include <string.h>

#include "cel/program_internal.h"

struct vd_cel_address {
    uint8_t bytes[16];
    uint8_t family; /* 4 or 6 */
    uint8_t prefix; /* of a CIDR */
};

static size_t width(const struct vd_cel_address *a)
{
    return a->family == 4 ? 4 : 16;
}

/* NULL, or what is wrong. */
static const char *parse_ip(struct vd_slice s, struct vd_cel_address *out)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    char text[64];
    *out = (struct vd_cel_address){.family = 4};
    if (s.n == 0 || s.n >= sizeof text || memchr(s.p, 0, s.n))
        return "unable to parse IP";
    if (memchr(s.p, '%', s.n))
        return "with zone value is not allowed";
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    if (inet_pton(AF_INET, text, out->bytes) == 1)
        return NULL;
    out->family = 6;
    if (inet_pton(AF_INET6, text, out->bytes) != 1)
        return "unable to parse IP";
    return memcmp(out->bytes, mapped, sizeof mapped) == 0 ? "IPv4-mapped IPv6 is not allowed"
                                                          : NULL;
}

static const char *parse_cidr(struct vd_slice s, struct vd_cel_address *out)
{
    const char *slash = s.n ? memrchr(s.p, '/', s.n) : NULL;
    if (!slash)
        return "no '/'";
    const char *wrong = parse_ip(vd_slice(s.p, (size_t)(slash - s.p)), out);
    uint64_t bits;
    if (wrong)
        return wrong;
    if (vd_slice_to_u64(vd_slice_from(s, (size_t)(slash - s.p) + 1), &bits) != 0 ||
        bits > 8 * width(out))
        return "prefix length out of range";
    out->prefix = (uint8_t)bits;
    return NULL;
}

static void mask(struct vd_cel_address *a)
{
    for (size_t i = 0; i < width(a); i++) {
        size_t kept = a->prefix > 8 * i ? a->prefix - 8 * i : 0;
        if (kept < 8)
            a->bytes[i] &= (uint8_t)(0xff00 >> kept);
    }
}

/* The longest run of zero groups, RFC 5952: its start and length, 0 if none of 2. */
static size_t longest_zeros(const uint8_t *bytes, size_t *length)
{
    size_t best = 0, best_n = 1;
    for (size_t i = 0; i < 8; i++) {
        size_t n = 0;
        while (i + n < 8 && !bytes[2 * (i + n)] && !bytes[2 * (i + n) + 1])
            n++;
        if (n > best_n) {
            best = i;
            best_n = n;
        }
    }
    *length = best_n > 1 ? best_n : 0;
    return best;
}

static void write_ip(struct vd_buf *out, const struct vd_cel_address *a)
{
    const uint8_t *b = a->bytes;
    if (a->family == 4) {
        vd_buf_addf(out, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
        return;
    }
    size_t skip, start = longest_zeros(b, &skip);
    for (size_t i = 0; i < 8; i++) {
        if (skip && i == start) {
            vd_buf_add_text(out, "::");
            i += skip - 1;
            continue;
        }
        if (i > 0 && !(skip && i == start + skip))
            vd_buf_add_char(out, ':');
        vd_buf_addf(out, "%x", (unsigned)(b[2 * i] << 8 | b[2 * i + 1]));
    }
}

void vd_cel_address_write(struct vd_buf *out, const struct vd_cel_value *v)
{
    write_ip(out, v->address);
    if (v->kind == VD_CEL_CIDR)
        vd_buf_addf(out, "/%u", v->address->prefix);
}

uint64_t vd_cel_address_size(const struct vd_cel_value *v)
{
    return v->kind == VD_CEL_CIDR ? (v->address->prefix + 7u) / 8 : width(v->address);
}

bool vd_cel_address_equal(const struct vd_cel_value *a, const struct vd_cel_value *b)
{
    return memcmp(a->address, b->address, sizeof *a->address) == 0;
}

static struct vd_cel_value made(struct vd_cel_run *run, enum vd_cel_kind kind,
                                const struct vd_cel_address *a)
{
    struct vd_cel_address *kept = vd_cel_alloc(run, sizeof *kept);
    if (!kept)
        return vd_cel_no_overload();
    *kept = *a;
    return (struct vd_cel_value){.kind = (uint8_t)kind, .address = kept};
}

/* Reads an address, or makes the error. */
static bool read_ip(struct vd_cel_run *run, struct vd_slice text, struct vd_cel_address *address,
                    struct vd_cel_value *error)
{
    const char *wrong = parse_ip(text, address);
    if (!wrong)
        return true;
    *error = vd_cel_error(run, "IP Address \"%.*s\" parse error during conversion from string: %s",
                          VD_FMT(text), wrong);
    return false;
}

static struct vd_cel_value ip(struct vd_cel_run *run, const struct vd_cel_node *node,
                              const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    struct vd_cel_address address;
    if (a->kind == VD_CEL_CIDR) {
        address = *a->address;
        address.prefix = 0;
        return made(run, VD_CEL_IP, &address);
    }
    if (a->kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    struct vd_cel_value error;
    if (!read_ip(run, a->s, &address, &error))
        return error;
    return made(run, VD_CEL_IP, &address);
}

static struct vd_cel_value cidr(struct vd_cel_run *run, const struct vd_cel_node *node,
                                const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    struct vd_cel_address address;
    if (a->kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    const char *wrong = parse_cidr(a->s, &address);
    if (wrong)
        return vd_cel_error(run, "network address parse error during conversion from string: %s",
                            wrong);
    return made(run, VD_CEL_CIDR, &address);
}

/* isIP, isCIDR */
static struct vd_cel_value is_address(struct vd_cel_run *run, const struct vd_cel_node *node,
                                      const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)n;
    struct vd_cel_address address;
    if (a->kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    return vd_cel_bool(
        !(node->name.p[2] == 'I' ? parse_ip(a->s, &address) : parse_cidr(a->s, &address)));
}

static struct vd_cel_value is_canonical(struct vd_cel_run *run, const struct vd_cel_node *node,
                                        const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    struct vd_cel_address address;
    if (a->kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    struct vd_cel_value error;
    if (!read_ip(run, a->s, &address, &error))
        return error;
    struct vd_buf text = {0};
    write_ip(&text, &address);
    bool same = vd_slice_eq(vd_buf_slice(&text), a->s);
    vd_buf_release(&text);
    return vd_cel_bool(same);
}

static bool all_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

static bool is_loopback(const struct vd_cel_address *a)
{
    return a->family == 4 ? a->bytes[0] == 127 : all_zero(a->bytes, 15) && a->bytes[15] == 1;
}

static bool is_link_local_unicast(const struct vd_cel_address *a)
{
    return a->family == 4 ? a->bytes[0] == 169 && a->bytes[1] == 254
                          : a->bytes[0] == 0xfe && (a->bytes[1] & 0xc0) == 0x80;
}

static bool is_multicast(const struct vd_cel_address *a)
{
    return a->family == 4 ? (a->bytes[0] & 0xf0) == 0xe0 : a->bytes[0] == 0xff;
}

static bool is_link_local_multicast(const struct vd_cel_address *a)
{
    return a->family == 4 ? a->bytes[0] == 224 && all_zero(a->bytes + 1, 2)
                          : a->bytes[0] == 0xff && (a->bytes[1] & 0x0f) == 2;
}

static bool is_global_unicast(const struct vd_cel_address *a)
{
    static const uint8_t broadcast[4] = {255, 255, 255, 255};
    if (a->family == 4 && memcmp(a->bytes, broadcast, 4) == 0)
        return false;
    return !all_zero(a->bytes, width(a)) && !is_loopback(a) && !is_multicast(a) &&
           !is_link_local_unicast(a);
}

/* The properties of an address, by the method's name. */
static struct vd_cel_value property(struct vd_cel_run *run, const struct vd_cel_node *node,
                                    const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)n;
    if (a->kind != VD_CEL_IP)
        return vd_cel_no_overload();
    const struct vd_cel_address *address = a->address;
    if (vd_slice_is(node->name, "family"))
        return vd_cel_int(address->family);
    if (vd_slice_is(node->name, "isUnspecified"))
        return vd_cel_bool(all_zero(address->bytes, width(address)));
    if (vd_slice_is(node->name, "isLoopback"))
        return vd_cel_bool(is_loopback(address));
    if (vd_slice_is(node->name, "isLinkLocalMulticast"))
        return vd_cel_bool(is_link_local_multicast(address));
    if (vd_slice_is(node->name, "isLinkLocalUnicast"))
        return vd_cel_bool(is_link_local_unicast(address));
    return vd_cel_bool(is_global_unicast(address));
}

static bool covers(const struct vd_cel_address *cidr, const struct vd_cel_address *other)
{
    struct vd_cel_address a = *cidr, b = *other;
    if (a.family != b.family)
        return false;
    b.prefix = a.prefix;
    mask(&a);
    mask(&b);
    return memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}

static struct vd_cel_value contains_ip(struct vd_cel_run *run, const struct vd_cel_node *node,
                                       const struct vd_cel_value *a, size_t n)
{
    struct vd_cel_value other = a[1];
    if (a->kind != VD_CEL_CIDR)
        return vd_cel_no_overload();
    if (other.kind == VD_CEL_STRING)
        other = ip(run, node, &a[1], n);
    if (other.kind == VD_CEL_ERROR)
        return other;
    return other.kind == VD_CEL_IP ? vd_cel_bool(covers(a->address, other.address))
                                   : vd_cel_no_overload();
}

static struct vd_cel_value contains_cidr(struct vd_cel_run *run, const struct vd_cel_node *node,
                                         const struct vd_cel_value *a, size_t n)
{
    struct vd_cel_value other = a[1];
    if (a->kind != VD_CEL_CIDR)
        return vd_cel_no_overload();
    if (other.kind == VD_CEL_STRING)
        other = cidr(run, node, &a[1], n);
    if (other.kind == VD_CEL_ERROR)
        return other;
    if (other.kind != VD_CEL_CIDR)
        return vd_cel_no_overload();
    return vd_cel_bool(a->address->prefix <= other.address->prefix &&
                       covers(a->address, other.address));
}

static struct vd_cel_value prefix_length(struct vd_cel_run *run, const struct vd_cel_node *node,
                                         const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node, (void)n;
    return a->kind == VD_CEL_CIDR ? vd_cel_int(a->address->prefix) : vd_cel_no_overload();
}

static struct vd_cel_value masked(struct vd_cel_run *run, const struct vd_cel_node *node,
                                  const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    if (a->kind != VD_CEL_CIDR)
        return vd_cel_no_overload();
    struct vd_cel_address address = *a->address;
    mask(&address);
    return made(run, VD_CEL_CIDR, &address);
}

static const struct vd_cel_function table[] = {
    {"ip", "s>I", ip, VD_CEL_PRICE_SCAN},
    {"ip", ".C>I", ip, VD_CEL_PRICE_ONE},
    {"isIP", "s>b", is_address, VD_CEL_PRICE_SCAN},
    {"ip.isCanonical", "s>b", is_canonical, VD_CEL_PRICE_CANONICAL},
    {"family", ".I>i", property, VD_CEL_PRICE_ONE},
    {"isUnspecified", ".I>b", property, VD_CEL_PRICE_ONE},
    {"isLoopback", ".I>b", property, VD_CEL_PRICE_ONE},
    {"isLinkLocalMulticast", ".I>b", property, VD_CEL_PRICE_ONE},
    {"isLinkLocalUnicast", ".I>b", property, VD_CEL_PRICE_ONE},
    {"isGlobalUnicast", ".I>b", property, VD_CEL_PRICE_ONE},
    {"cidr", "s>C", cidr, VD_CEL_PRICE_SCAN},
    {"isCIDR", "s>b", is_address, VD_CEL_PRICE_SCAN},
    {"containsIP", ".CI>b", contains_ip, VD_CEL_PRICE_CONTAINS_IP},
    {"containsIP", ".Cs>b", contains_ip, VD_CEL_PRICE_CONTAINS_IP},
    {"containsCIDR", ".CC>b", contains_cidr, VD_CEL_PRICE_CONTAINS_CIDR},
    {"containsCIDR", ".Cs>b", contains_cidr, VD_CEL_PRICE_CONTAINS_CIDR},
    {"prefixLength", ".C>i", prefix_length, VD_CEL_PRICE_ONE},
    {"masked", ".C>C", masked, VD_CEL_PRICE_ONE},
};

VD_CEL_LIBRARY(vd_cel_lib_net, table);
