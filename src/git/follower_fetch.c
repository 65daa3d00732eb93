/* See follower.h: the fetch of a remote, with what the Repository's spec says of it. */
#include "base/failpoint.h"
#include "base/limits.h"
#include "cel/value.h"
#include "git/bare_repository.h"
#include "git/follow_metrics.h"
#include "git/follower.h"
#include "git/upkeep.h"

enum { INTERVAL_MS_DEFAULT = 60000 }; /* as the schema has it */

/* Whether the store has the objects of this commit, and of no other branch. */
static bool is_recorded(struct vd_follower *w)
{
    struct vd_key key = {VD_SLICE(VD_REPOSITORY_RESOURCE), vd_repository_item_namespace(&w->item),
                         vd_repository_item_name(&w->item)};
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    bool same = false;
    if (vd_controller_read(w->followers->options.controller, &key, &w->arena, &event, &object))
        return false;
    const struct vd_json *branches = vd_json_dig(object, "status", "branches", NULL);
    if (vd_json_count(branches) == 1) {
        const struct vd_json *one = vd_json_at(branches, 0);
        same = vd_slice_eq(vd_json_text(vd_json_get(one, VD_SLICE("name"))), w->branch) &&
               vd_slice_is(vd_json_text(vd_json_get(one, VD_SLICE("commit"))), w->fetch.commit);
    }
    vd_event_unref(event);
    return same;
}

static void on_fetched(struct vd_fetch *fetch)
{
    struct vd_follower *w = VD_CONTAINER_OF(fetch, struct vd_follower, fetch);
    struct vd_followers *f = w->followers;
    bool good = fetch->error.code == VD_OK;
    vd_slot_give_back(&w->slot);
    w->is_fetching = false;
    w->gave_way = fetch->gave_way ? w->gave_way + 1 : 0;
    vd_fetch_release(fetch);
    vd_follow_count_fetch(good, vd_follower_now_ns(f) - w->begun_ns);
    if (!good) {
        vd_buf_reset(&w->message);
        vd_buf_add_text(&w->message, fetch->error.text);
        if (fetch->is_interrupted &&
            !f->is_stopped) /* what git has left is removed when nobody uses the folder */
            vd_repositories_recover(f->options.repositories, vd_repository_item_namespace(&w->item),
                                    vd_repository_item_name(&w->item));
        vd_follower_fail(w, "FetchFailed");
        return;
    }
    w->good_ms = vd_clock_wall_ms(f->options.controller->env.clock);
    vd_upkeep_look(f->options.all->upkeep, vd_slice_of(w->uid));
    VD_FAILPOINT("git.after_fetch");
    if (is_recorded(w)) {
        vd_buf_reset(&w->message);
        vd_follower_succeed(w);
    } else {
        vd_follower_sync(w);
    }
}

/* The Secret's credentials; without a name there are none. */
static int read_credentials(struct vd_follower *w, const struct vd_json *remote,
                            struct vd_remote_credentials *out, struct vd_error *error)
{
    struct vd_controller *c = w->followers->options.controller;
    const struct vd_json *name = vd_json_dig(remote, "secretRef", "name", NULL);
    struct vd_key key = {VD_SLICE("secrets"), vd_repository_item_namespace(&w->item),
                         vd_json_text(name)};
    struct vd_event *event = NULL;
    struct vd_json *secret = NULL;
    if (!key.name.n)
        return VD_OK;
    if (vd_key_check(&key, NULL) || vd_controller_read(c, &key, &w->arena, &event, &secret))
        return vd_error_set(error, VD_ERR_NOT_FOUND,
                            "there is no Secret %.*s in the namespace %.*s "
                            "(spec.remote.secretRef)",
                            VD_FMT(key.name), VD_FMT(key.namespace));
    vd_event_unref(event);
    return vd_remote_credentials_read(out, secret, error);
}

static const char *copy_text(struct vd_follower *w, struct vd_slice text)
{
    return vd_arena_copy(&w->arena, text).p;
}

static uint64_t interval_of(const struct vd_json *remote)
{
    int64_t ns;
    struct vd_slice text = vd_json_text(vd_json_get(remote, VD_SLICE("interval")));
    return text.n && vd_cel_duration_parse(text, &ns) && ns > 0 ? (uint64_t)ns / 1000000
                                                                : INTERVAL_MS_DEFAULT;
}

/* What the spec says, into the record: the object is not there for long. */
static void take_spec(struct vd_follower *w, const struct vd_repository *repository)
{
    const struct vd_json *remote = repository->remote;
    struct vd_slice branch = vd_json_text(vd_json_get(remote, VD_SLICE("branch")));
    struct vd_slice account = vd_json_text(vd_json_get(remote, VD_SLICE("serviceAccountName")));
    memcpy(w->uid, repository->uid, sizeof w->uid);
    w->branch = vd_arena_copy(&w->arena, branch.n ? branch : repository->default_branch);
    w->account = vd_arena_copy(&w->arena, account.n ? account : VD_SLICE("default"));
    w->interval_ms = interval_of(remote);
    w->generation = repository->generation;
}

/* Who was slow before is waited for longer: it may be a good remote that has much to count. */
static uint64_t slow_ms(const struct vd_follower *w)
{
    uint64_t ms = VD_GIT_FETCH_SLOW_MS;
    for (unsigned i = 0; i < w->gave_way && ms < VD_GIT_FETCH_SLOW_MS_MAX; i++)
        ms *= 2;
    return ms < VD_GIT_FETCH_SLOW_MS_MAX ? ms : VD_GIT_FETCH_SLOW_MS_MAX;
}

static bool is_wanted(struct vd_fetch *fetch)
{
    return vd_slot_is_wanted(&VD_CONTAINER_OF(fetch, struct vd_follower, fetch)->slot);
}

static int prepare(struct vd_follower *w, const struct vd_repository *repository,
                   struct vd_error *error)
{
    const struct vd_followers_options *o = &w->followers->options;
    struct vd_slice text = vd_json_text(vd_json_get(repository->remote, VD_SLICE("url")));
    struct vd_slice secret = vd_json_text(
        vd_json_dig(repository->remote, "secretRef", "name", NULL));
    struct vd_remote_url url;
    struct vd_buf folder = {0};
    int code = vd_remote_url_read(&url, text, error);
    if (!code)
        code = vd_remote_url_check(&url, &o->policy, error);
    if (!code && !vd_branch_name_is_valid(w->branch))
        code = vd_error_set(error, VD_ERR_INVALID,
                            "spec.remote.branch: \"%.*s\" is no name of a branch",
                            VD_FMT(w->branch));
    if (code)
        return code;
    vd_bare_repository_path(&folder, o->all->root, w->uid);
    w->fetch = (struct vd_fetch){
        .loop = o->controller->env.loop,
        .place = {.program = o->all->program, .folder = copy_text(w, vd_buf_slice(&folder))},
        .ssh = o->ssh,
        .ssh_launcher = o->ssh_launcher,
        .url = copy_text(w, text),
        .scheme = url.scheme,
        .branch = w->branch.p,
        .secret = secret.n ? copy_text(w, secret) : NULL,
        .slow_ms = slow_ms(w),
        .is_wanted = is_wanted,
        .done = on_fetched,
    };
    vd_buf_release(&folder);
    return read_credentials(w, repository->remote, &w->fetch.credentials, error);
}

void vd_follower_fetch(struct vd_follower *w, const struct vd_repository *repository)
{
    struct vd_followers *f = w->followers;
    struct vd_error error;
    w->item.is_busy = true;
    w->begun_ns = vd_follower_now_ns(f);
    w->hurries = w->is_given_up = false;
    w->fetch.url = NULL;
    take_spec(w, repository);
    int code = prepare(w, repository, &error);
    if (code) {
        vd_slot_give_back(&w->slot);
        vd_fetch_release(&w->fetch);
        vd_buf_reset(&w->message);
        vd_buf_add_text(&w->message, error.text);
        vd_follower_fail(w, code == VD_ERR_FORBIDDEN ? "Forbidden" : "FetchFailed");
        return;
    }
    vd_folder_use_begin(&w->use, &f->options.all->uses, vd_slice_of(w->uid));
    w->is_fetching = true;
    VD_FAILPOINT("git.before_fetch");
    vd_fetch_start(&w->fetch);
}
