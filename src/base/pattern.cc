/*
 * See pattern.h. A struct vd_pattern is an RE2 under another name. The memory
 * that one pattern may take while it matches is bounded; past it RE2 gets
 * slower, never wrong. There may be thousands of small ones, so they get less.
 */
#include "base/pattern.h"

#include <cstdio>
#include <new>

#include <re2/re2.h>

namespace
{
constexpr int64_t memory_max = 4 << 20;
constexpr int64_t small_memory_max = 256 << 10; // a quarter of it, at most, for the program
constexpr int small_size_max = 2700;

re2::RE2 *compile(re2::StringPiece text, int64_t memory)
{
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(memory);
    return new (std::nothrow) re2::RE2(text, options);
}

const re2::RE2 *inside(const struct vd_pattern *pattern)
{
    return reinterpret_cast<const re2::RE2 *>(pattern);
}
} // namespace

extern "C" struct vd_pattern *vd_pattern_new(const char *text, size_t n, char *why, size_t why_len)
{
    re2::RE2 *re = compile(re2::StringPiece(text, n), small_memory_max);
    if (re && (re->ok() ? re->ProgramSize() > small_size_max
                        : re->error_code() == re2::RE2::ErrorPatternTooLarge)) {
        delete re;
        re = compile(re2::StringPiece(text, n), memory_max);
    }
    if (re && re->ok())
        return reinterpret_cast<struct vd_pattern *>(re);
    snprintf(why, why_len, "%s", re ? re->error().c_str() : "out of memory");
    delete re;
    return nullptr;
}

extern "C" size_t vd_pattern_size(const struct vd_pattern *pattern)
{
    return static_cast<size_t>(inside(pattern)->ProgramSize());
}

extern "C" void vd_pattern_free(struct vd_pattern *pattern)
{
    delete inside(pattern);
}

extern "C" bool vd_pattern_matches(const struct vd_pattern *pattern, const char *text, size_t n)
{
    return re2::RE2::PartialMatch(re2::StringPiece(n ? text : "", n), *inside(pattern));
}

extern "C" bool vd_pattern_find(const struct vd_pattern *pattern, const char *text, size_t n,
                                size_t from, size_t *at, size_t *len)
{
    re2::StringPiece whole(n ? text : "", n), match;
    if (!inside(pattern)->Match(whole, from, n, re2::RE2::UNANCHORED, &match, 1))
        return false;
    *at = static_cast<size_t>(match.data() - whole.data());
    *len = match.size();
    return true;
}
