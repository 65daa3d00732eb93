/*
 * See followers.h. There is one record for each Repository; at most one fetch or sync of it is
 * under way (`is_busy`). What came of the last one is kept in the record until the status says it.
 */
#include "git/followers.h"

#include <stdlib.h>

#include "auth/service_account.h"
#include "base/alloc.h"
#include "base/container_of.h"
#include "base/failpoint.h"
#include "base/limits.h"
#include "base/log.h"
#include "cel/value.h"
#include "git/bare_repository.h"
#include "git/fetch.h"
#include "git/follow_audit.h"
#include "git/follow_metrics.h"
#include "git/repository_items.h"
#include "git/status_error.h"
#include "git/sync.h"
#include "git/upkeep.h"
#include "kinds/condition.h"
#include "kinds/object_meta.h"
#include "json/compare.h"
#include "json/parse.h"

enum {
    READY_MS = 300,             /* before it is looked again whether the repository is ready */
    BUSY_MS = 200,              /* before it is looked again whether a fetch may begin */
    STALE_MS = 50,              /* before a sync is tried again that somebody was faster than */
    INTERVAL_MS_DEFAULT = 60000 /* as the schema has it */
};

struct vd_followers {
    struct vd_followers_options options;
    struct vd_repository_items items;
    struct vd_informer_handler handler;
    size_t fetching;
    bool is_stopped;
};

struct follower {
    struct vd_repository_item item;
    struct vd_followers *followers;
    bool is_followed;   /* it has a remote */
    bool is_fetching;   /* and else syncing, while it is busy */
    bool is_given_up;   /* what is under way was stopped by the server itself */
    int64_t generation; /* of the spec that was last tried */
    uint64_t due_ns;    /* when it is fetched */
    uint64_t begun_ns;  /* when that was last begun */
    bool hurries;       /* somebody has asked for a fetch since that */
    unsigned failures;  /* in a row */
    int64_t good_ms;    /* wall clock of the last fetch that has succeeded; 0: none has */
    /* The outcome, until the status says it: */
    bool has_outcome;
    const char *reason; /* NULL: all is well */
    struct vd_buf message;
    /* What is under way: */
    struct vd_arena arena;
    char uid[VD_UID_TEXT_MAX];
    struct vd_slice branch, account;
    uint64_t interval_ms;
    struct vd_folder_use use;
    struct vd_fetch fetch;
    struct vd_user *user;
    struct vd_sync sync;
};

static struct follower *of(struct vd_repository_item *item)
{
    return VD_CONTAINER_OF(item, struct follower, item);
}

static uint64_t now_ns_of(const struct vd_followers *f)
{
    return vd_clock_mono_ns(f->options.controller->env.clock);
}

/* ---- the outcome ---- */

/* It is fetched as soon as it may. */
static void hurry(struct follower *w)
{
    uint64_t earliest_ns = w->begun_ns + VD_GIT_HURRY_MS * UINT64_C(1000000);
    if (w->due_ns > earliest_ns)
        w->due_ns = earliest_ns;
}

/* Nothing is under way any more. */
static void rest(struct follower *w, uint64_t pause_ms)
{
    struct vd_followers *f = w->followers;
    w->item.is_busy = false;
    w->due_ns = now_ns_of(f) + pause_ms * 1000000;
    if (w->hurries)
        hurry(w);
    vd_folder_use_end(&w->use);
    vd_user_unref(w->user);
    w->user = NULL;
    vd_arena_release(&w->arena);
    vd_repository_item_add(&f->items, &w->item);
}

static void audit(struct follower *w, const char *reason)
{
    struct vd_followers *f = w->followers;
    vd_follow_audit(f->options.audit, &(struct vd_followed){
                                          .namespace = vd_repository_item_namespace(&w->item),
                                          .name = vd_repository_item_name(&w->item),
                                          .user = w->user,
                                          .url = w->fetch.url,
                                          .reason = reason,
                                          .message = vd_status_error_cut(vd_buf_slice(&w->message)),
                                          .duration_ns = now_ns_of(f) - w->begun_ns,
                                      });
}

static void fail(struct follower *w, const char *reason)
{
    if (w->is_given_up) { /* that is nothing to be told */
        rest(w, 0);
        return;
    }
    w->has_outcome = true;
    w->reason = reason;
    vd_log_warn("a remote repository cannot be followed",
                VD_F_SLICE("repository", vd_repository_item_key(&w->item)),
                VD_F_STR("reason", reason),
                VD_F_SLICE("message", vd_status_error_cut(vd_buf_slice(&w->message))));
    audit(w, reason);
    rest(w, vd_status_error_pause_ms(++w->failures));
}

static void succeed(struct follower *w)
{
    w->failures = 0;
    w->has_outcome = true;
    w->reason = NULL;
    audit(w, NULL);
    rest(w, vd_jittered_ms(w->interval_ms));
}

/* ---- the sync ---- */

static void on_synced(struct vd_sync *s)
{
    struct follower *w = VD_CONTAINER_OF(s, struct follower, sync);
    enum vd_branch_result result = s->result;
    bool is_forbidden = vd_sync_is_forbidden(s);
    vd_buf_reset(&w->message);
    vd_sync_write_text(&w->message, s);
    vd_sync_release(s);
    if (result == VD_BRANCH_GOOD || result == VD_BRANCH_BEHIND)
        succeed(w);
    else if (result == VD_BRANCH_STALE)
        rest(w, STALE_MS);
    else
        fail(w, is_forbidden                  ? "Forbidden"
                : result == VD_BRANCH_REFUSED ? "ManifestsInvalid"
                                              : "AdmissionFailed");
}

/* The user that a ServiceAccount is; NULL: there is none. */
static struct vd_user *account_user(struct follower *w, struct vd_slice namespace)
{
    struct vd_controller *c = w->followers->options.controller;
    struct vd_key key = {VD_SLICE("serviceaccounts"), namespace, w->account};
    struct vd_event *event = NULL;
    struct vd_buf name = {0}, group = {0};
    struct vd_user *user = NULL;
    char uid[VD_UID_TEXT_MAX];
    if (!vd_key_check(&key, NULL) && !vd_controller_read(c, &key, &w->arena, &event, NULL)) {
        vd_service_account_user_name(&name, namespace, w->account);
        vd_buf_addf(&group, "system:serviceaccounts:%.*s", VD_FMT(namespace));
        const struct vd_slice groups[] = {VD_SLICE("system:serviceaccounts"), vd_buf_slice(&group)};
        user = vd_user_new(&(struct vd_identity){.name = vd_buf_slice(&name),
                                                 .uid = vd_uid_format(event->uid, uid),
                                                 .groups = groups,
                                                 .groups_n = 2,
                                                 .method = VD_AUTH_SERVICE_ACCOUNT});
    }
    vd_event_unref(event);
    vd_buf_release(&name);
    vd_buf_release(&group);
    return user;
}

static void start_sync(struct follower *w)
{
    struct vd_followers *f = w->followers;
    struct vd_slice namespace = vd_repository_item_namespace(&w->item);
    w->user = account_user(w, namespace);
    if (!w->user) {
        vd_buf_reset(&w->message);
        vd_buf_addf(&w->message,
                    "there is no ServiceAccount %.*s in the namespace %.*s, with whose rights the "
                    "objects are written (spec.remote.serviceAccountName)",
                    VD_FMT(w->account), VD_FMT(namespace));
        fail(w, "Forbidden");
        return;
    }
    w->sync = (struct vd_sync){
        .all = f->options.all,
        .namespace = namespace,
        .name = vd_repository_item_name(&w->item),
        .uid = vd_slice_of(w->uid),
        .user = w->user,
        .branch = w->branch,
        .commit = vd_arena_copy(&w->arena, vd_slice_of(w->fetch.commit)),
        .done = on_synced,
    };
    vd_sync_start(&w->sync);
}

/* ---- the fetch ---- */

/* Whether the store has the objects of this commit, and of no other branch. */
static bool is_recorded(struct follower *w)
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
    struct follower *w = VD_CONTAINER_OF(fetch, struct follower, fetch);
    struct vd_followers *f = w->followers;
    bool good = fetch->error.code == VD_OK;
    f->fetching--;
    w->is_fetching = false;
    vd_fetch_release(fetch);
    vd_follow_count_fetch(good, now_ns_of(f) - w->begun_ns);
    if (!good) {
        vd_buf_reset(&w->message);
        vd_buf_add_text(&w->message, fetch->error.text);
        if (fetch->is_interrupted &&
            !f->is_stopped) /* what git has left is removed when nobody uses the folder */
            vd_repositories_recover(f->options.repositories, vd_repository_item_namespace(&w->item),
                                    vd_repository_item_name(&w->item));
        fail(w, "FetchFailed");
        return;
    }
    w->good_ms = vd_clock_wall_ms(f->options.controller->env.clock);
    vd_upkeep_look(f->options.all->upkeep, vd_slice_of(w->uid));
    VD_FAILPOINT("git.after_fetch");
    if (is_recorded(w)) {
        vd_buf_reset(&w->message);
        succeed(w);
    } else {
        start_sync(w);
    }
}

/* The Secret's credentials; without a name there are none. */
static int read_credentials(struct follower *w, const struct vd_json *remote,
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

static const char *copy_text(struct follower *w, struct vd_slice text)
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
static void take_spec(struct follower *w, const struct vd_repository *repository)
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

static int prepare(struct follower *w, const struct vd_repository *repository,
                   struct vd_error *error)
{
    const struct vd_followers_options *o = &w->followers->options;
    struct vd_slice text = vd_json_text(vd_json_get(repository->remote, VD_SLICE("url")));
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
        .done = on_fetched,
    };
    vd_buf_release(&folder);
    return read_credentials(w, repository->remote, &w->fetch.credentials, error);
}

static void start_fetch(struct follower *w, const struct vd_repository *repository)
{
    struct vd_followers *f = w->followers;
    struct vd_error error;
    w->item.is_busy = true;
    w->begun_ns = now_ns_of(f);
    w->hurries = w->is_given_up = false;
    w->fetch.url = NULL;
    take_spec(w, repository);
    int code = prepare(w, repository, &error);
    if (code) {
        vd_fetch_release(&w->fetch);
        vd_buf_reset(&w->message);
        vd_buf_add_text(&w->message, error.text);
        fail(w, code == VD_ERR_FORBIDDEN ? "Forbidden" : "FetchFailed");
        return;
    }
    vd_folder_use_begin(&w->use, &f->options.all->uses, vd_slice_of(w->uid));
    f->fetching++;
    w->is_fetching = true;
    VD_FAILPOINT("git.before_fetch");
    vd_fetch_start(&w->fetch);
}

/* ---- the status ---- */

/* True: it was sent. */
static bool write_outcome(struct follower *w, const struct vd_event *event,
                          const struct vd_json *object)
{
    struct vd_controller *c = w->followers->options.controller;
    struct vd_conditional_batch *batch = vd_conditional_batch_new(c, &w->item.item);
    struct vd_arena *a = vd_conditional_batch_arena(batch);
    struct vd_json *told = vd_json_clone(a, object);
    struct vd_slice message = vd_status_error_cut(vd_buf_slice(&w->message));
    vd_condition_set(
        a, told,
        &(struct vd_condition){.type = VD_SLICE("Synced"),
                               .status = w->reason ? VD_SLICE("False") : VD_SLICE("True"),
                               .reason = vd_slice_of(w->reason ? w->reason : "UpToDate"),
                               .message = w->reason ? message : VD_SLICE("")},
        vd_clock_wall_ms(c->env.clock));
    struct vd_json *status = vd_json_get(told, VD_SLICE("status"));
    if (w->reason)
        vd_json_set(a, status, VD_SLICE("lastError"), vd_json_string(a, message));
    else
        vd_json_remove(status, VD_SLICE("lastError"));
    bool differs = !vd_json_eq(told, object);
    if (differs)
        vd_conditional_batch_replace(batch, event, told);
    vd_conditional_batch_send(batch);
    return differs;
}

/* ---- the item ---- */

static void forget(struct follower *w)
{
    w->is_followed = false;
    w->has_outcome = false;
    w->failures = 0;
    w->due_ns = 0;
    w->generation = 0;
    w->good_ms = 0;
    w->reason = NULL;
    vd_buf_release(&w->message);
}

static void tell_oldest(struct vd_followers *f)
{
    size_t at = 0;
    int64_t oldest_ms = 0;
    for (struct vd_repository_item *i; (i = vd_hash_map_next(&f->items.all, &at));) {
        const struct follower *w = of(i);
        if (w->is_followed && w->good_ms && (!oldest_ms || w->good_ms < oldest_ms))
            oldest_ms = w->good_ms;
    }
    vd_follow_tell_oldest(oldest_ms);
}

static void proceed(struct follower *w, const struct vd_repository *repository)
{
    struct vd_followers *f = w->followers;
    uint64_t now_ns = now_ns_of(f);
    if (w->generation && w->generation != repository->generation)
        w->due_ns = 0, w->failures = 0;
    if (f->is_stopped)
        return;
    if (now_ns < w->due_ns)
        vd_repository_item_add_after(&f->items, &w->item, (w->due_ns - now_ns) / 1000000 + 1);
    else if (!vd_repositories_is_ready(f->options.repositories, repository->namespace,
                                       repository->name, vd_slice_of(repository->uid)))
        vd_repository_item_add_after(&f->items, &w->item, READY_MS);
    else if (f->fetching >= VD_GIT_FETCHES_MAX)
        vd_repository_item_add_after(&f->items, &w->item, BUSY_MS);
    else
        start_fetch(w, repository);
}

static void reconcile(struct vd_repository_items *items, struct vd_repository_item *item,
                      const struct vd_event *event, struct vd_json *object)
{
    struct follower *w = of(item);
    struct vd_repository repository;
    struct vd_error error;
    w->followers = VD_CONTAINER_OF(items, struct vd_followers, items);
    bool follows = object && !vd_repository_read(&repository, object, &error) &&
                   repository.remote && !repository.is_deleting;
    if (!follows && w->is_followed)
        forget(w);
    w->is_followed = follows;
    tell_oldest(w->followers);
    if (!follows || (w->has_outcome && write_outcome(w, event, object)))
        return;
    w->has_outcome = false;
    proceed(w, &repository);
}

static void release(struct vd_repository_item *item)
{
    struct follower *w = of(item);
    vd_buf_release(&w->message);
    vd_arena_release(&w->arena);
    vd_user_unref(w->user);
}

static void give_up(struct follower *w)
{
    w->is_given_up = true;
    if (w->is_fetching)
        vd_fetch_stop(&w->fetch);
    else
        vd_sync_stop(&w->sync);
}

/* A fetch may take long: it is stopped when it is for a spec that does not hold any more. */
static void look_at_fetch(struct follower *w, const struct vd_event *event)
{
    struct vd_arena arena = {0};
    struct vd_json *object;
    if (event->type == VD_EVENT_DELETED || !event->body ||
        vd_json_parse_copy(&arena, vd_body_slice(event->body), NULL, &object, NULL) ||
        vd_meta_is_deleting(object) || vd_meta_generation(object) != w->generation)
        give_up(w);
    vd_arena_release(&arena);
}

static void on_changed(struct vd_informer_handler *handler, const struct vd_change *change)
{
    struct vd_followers *f = VD_CONTAINER_OF(handler, struct vd_followers, handler);
    const struct vd_entry *entry = change->now->entry;
    vd_repository_items_changed(&f->items, change);
    if (!vd_slice_eq(vd_entry_resource(entry), VD_SLICE(VD_REPOSITORY_RESOURCE)))
        return;
    struct vd_repository_item *item = vd_repository_items_find(&f->items, vd_entry_path(entry));
    if (item && item->is_busy && of(item)->is_fetching)
        look_at_fetch(of(item), change->now);
}

/* ---- haste ---- */

struct haste {
    struct vd_task task;
    struct vd_followers *followers;
    struct vd_buf key;
};

static void on_haste(struct vd_task *task)
{
    struct haste *h = VD_CONTAINER_OF(task, struct haste, task);
    struct vd_followers *f = h->followers;
    struct vd_repository_item *item = vd_repository_items_find(&f->items, vd_buf_slice(&h->key));
    if (item && of(item)->is_followed) {
        of(item)->hurries = true;
        hurry(of(item));
        vd_repository_item_add(&f->items, item);
    }
    vd_buf_release(&h->key);
    free(h);
}

void vd_followers_hurry(struct vd_followers *f, struct vd_slice key)
{
    struct haste *h = VD_NEW(struct haste);
    h->task.run = on_haste;
    h->followers = f;
    vd_buf_add_slice(&h->key, key);
    vd_loop_post(f->options.controller->env.loop, &h->task);
}

/* ---- life ---- */

struct vd_followers *vd_followers_new(const struct vd_followers_options *options)
{
    static const struct vd_informer_ops informer_ops = {.changed = on_changed};
    static const struct vd_repository_items_ops ops = {reconcile, release};
    struct vd_followers *f = VD_NEW(struct vd_followers);
    f->options = *options;
    f->items.controller = options->controller;
    f->items.ops = &ops;
    f->items.record_len = sizeof(struct follower);
    vd_repository_items_init(&f->items);
    f->handler.ops = &informer_ops;
    vd_informer_add_handler(&options->controller->informer, &f->handler);
    return f;
}

void vd_followers_stop(struct vd_followers *f)
{
    size_t at = 0;
    f->is_stopped = true;
    for (struct vd_repository_item *item; (item = vd_hash_map_next(&f->items.all, &at));) {
        if (item->is_busy)
            give_up(of(item));
    }
}

void vd_followers_free(struct vd_followers *f)
{
    if (!f)
        return;
    vd_repository_items_release(&f->items);
    free(f);
}
