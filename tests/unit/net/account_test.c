/* Accounts: what is charged, what is refused at the limit, and what is told of it. */
#include "net/account.h"

#include <stdio.h>
#include <string.h>

#include "base/metrics.h"
#include "check.h"

static struct vd_accounts book;

static void open_book(const struct vd_account_limits *limits)
{
    vd_accounts_init(&book, limits, 2);
}

static const struct vd_account_limits small = {.user_requests = 3,
                                               .user_watches = 2,
                                               .user_queued_bytes = 1000,
                                               .requests = 8,
                                               .watches = 8,
                                               .queued_bytes = 16000};

static int setup(void **state)
{
    (void)state;
    open_book(&small);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    vd_accounts_release(&book);
    return 0;
}

static void test_one_account_for_a_name(void **state)
{
    (void)state;
    struct vd_account *a = vd_accounts_get(&book, VD_SLICE("ann"));
    struct vd_account *again = vd_accounts_get(&book, VD_SLICE("ann"));
    struct vd_account *b = vd_accounts_get(&book, VD_SLICE("bob"));
    assert_ptr_equal(a, again);
    assert_ptr_not_equal(a, b);
    assert_slice(a->name, "ann");
    assert_ptr_not_equal(vd_account_turn_flow(a, 0), vd_account_turn_flow(a, 1));
    vd_account_unref(a);
    vd_account_unref(again);
    vd_account_unref(b);
}

/* At the limit, and one past it; what was refused holds nothing. */
static void test_requests_of_a_user(void **state)
{
    struct vd_exchange x[4] = {{0}};
    (void)state;
    struct vd_account *a = vd_accounts_get(&book, VD_SLICE("ann"));
    for (int i = 0; i < 3; i++)
        assert_int_equal(vd_exchange_charge(&x[i], a, VD_RANK_ORDINARY), VD_LIMIT_NONE);
    assert_int_equal(vd_exchange_charge(&x[3], a, VD_RANK_ORDINARY), VD_LIMIT_USER_REQUESTS);
    assert_int_equal(vd_exchange_charge(&x[3], a, VD_RANK_SYSTEM), VD_LIMIT_USER_REQUESTS);
    assert_null(x[3].account);
    assert_int_equal(vd_exchange_charge(&x[0], a, VD_RANK_ORDINARY), VD_LIMIT_NONE);
    assert_int_equal(atomic_load(&a->requests), 3);
    vd_exchange_discharge(&x[0]);
    vd_exchange_discharge(&x[0]);
    assert_int_equal(vd_exchange_charge(&x[3], a, VD_RANK_ORDINARY), VD_LIMIT_NONE);
    for (int i = 1; i < 4; i++)
        vd_exchange_discharge(&x[i]);
    assert_int_equal(atomic_load(&a->requests), 0);
    assert_int_equal(atomic_load(&book.requests), 0);
    assert_int_equal(atomic_load(&a->requests_total), 4);
    assert_int_equal(atomic_load(&a->refused_total), 2);
    vd_account_unref(a);
}

/* Eight in all: ordinary users get six, the system all eight, and administrators are not
 * bound by the limit of one user. */
static void test_a_quarter_is_reserved(void **state)
{
    struct vd_exchange x[9] = {{0}};
    struct vd_account *who[3];
    const char *names[] = {"ann", "bob", "cem"};
    (void)state;
    for (int i = 0; i < 3; i++)
        who[i] = vd_accounts_get(&book, vd_slice_of(names[i]));
    for (int i = 0; i < 6; i++)
        assert_int_equal(vd_exchange_charge(&x[i], who[i / 3], VD_RANK_ORDINARY), VD_LIMIT_NONE);
    assert_int_equal(vd_exchange_charge(&x[6], who[2], VD_RANK_ORDINARY), VD_LIMIT_REQUESTS);
    assert_int_equal(vd_exchange_charge(&x[6], who[2], VD_RANK_SYSTEM), VD_LIMIT_NONE);
    assert_int_equal(vd_exchange_charge(&x[7], who[0], VD_RANK_ADMIN), VD_LIMIT_NONE);
    assert_int_equal(vd_exchange_charge(&x[8], who[0], VD_RANK_ADMIN), VD_LIMIT_REQUESTS);
    for (int i = 0; i < 9; i++)
        vd_exchange_discharge(&x[i]);
    for (int i = 0; i < 3; i++)
        vd_account_unref(who[i]);
}

static void test_watches(void **state)
{
    struct vd_exchange x[3] = {{0}}, free_one = {0};
    (void)state;
    struct vd_account *a = vd_accounts_get(&book, VD_SLICE("ann"));
    for (int i = 0; i < 3; i++)
        assert_int_equal(vd_exchange_charge(&x[i], a, VD_RANK_ORDINARY), VD_LIMIT_NONE);
    assert_int_equal(vd_exchange_charge_watch(&x[0]), VD_LIMIT_NONE);
    assert_int_equal(vd_exchange_charge_watch(&x[0]), VD_LIMIT_NONE);
    assert_int_equal(vd_exchange_charge_watch(&x[1]), VD_LIMIT_NONE);
    assert_int_equal(vd_exchange_charge_watch(&x[2]), VD_LIMIT_USER_WATCHES);
    assert_int_equal(atomic_load(&a->requests), 1);
    assert_int_equal(atomic_load(&a->watches), 2);
    assert_int_equal(vd_exchange_charge_watch(&free_one), VD_LIMIT_NONE);
    for (int i = 0; i < 3; i++)
        vd_exchange_discharge(&x[i]);
    assert_int_equal(atomic_load(&a->watches), 0);
    assert_int_equal(atomic_load(&book.watches), 0);
    assert_int_equal(atomic_load(&book.requests), 0);
    vd_account_unref(a);
}

static void test_bytes_that_wait(void **state)
{
    struct vd_exchange x = {0}, y = {0}, admin = {0};
    (void)state;
    struct vd_account *a = vd_accounts_get(&book, VD_SLICE("ann"));
    struct vd_account *b = vd_accounts_get(&book, VD_SLICE("bob"));
    assert_int_equal(vd_exchange_charge(&x, a, VD_RANK_ORDINARY), VD_LIMIT_NONE);
    assert_int_equal(vd_exchange_charge(&y, b, VD_RANK_ORDINARY), VD_LIMIT_NONE);
    assert_int_equal(vd_exchange_charge(&admin, a, VD_RANK_ADMIN), VD_LIMIT_NONE);
    vd_account_queue(a, 999);
    assert_false(vd_exchange_is_over(&x));
    vd_account_queue(a, 1);
    assert_true(vd_exchange_is_over(&x));
    assert_false(vd_exchange_is_over(&admin));
    assert_false(vd_exchange_is_over(&y));
    vd_account_queue(a, 15000); /* now it is much in all: a sixteenth of it is 1000 */
    vd_account_queue(b, 999);
    assert_false(vd_exchange_is_over(&y));
    vd_account_queue(b, 1);
    assert_true(vd_exchange_is_over(&y));
    assert_false(vd_exchange_is_full(&y));
    assert_true(vd_exchange_is_full(&x));     /* twice his own limit, long since */
    assert_true(vd_exchange_is_over(&admin)); /* what there is in all binds him, too ... */
    assert_false(vd_exchange_is_full(&admin));
    vd_account_queue(b, 3000);
    vd_account_queue(a, 4000);
    assert_true(vd_exchange_is_full(&y));
    assert_true(vd_exchange_is_full(&admin)); /* ... at half as much again */
    struct vd_exchange late = {0};
    assert_int_equal(vd_exchange_charge(&late, b, VD_RANK_ORDINARY), VD_LIMIT_USER_QUEUED);
    vd_account_queue(b, -3000);
    vd_account_queue(a, -4000);
    vd_account_queue(b, -1000);
    vd_account_queue(a, -16000);
    assert_false(vd_exchange_is_over(&x));
    assert_int_equal(atomic_load(&book.queued_bytes), 0);
    vd_exchange_discharge(&x);
    vd_exchange_discharge(&y);
    vd_exchange_discharge(&admin);
    vd_account_unref(a);
    vd_account_unref(b);
}

/* An exchange that turns out to be somebody else's. */
static void test_a_charge_moves(void **state)
{
    struct vd_exchange x = {0};
    (void)state;
    struct vd_account *a = vd_accounts_get(&book, VD_SLICE("ann"));
    struct vd_account *b = vd_accounts_get(&book, VD_SLICE("bob"));
    assert_int_equal(vd_exchange_charge(&x, a, VD_RANK_ORDINARY), VD_LIMIT_NONE);
    assert_int_equal(vd_exchange_charge(&x, b, VD_RANK_ORDINARY), VD_LIMIT_NONE);
    assert_int_equal(atomic_load(&a->requests), 0);
    assert_int_equal(atomic_load(&b->requests), 1);
    assert_int_equal(atomic_load(&book.requests), 1);
    vd_exchange_discharge(&x);
    vd_account_unref(a);
    vd_account_unref(b);
}

static void test_too_many_users_share(void **state)
{
    char name[32];
    (void)state;
    for (int i = 0; i < VD_ACCOUNTS_MAX - 1; i++) { /* strangers have one */
        int n = snprintf(name, sizeof name, "user-%d", i);
        struct vd_account *a = vd_accounts_get(&book, vd_slice(name, (size_t)n));
        assert_slice(a->name, name);
    }
    struct vd_account *one = vd_accounts_get(&book, VD_SLICE("late"));
    struct vd_account *two = vd_accounts_get(&book, VD_SLICE("later"));
    assert_slice(one->name, "other");
    assert_ptr_equal(one, two);
    struct vd_account *first = vd_accounts_get(&book, VD_SLICE("user-0"));
    assert_slice(first->name, "user-0");
}

static void test_those_who_hold_most_come_first(void **state)
{
    struct vd_exchange x = {0};
    struct vd_buf out = {0};
    (void)state;
    struct vd_account *a = vd_accounts_get(&book, VD_SLICE("a\"nn"));
    struct vd_account *b = vd_accounts_get(&book, VD_SLICE("bob"));
    assert_int_equal(vd_exchange_charge(&x, a, VD_RANK_ORDINARY), VD_LIMIT_NONE);
    vd_account_queue(b, 77);
    vd_accounts_write(&book, &out);
    assert_slice(vd_buf_slice(&out),
                 "{\"users\":[{\"user\":\"bob\",\"requests\":0,\"watches\":0,\"queuedBytes\":77,"
                 "\"requestsTotal\":0,\"refusedTotal\":0},{\"user\":\"a\\\"nn\",\"requests\":1,"
                 "\"watches\":0,\"queuedBytes\":0,\"requestsTotal\":1,\"refusedTotal\":0},"
                 "{\"user\":\"system:unauthenticated\",\"requests\":0,\"watches\":0,"
                 "\"queuedBytes\":0,\"requestsTotal\":0,\"refusedTotal\":0}],\"more\":0}\n");
    vd_buf_release(&out);
    vd_exchange_discharge(&x);
    vd_account_unref(a);
    vd_account_unref(b);
}

static void test_metrics_have_a_bound(void **state)
{
    struct vd_buf out = {0};
    char name[32];
    size_t lines = 0;
    (void)state;
    vd_accounts_register();
    for (int i = 0; i < 3 * VD_ACCOUNT_METRICS_MAX; i++) {
        int n = snprintf(name, sizeof name, "user-%d", i);
        struct vd_account *a = vd_accounts_get(&book, vd_slice(name, (size_t)n));
        vd_account_queue(a, 1);
    }
    vd_accounts_measure(&book);
    vd_accounts_measure(&book);
    vd_metrics_write(&out);
    long sum = 0;
    for (const char *at = vd_buf_text(&out); (at = strstr(at, "\nuser_queued_bytes{")); lines++) {
        const char *value = strchr(at, '}') + 2;
        sum += strtol(value, NULL, 10);
        at = value;
    }
    assert_int_equal(lines, VD_ACCOUNT_METRICS_MAX + 1);
    assert_int_equal(sum, 3 * VD_ACCOUNT_METRICS_MAX);
    assert_non_null(strstr(vd_buf_text(&out), "user_queued_bytes{user=\"other\"} "));
    vd_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First: metrics are the process', and other books would have had names in them. */
        cmocka_unit_test_setup_teardown(test_metrics_have_a_bound, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_account_for_a_name, setup, teardown),
        cmocka_unit_test_setup_teardown(test_requests_of_a_user, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_quarter_is_reserved, setup, teardown),
        cmocka_unit_test_setup_teardown(test_watches, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bytes_that_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_charge_moves, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_many_users_share, setup, teardown),
        cmocka_unit_test_setup_teardown(test_those_who_hold_most_come_first, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
