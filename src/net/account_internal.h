/* What account.c and account_report.c share. */
#ifndef VD_NET_ACCOUNT_INTERNAL_H
#define VD_NET_ACCOUNT_INTERNAL_H

#include "net/account.h"

/* vd_accounts_measure(), by who has the book's lock. */
void vd_accounts_measure_locked(struct vd_accounts *book);

void vd_account_count_refusal(enum vd_account_limit limit);

#endif
