/*
 * What to do when the operating system refuses: the last part of a sentence.
 *
 *     vd_error_set(error, VD_ERR_IO, "could not open %s: %s%s", path, strerror(number),
 *                  vd_errno_advice(number));
 *     could not open a.yaml: No such file or directory: check the path
 */
#ifndef VD_BASE_ERRNO_ADVICE_H
#define VD_BASE_ERRNO_ADVICE_H

/* ": check the path" for an errno of files and sockets; "" where nothing can be advised.
 * Never NULL. */
const char *vd_errno_advice(int number);

#endif
