/*
 * See format.h. Each format is one predicate over bytes, in the order of the
 * table; none allocates. Times and durations are in time_format.c.
 *
 * What they accept follows k8s.io/kube-openapi's strfmt, with one difference:
 * an empty text is valid base64 here, as Go's decoder says.
 */
#include "kinds/format.h"

#include <arpa/inet.h>

#include "kinds/name.h"
#include "kinds/time_format.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool all_hex(struct vd_slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_hex(s.p[i]))
            return false;
    return true;
}

static bool is_bson_id(struct vd_slice s)
{
    return s.n == 24 && all_hex(s);
}

/* Every '%' of a URI starts an escape of two hex digits, and no byte is a
 * control character or a blank. */
static bool has_uri_bytes(struct vd_slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c <= ' ' || c == 0x7f)
            return false;
        if (c == '%' && (i + 2 >= s.n || !is_hex(s.p[i + 1]) || !is_hex(s.p[i + 2])))
            return false;
    }
    return true;
}

/* The authority of a URI: [user@]host[:port], an IPv6 host in brackets. */
static bool is_authority(struct vd_slice s)
{
    const char *at = s.n ? memrchr(s.p, '@', s.n) : NULL;
    struct vd_slice host = at ? vd_slice_from(s, (size_t)(at - s.p) + 1) : s;
    if (host.n && host.p[0] == '[') {
        const char *close = memchr(host.p, ']', host.n);
        if (!close)
            return false;
        host = vd_slice_from(host, (size_t)(close - host.p) + 1);
        if (host.n && host.p[0] != ':')
            return false;
    }
    const char *colon = host.n ? memchr(host.p, ':', host.n) : NULL;
    if (!colon)
        return true;
    struct vd_slice port = vd_slice_from(host, (size_t)(colon - host.p) + 1);
    for (size_t i = 0; i < port.n; i++)
        if (!is_digit(port.p[i]))
            return false;
    return true;
}

/* What Go's url.ParseRequestURI takes: an absolute path or an absolute URI. */
static bool is_uri(struct vd_slice s)
{
    if (s.n == 0 || !has_uri_bytes(s))
        return false;
    size_t scheme = 0;
    if (s.p[0] != '/') {
        while (scheme < s.n &&
               (is_alpha(s.p[scheme]) || (scheme && (is_digit(s.p[scheme]) || s.p[scheme] == '+' ||
                                                     s.p[scheme] == '-' || s.p[scheme] == '.'))))
            scheme++;
        if (scheme == 0 || scheme >= s.n || s.p[scheme] != ':')
            return vd_slice_is(s, "*");
        scheme++;
    }
    struct vd_slice rest = vd_slice_from(s, scheme);
    if (!scheme || !vd_slice_starts_with(rest, VD_SLICE("//")))
        return true;
    rest = vd_slice_from(rest, 2);
    size_t end = 0;
    while (end < rest.n && rest.p[end] != '/' && rest.p[end] != '?' && rest.p[end] != '#')
        end++;
    return is_authority(vd_slice(rest.p, end));
}

static bool is_atom_byte(char c)
{
    return is_alpha(c) || is_digit(c) || (unsigned char)c >= 0x80 ||
           (c && strchr("!#$%&'*+-/=?^_`{|}~", c));
}

/* Runs of atom bytes with single dots between them. */
static bool is_dot_atom(struct vd_slice s)
{
    char before = '.';
    for (size_t i = 0; i < s.n; i++) {
        if (!is_atom_byte(s.p[i]) && (s.p[i] != '.' || before == '.'))
            return false;
        before = s.p[i];
    }
    return before != '.';
}

static bool is_quoted_local(struct vd_slice s)
{
    return s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"' && !memchr(s.p + 1, '"', s.n - 2);
}

/* local@domain, or a display name and that in angle brackets. */
static bool is_email(struct vd_slice s)
{
    if (s.n && s.p[s.n - 1] == '>') {
        const char *open = memchr(s.p, '<', s.n);
        if (!open)
            return false;
        s = vd_slice(open + 1, (size_t)(s.p + s.n - open) - 2);
    }
    const char *at = s.n ? memrchr(s.p, '@', s.n) : NULL;
    if (!at)
        return false;
    struct vd_slice local = vd_slice(s.p, (size_t)(at - s.p));
    struct vd_slice domain = vd_slice_from(s, local.n + 1);
    return (is_dot_atom(local) || is_quoted_local(local)) && is_dot_atom(domain);
}

static bool is_host_byte(char c)
{
    return is_alpha(c) || is_digit(c) || (unsigned char)c >= 0x80;
}

/* Labels of letters and digits, '-' only inside; the last of several has
 * letters only. */
static bool is_hostname(struct vd_slice s)
{
    if (s.n == 0 || s.n > 255)
        return false;
    struct vd_slice label;
    size_t labels = 0;
    bool letters_only = false;
    while (vd_slice_cut(&s, '.', &label)) {
        if (label.n == 0 || label.n > 63 || !is_host_byte(label.p[0]) ||
            !is_host_byte(label.p[label.n - 1]))
            return false;
        letters_only = label.n >= 2;
        for (size_t i = 0; i < label.n; i++) {
            if (!is_host_byte(label.p[i]) && label.p[i] != '-')
                return false;
            if (is_digit(label.p[i]) || label.p[i] == '-')
                letters_only = false;
        }
        labels++;
    }
    return labels == 1 || letters_only;
}

/* Leading zeros are taken, as Kubernetes' own parser does. */
static bool is_ipv4(struct vd_slice s)
{
    struct vd_slice part;
    size_t parts = 0;
    while (vd_slice_cut(&s, '.', &part)) {
        unsigned value = 0;
        if (part.n == 0 || part.n > 3)
            return false;
        for (size_t i = 0; i < part.n; i++) {
            if (!is_digit(part.p[i]))
                return false;
            value = value * 10 + (unsigned)(part.p[i] - '0');
        }
        if (value > 255)
            return false;
        parts++;
    }
    return parts == 4;
}

static bool is_ipv6(struct vd_slice s)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;
    if (s.n >= sizeof text || s.n == 0 || memchr(s.p, 0, s.n))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    return inet_pton(AF_INET6, text, &address) == 1;
}

static bool is_cidr(struct vd_slice s)
{
    const char *slash = s.n ? memchr(s.p, '/', s.n) : NULL;
    if (!slash)
        return false;
    struct vd_slice address = vd_slice(s.p, (size_t)(slash - s.p));
    uint64_t bits;
    if (vd_slice_to_u64(vd_slice_from(s, address.n + 1), &bits))
        return false;
    return (is_ipv4(address) && bits <= 32) || (is_ipv6(address) && bits <= 128);
}

/* 6, 8 or 20 octets: pairs of hex digits between ':' or '-', or fours between
 * '.', as Go's net.ParseMAC. */
static bool is_mac(struct vd_slice s)
{
    char separator = s.n > 2 && (s.p[2] == ':' || s.p[2] == '-') ? s.p[2] : '.';
    size_t digits = separator == '.' ? 4 : 2, octets = 0;
    struct vd_slice part;
    while (vd_slice_cut(&s, separator, &part)) {
        if (part.n != digits || !all_hex(part))
            return false;
        octets += digits / 2;
    }
    return octets == 6 || octets == 8 || octets == 20;
}

/* 32 hex digits, '-' allowed between the groups. `version` '0': any. */
static bool is_uuid(struct vd_slice s, char version)
{
    static const uint8_t groups[] = {8, 4, 4, 4, 12};
    size_t at = 0;
    for (size_t g = 0; g < sizeof groups; g++) {
        if (g && at < s.n && s.p[at] == '-')
            at++;
        if (at + groups[g] > s.n || !all_hex(vd_slice(s.p + at, groups[g])))
            return false;
        if (g == 2 && version != '0' && s.p[at] != version)
            return false;
        if (g == 3 && version > '3' && !strchr("89abAB", s.p[at]))
            return false;
        at += groups[g];
    }
    return at == s.n;
}

/* The digits (and a last 'X') of a text with '-' and blanks between; their
 * number, or 0 if anything else is in it or they do not fit. */
static size_t digits_of(struct vd_slice s, char *out, size_t len_max)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '-' || s.p[i] == ' ')
            continue;
        if (n == len_max || (!is_digit(s.p[i]) && !(s.p[i] == 'X' && i + 1 == s.n)))
            return 0;
        out[n++] = s.p[i];
    }
    return n;
}

static bool is_isbn10(struct vd_slice s)
{
    char digits[10];
    if (digits_of(s, digits, sizeof digits) != 10)
        return false;
    unsigned sum = 0;
    for (unsigned i = 0; i < 10; i++)
        sum += (10 - i) * (digits[i] == 'X' ? 10 : (unsigned)(digits[i] - '0'));
    return sum % 11 == 0;
}

static bool is_isbn13(struct vd_slice s)
{
    char digits[13];
    if (digits_of(s, digits, sizeof digits) != 13 || digits[12] == 'X')
        return false;
    unsigned sum = 0;
    for (unsigned i = 0; i < 13; i++)
        sum += (i % 2 ? 3 : 1) * (unsigned)(digits[i] - '0');
    return sum % 10 == 0;
}

static bool is_credit_card(struct vd_slice s)
{
    char digits[19];
    size_t n = digits_of(s, digits, sizeof digits);
    if (n < 12 || digits[n - 1] == 'X')
        return false;
    unsigned sum = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned digit = (unsigned)(digits[n - 1 - i] - '0');
        digit *= i % 2 ? 2 : 1;
        sum += digit > 9 ? digit - 9 : digit;
    }
    return sum % 10 == 0;
}

static bool is_ssn(struct vd_slice s)
{
    static const uint8_t groups[] = {3, 2, 4};
    size_t at = 0;
    for (size_t g = 0; g < sizeof groups; g++) {
        if (g && at < s.n && (s.p[at] == '-' || s.p[at] == ' '))
            at++;
        for (size_t i = 0; i < groups[g]; i++, at++)
            if (at >= s.n || !is_digit(s.p[at]))
                return false;
    }
    return at == s.n;
}

static bool is_hex_color(struct vd_slice s)
{
    if (s.n && s.p[0] == '#')
        s = vd_slice_from(s, 1);
    return (s.n == 3 || s.n == 6) && all_hex(s);
}

/* rgb(255, 0, 17), blanks allowed around the numbers. */
static bool is_rgb_color(struct vd_slice s)
{
    if (!vd_slice_starts_with(s, VD_SLICE("rgb(")) || !vd_slice_ends_with(s, VD_SLICE(")")))
        return false;
    s = vd_slice(s.p + 4, s.n - 5);
    struct vd_slice part;
    size_t parts = 0;
    while (vd_slice_cut(&s, ',', &part)) {
        uint64_t value;
        if (vd_slice_to_u64(vd_slice_trim(part), &value) || value > 255)
            return false;
        parts++;
    }
    return parts == 3;
}

static bool is_base64(struct vd_slice s)
{
    if (s.n % 4)
        return false;
    size_t padding = 0;
    while (padding < 2 && padding < s.n && s.p[s.n - 1 - padding] == '=')
        padding++;
    for (size_t i = 0; i < s.n - padding; i++)
        if (!is_alpha(s.p[i]) && !is_digit(s.p[i]) && s.p[i] != '+' && s.p[i] != '/')
            return false;
    return true;
}

static bool same_name(struct vd_slice name, const char *spelling)
{
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '-')
            continue;
        if (name.p[i] != *spelling)
            return false;
        spelling++;
    }
    return *spelling == 0;
}

enum vd_format vd_format_of(struct vd_slice name)
{
    static const char *const spellings[] = {[VD_FORMAT_NONE] = NULL,
#define FORMAT_ROW(format, spelling) [VD_FORMAT_##format] = spelling,
                                            VD_FORMATS(FORMAT_ROW)
#undef FORMAT_ROW
    };
    for (size_t i = 1; name.n && i < sizeof spellings / sizeof *spellings; i++)
        if (same_name(name, spellings[i]))
            return (enum vd_format)i;
    return VD_FORMAT_NONE;
}

bool vd_format_matches(enum vd_format format, struct vd_slice s)
{
    switch (format) {
    case VD_FORMAT_BSON_ID:
        return is_bson_id(s);
    case VD_FORMAT_URI:
        return is_uri(s);
    case VD_FORMAT_EMAIL:
        return is_email(s);
    case VD_FORMAT_HOSTNAME:
        return is_hostname(s);
    case VD_FORMAT_IPV4:
        return s.n && is_ipv4(s);
    case VD_FORMAT_IPV6:
        return is_ipv6(s);
    case VD_FORMAT_CIDR:
        return is_cidr(s);
    case VD_FORMAT_MAC:
        return s.n && is_mac(s);
    case VD_FORMAT_UUID:
        return is_uuid(s, '0');
    case VD_FORMAT_UUID3:
        return is_uuid(s, '3');
    case VD_FORMAT_UUID4:
        return is_uuid(s, '4');
    case VD_FORMAT_UUID5:
        return is_uuid(s, '5');
    case VD_FORMAT_ISBN:
        return is_isbn10(s) || is_isbn13(s);
    case VD_FORMAT_ISBN10:
        return is_isbn10(s);
    case VD_FORMAT_ISBN13:
        return is_isbn13(s);
    case VD_FORMAT_CREDIT_CARD:
        return is_credit_card(s);
    case VD_FORMAT_SSN:
        return is_ssn(s);
    case VD_FORMAT_HEX_COLOR:
        return is_hex_color(s);
    case VD_FORMAT_RGB_COLOR:
        return is_rgb_color(s);
    case VD_FORMAT_BYTE:
        return is_base64(s);
    case VD_FORMAT_DATE:
        return vd_time_is_date(s);
    case VD_FORMAT_DURATION:
        return vd_time_is_duration(s);
    case VD_FORMAT_DATE_TIME:
        return vd_time_is_date_time(s);
    case VD_FORMAT_SHORT_NAME:
        return vd_name_check(VD_NAME_LABEL, s, NULL);
    case VD_FORMAT_LONG_NAME:
        return vd_name_check(VD_NAME_SUBDOMAIN, s, NULL);
    case VD_FORMAT_NONE:
    case VD_FORMAT_PASSWORD:
        break;
    }
    return true;
}
