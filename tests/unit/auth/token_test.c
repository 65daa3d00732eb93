/* src/auth/token.c and token_change.c: tokens come, are known, end and go. */
#include "auth/token.h"

#include <pthread.h>
#include <string.h>

#include "folder_check.h"

#define NOW INT64_C(1794735590123)

static void make(const char *folder, const char *user, int64_t lifetime_ms, struct vd_buf *token,
                 struct vd_buf *id, const struct vd_clock *clock)
{
    struct vd_slice groups[] = {VD_SLICE("dev"), VD_SLICE("system:masters")};
    struct vd_error error = {0};
    assert_ok(vd_token_create(folder,
                              &(struct vd_token_spec){.user = vd_slice_of(user),
                                                      .groups = groups,
                                                      .groups_n = 2,
                                                      .description = VD_SLICE("a \"laptop\""),
                                                      .lifetime_ms = lifetime_ms},
                              clock, token, id, &error),
              &error);
}

static struct vd_token_set *load(const char *folder)
{
    struct vd_token_set *set = NULL;
    struct vd_error error = {0};
    assert_ok(vd_token_set_load(&set, folder, &error), &error);
    return set;
}

static void a_token_is_its_user(void **state)
{
    struct test_clock clock;
    struct vd_buf token = {0}, id = {0};
    struct vd_error error = {0};
    struct vd_user *user;
    test_clock_init(&clock, NOW);
    make(*state, "ann", 3600000, &token, &id, &clock.clock);
    assert_int_equal(token.n, 46);
    assert_true(vd_slice_starts_with(vd_buf_slice(&token), VD_SLICE("vd_")));
    struct vd_token_set *set = load(*state);
    assert_ok(vd_token_set_authenticate(set, vd_buf_slice(&token), NOW, &user, &error), &error);
    assert_slice(user->is.name, "ann");
    assert_slice(user->is.groups[0], "dev");
    assert_int_equal(user->is.groups_n, 3);
    assert_true(vd_user_is_master(user));
    assert_int_equal(user->is.method, VD_AUTH_TOKEN);
    assert_int_equal(user->is.expires_ms, NOW + 3600000);
    assert_slice(vd_slice_from(user->is.credential_id, 6), vd_buf_text(&id));
    struct vd_user *again = NULL; /* every watch with this token keeps one: it must be the same */
    assert_ok(vd_token_set_authenticate(set, vd_buf_slice(&token), NOW, &again, &error), &error);
    assert_ptr_equal(again, user);
    vd_user_unref(again);
    vd_user_unref(user);

    assert_code(vd_token_set_authenticate(set, vd_buf_slice(&token), NOW + 3600000, &user, &error),
                VD_ERR_EXPIRED);
    assert_null(strstr(error.text, vd_buf_text(&token)));
    const struct vd_token *found = vd_token_set_find(set, vd_buf_slice(&id));
    assert_ptr_equal(found, vd_token_set_at(set, 0));
    assert_slice(found->description, "a \"laptop\"");
    assert_int_equal(found->created_ms, NOW);
    vd_token_set_unref(set);
    vd_buf_release(&token);
    vd_buf_release(&id);
}

static void the_file_keeps_no_secret(void **state)
{
    struct vd_buf token = {0}, id = {0};
    make(*state, "ann", 0, &token, &id, vd_clock_system());
    char *text = text_of(*state, "tokens");
    assert_null(strstr(text, vd_buf_text(&token)));
    assert_null(strstr(text, token.p + 3));
    assert_non_null(strstr(text, "\"user\":\"ann\",\"groups\":[\"dev\",\"system:masters\"]"));
    assert_null(strstr(text, "expires"));
    assert_int_equal(mode_of(*state, "tokens"), 0600);
    assert_int_equal(mode_of(*state, "tokens.lock"), 0600);
    free(text);
    vd_buf_release(&token);
    vd_buf_release(&id);
}

static void guesses_are_refused(void **state)
{
    struct vd_buf token = {0}, id = {0}, guess = {0};
    struct vd_error error = {0};
    struct vd_user *user = NULL;
    make(*state, "ann", 0, &token, &id, vd_clock_system());
    struct vd_token_set *set = load(*state);
    for (size_t i = 0; i <= token.n; i++) { /* one other character; then one less */
        vd_buf_reset(&guess);
        vd_buf_add(&guess, token.p, i == token.n ? i - 1 : token.n);
        if (i < token.n)
            guess.p[i] = guess.p[i] == 'A' ? 'B' : 'A';
        assert_code(vd_token_set_authenticate(set, vd_buf_slice(&guess), 1, &user, &error),
                    VD_ERR_NOT_FOUND);
    }
    assert_code(vd_token_set_authenticate(set, vd_slice("", 0), 1, &user, &error),
                VD_ERR_NOT_FOUND);
    assert_null(user);
    vd_token_set_unref(set);
    vd_buf_release(&guess);
    vd_buf_release(&token);
    vd_buf_release(&id);
}

static void revoking_ends_a_token_and_no_other(void **state)
{
    struct vd_buf token[2] = {0}, id[2] = {0};
    struct vd_error error = {0};
    struct vd_user *user;
    const struct vd_clock *clock = vd_clock_system();
    make(*state, "ann", 0, &token[0], &id[0], clock);
    make(*state, "bob", 0, &token[1], &id[1], clock);
    struct vd_token_set *before = load(*state);
    assert_true(vd_token_set_is_current(before, *state));
    assert_int_equal(vd_token_set_count(before), 2);
    assert_ok(vd_token_revoke(*state, vd_buf_slice(&id[0]), clock, &error), &error);
    assert_false(vd_token_set_is_current(before, *state));
    struct vd_token_set *after = load(*state);
    assert_true(vd_token_set_is_current(after, *state));
    assert_null(vd_token_set_find(after, vd_buf_slice(&id[0])));
    assert_code(vd_token_set_authenticate(after, vd_buf_slice(&token[0]), 1, &user, &error),
                VD_ERR_NOT_FOUND);
    assert_ok(vd_token_set_authenticate(after, vd_buf_slice(&token[1]), 1, &user, &error), &error);
    assert_slice(user->is.name, "bob");
    vd_user_unref(user);
    assert_code(vd_token_revoke(*state, vd_buf_slice(&id[0]), clock, &error), VD_ERR_NOT_FOUND);
    assert_says(&error, "vedette token list");
    assert_code(vd_token_revoke(*state, vd_slice("", 0), clock, &error), VD_ERR_NOT_FOUND);
    vd_token_set_unref(before);
    vd_token_set_unref(after);
    for (int i = 0; i < 2; i++)
        vd_buf_release(&token[i]), vd_buf_release(&id[i]);
}

static void expired_tokens_go_after_a_week(void **state)
{
    struct test_clock clock;
    struct vd_buf token = {0}, id = {0};
    test_clock_init(&clock, NOW);
    make(*state, "old", 1000, &token, &id, &clock.clock);
    static const struct {
        int64_t advance_ms;
        size_t count;
    } steps[] = {{1000, 2}, {INT64_C(7) * 86400000 - 1, 3}, {1, 3}};
    for (size_t i = 0; i < 3; i++) {
        test_clock_advance_ms(&clock, steps[i].advance_ms);
        make(*state, "new", 0, &token, &id, &clock.clock);
        struct vd_token_set *set = load(*state);
        assert_int_equal(vd_token_set_count(set), steps[i].count);
        vd_token_set_unref(set);
    }
    vd_buf_release(&token);
    vd_buf_release(&id);
}

static void wishes_are_checked(void **state)
{
    struct vd_slice bad_group = VD_SLICE("a\nb");
    const struct {
        struct vd_token_spec spec;
        const char *says;
    } cases[] = {
        {{.user = VD_SLICE("")}, "the token's user"},
        {{.user = VD_SLICE("a\x01")}, "the token's user"},
        {{.user = VD_SLICE("\xff")}, "the token's user"},
        {{.user = VD_SLICE("a"), .groups = &bad_group, .groups_n = 1}, "a group of the token"},
        {{.user = VD_SLICE("a"), .description = VD_SLICE("a\nb")}, "one line"},
        {{.user = VD_SLICE("a"), .lifetime_ms = -1}, "lifetime"},
    };
    struct vd_buf token = {0}, id = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error = {0};
        assert_code(vd_token_create(*state, &cases[i].spec, vd_clock_system(), &token, &id, &error),
                    VD_ERR_INVALID);
        assert_says(&error, cases[i].says);
        assert_int_equal(token.n + id.n, 0);
    }
    assert_int_equal(mode_of(*state, "tokens"), -1);
}

static void a_damaged_file_is_named_by_its_line(void **state)
{
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define GOOD "{\"id\":\"a\",\"hash\":\"" HASH "\",\"user\":\"u\",\"created\":1}\n"
    static const char *const lines[] = {
        "secret rubbish\n",
        "{\"id\":\"b\",\"hash\":\"12\",\"user\":\"u\",\"created\":1}\n",
        "{\"id\":\"b\",\"hash\":\"" HASH "\",\"created\":1}\n",
        "{\"id\":\"b\",\"hash\":\"" HASH "\",\"user\":\"u\",\"created\":-1}\n",
        "{\"id\":\"b\",\"hash\":\"" HASH "\",\"user\":\"u\",\"created\":1,\"groups\":[1]}\n",
        GOOD,
    };
    struct vd_token_set *set = NULL;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct vd_error error = {0};
        struct vd_buf text = {0};
        vd_buf_addf(&text, "%s\n%s", GOOD, lines[i]);
        write_text(*state, "tokens", vd_buf_text(&text));
        assert_code(vd_token_set_load(&set, *state, &error), VD_ERR_CORRUPT);
        assert_says(&error, "line 3 of ");
        assert_null(strstr(error.text, "rubbish"));
        vd_buf_release(&text);
    }
    write_text(*state, "tokens", GOOD);
    set = load(*state);
    assert_int_equal(vd_token_set_count(set), 1);
    vd_token_set_unref(set);
}

static void no_file_is_an_empty_set(void **state)
{
    struct vd_token_set *set = load(*state);
    assert_int_equal(vd_token_set_count(set), 0);
    assert_true(vd_token_set_is_current(set, *state));
    write_text(*state, "tokens", "");
    assert_false(vd_token_set_is_current(set, *state));
    vd_token_set_unref(vd_token_set_ref(set));
    vd_token_set_unref(set);
}

enum { THREADS = 4, EACH = 8 };

static void *create_some(void *folder)
{
    for (int i = 0; i < EACH; i++) {
        struct vd_buf token = {0}, id = {0};
        make(folder, "t", 0, &token, &id, vd_clock_system());
        vd_buf_release(&token);
        vd_buf_release(&id);
    }
    return NULL;
}

static void concurrent_changes_are_all_kept(void **state)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, create_some, *state), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct vd_token_set *set = load(*state);
    assert_int_equal(vd_token_set_count(set), THREADS * EACH);
    vd_token_set_unref(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        folder_test(a_token_is_its_user),
        folder_test(the_file_keeps_no_secret),
        folder_test(guesses_are_refused),
        folder_test(revoking_ends_a_token_and_no_other),
        folder_test(expired_tokens_go_after_a_week),
        folder_test(wishes_are_checked),
        folder_test(a_damaged_file_is_named_by_its_line),
        folder_test(no_file_is_an_empty_set),
        folder_test(concurrent_changes_are_all_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
