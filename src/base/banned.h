/*
 * Functions that have a safer neighbour are compile errors.
 *
 * The build includes this header before every file (see meson.build), so a
 * banned call fails where it is written. Each entry says what to use instead.
 */
#ifndef VD_BASE_BANNED_H
#define VD_BASE_BANNED_H

/* System headers that declare or use the names must come first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* clang-format off */
#pragma GCC poison strcpy strcat strncpy strncat  /* use struct vd_buf */
#pragma GCC poison sprintf vsprintf               /* use snprintf, vd_buf_addf */
#pragma GCC poison strtok                         /* use vd_slice_cut */
#pragma GCC poison atoi atol atoll atof           /* use vd_slice_to_u64 */
#pragma GCC poison gets tmpnam mktemp             /* use fgets, mkdtemp */
#pragma GCC poison gmtime localtime ctime asctime /* use gmtime_r, vd_time_format */
/* clang-format on */

#endif
