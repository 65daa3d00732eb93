/* Compiler attributes, under the names the rest of the tree uses. */
#ifndef VD_BASE_ATTRIBUTES_H
#define VD_BASE_ATTRIBUTES_H

/* The result says whether the call worked; ignoring it is a compile error. */
#define VD_MUST_USE __attribute__((warn_unused_result))

/* The compiler checks the arguments against the format string. */
#define VD_PRINTF(format_at, arguments_at) __attribute__((format(printf, format_at, arguments_at)))

#define VD_NORETURN __attribute__((noreturn))

#define VD_LIKELY(x)   __builtin_expect(!!(x), 1)
#define VD_UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
