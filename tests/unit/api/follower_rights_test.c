/* src/api/write/follower_rights.c: what it takes to write a Repository that follows a remote. */
#include "write_setting.h"

#define REPOSITORY(more, spec) "{\"metadata\":{\"name\":\"r\"" more "},\"spec\":{" spec "}}"
#define REMOTE(more)           "\"remote\":{\"url\":\"https://example.com/r.git\"" more "}"
#define SECRET(field)          ",\"" field "\":{\"name\":\"login\"}"

/* Everybody may do this to everything from now on. */
static void allow(const char *verbs)
{
    struct vd_rbac *rules = rules_for_all(verbs);
    vd_gatekeeper_fix(setting.env.gatekeeper, rules);
    vd_rbac_unref(rules);
}

static void write_repository(struct trial *t, enum vd_write_verb verb, const char *document)
{
    prepare(t, verb, "configmaps", verb == VD_WRITE_CREATE ? "" : "r", document);
    t->w.kind = vd_kind_set_resource(setting.set, VD_SLICE("git.vedette.dev"), VD_SLICE("v1"),
                                     VD_SLICE("repositories"));
    assert_non_null(t->w.kind);
    t->w.force = true; /* an apply takes the fields of the writes before it over */
    perform(t);
}

static void becomes(enum vd_write_verb verb, const char *document, enum vd_write_result result)
{
    struct trial t;
    write_repository(&t, verb, document);
    expect(&t, result);
    release_trial(&t);
}

/* Refused with a sentence that has this text. */
static void needs(const char *text, enum vd_write_verb verb, const char *document)
{
    struct trial t;
    write_repository(&t, verb, document);
    expect_refusal(&t, VD_REFUSED_FORBIDDEN);
    assert_slice(t.w.refusal.name, "r");
    if (!strstr(t.w.refusal.text.p, text))
        fail_msg("%s is not in: %s", text, t.w.refusal.text.p);
    release_trial(&t);
}

static void a_new_one_needs_its_account_and_secrets(void **state)
{
    (void)state;
    allow("\"get\"");
    needs("\"impersonate\" on serviceaccounts \"default\" in the namespace \"room\"",
          VD_WRITE_CREATE, REPOSITORY("", REMOTE("")));
    needs("\"impersonate\" on serviceaccounts \"robot\"", VD_WRITE_REPLACE,
          REPOSITORY("", REMOTE(",\"serviceAccountName\":\"robot\"")));
    allow("\"impersonate\"");
    needs("spec.remote.secretRef: user \"tester\" needs the verb \"get\" on secrets \"login\"",
          VD_WRITE_CREATE, REPOSITORY("", REMOTE(SECRET("secretRef"))));
    needs("spec.remote.webhookSecretRef: ", VD_WRITE_CREATE,
          REPOSITORY("", REMOTE(SECRET("webhookSecretRef"))));
    becomes(VD_WRITE_CREATE, REPOSITORY("", REMOTE("")), VD_WRITE_CREATED);
}

static void one_without_a_remote_needs_nothing(void **state)
{
    (void)state;
    allow("\"none\"");
    becomes(VD_WRITE_CREATE, REPOSITORY("", "\"scope\":{\"namespaces\":[\"x\"]}"),
            VD_WRITE_CREATED);
}

/* Any field of the spec may decide what the account is made to do. */
static void a_change_of_spec_needs_them_too(void **state)
{
    (void)state;
    allow("\"get\",\"impersonate\"");
    becomes(VD_WRITE_CREATE, REPOSITORY("", REMOTE(SECRET("secretRef"))), VD_WRITE_CREATED);
    allow("\"get\"");
    needs("impersonate", VD_WRITE_REPLACE,
          REPOSITORY("", REMOTE(SECRET("secretRef")) ",\"scope\":{\"namespaces\":[\"x\"]}"));
    needs("impersonate", VD_WRITE_APPLY,
          "{\"apiVersion\":\"git.vedette.dev/v1\",\"kind\":\"Repository\",\"metadata\":{\"name\":"
          "\"r\"},\"spec\":{\"deletionPolicy\":\"Refuse\",\"visibility\":\"public\"," REMOTE(
              "") "}}");
    becomes(VD_WRITE_REPLACE, REPOSITORY(",\"labels\":{\"a\":\"b\"}", REMOTE(SECRET("secretRef"))),
            VD_WRITE_UPDATED);
    becomes(VD_WRITE_REPLACE, REPOSITORY("", "\"visibility\":\"public\""), VD_WRITE_UPDATED);
    needs("impersonate", VD_WRITE_REPLACE, REPOSITORY("", REMOTE("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        write_test(a_new_one_needs_its_account_and_secrets),
        write_test(one_without_a_remote_needs_nothing),
        write_test(a_change_of_spec_needs_them_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
