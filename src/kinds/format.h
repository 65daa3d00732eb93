/*
 * The string formats that Kubernetes checks in schemas.
 *
 * A format that is not in the table is an annotation and checks nothing, as
 * int32 and the like: apiextensions knows the same list.
 */
#ifndef VD_KINDS_FORMAT_H
#define VD_KINDS_FORMAT_H

#include <stdbool.h>

#include "base/slice.h"

/* clang-format off */
/* name, spelling without '-' */
#define VD_FORMATS(X)               \
    X(BSON_ID,     "bsonobjectid")  \
    X(URI,         "uri")           \
    X(EMAIL,       "email")         \
    X(HOSTNAME,    "hostname")      \
    X(IPV4,        "ipv4")          \
    X(IPV6,        "ipv6")          \
    X(CIDR,        "cidr")          \
    X(MAC,         "mac")           \
    X(UUID,        "uuid")          \
    X(UUID3,       "uuid3")         \
    X(UUID4,       "uuid4")         \
    X(UUID5,       "uuid5")         \
    X(ISBN,        "isbn")          \
    X(ISBN10,      "isbn10")        \
    X(ISBN13,      "isbn13")        \
    X(CREDIT_CARD, "creditcard")    \
    X(SSN,         "ssn")           \
    X(HEX_COLOR,   "hexcolor")      \
    X(RGB_COLOR,   "rgbcolor")      \
    X(BYTE,        "byte")          \
    X(PASSWORD,    "password")      \
    X(DATE,        "date")          \
    X(DURATION,    "duration")      \
    X(DATE_TIME,   "datetime")      \
    X(SHORT_NAME,  "k8sshortname")  \
    X(LONG_NAME,   "k8slongname")
/* clang-format on */

enum vd_format {
    VD_FORMAT_NONE,
#define VD_FORMAT_ENUM(name, spelling) VD_FORMAT_##name,
    VD_FORMATS(VD_FORMAT_ENUM)
#undef VD_FORMAT_ENUM
};

/* The format with this name, '-' ignored; VD_FORMAT_NONE for any other. */
enum vd_format vd_format_of(struct vd_slice name);

/* Whether the text has the format. Pure. */
bool vd_format_matches(enum vd_format format, struct vd_slice text);

#endif
