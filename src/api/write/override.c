/*
 * An override: somebody with the right to do so changes an object that Git owns, because the object
 * says why (kinds/git_ownership.h). An Event on the object records who it was and the reason. It is
 * proposed together with the change, so that there is none without the other.
 *
 * In a namespace that is being deleted nothing new is written: there the audit log alone knows.
 */
#include "api/git_claim.h"
#include "api/write/write_internal.h"
#include "base/utf8.h"
#include "kinds/admission.h"
#include "kinds/object_meta.h"
#include "kinds/time_format.h"
#include "kinds/uid.h"
#include "json/parse.h"
#include "json/revision_hole.h"

enum {
    MORE_WISHES = 2,      /* a guard of the namespace, and the Event */
    USER_LEN_MAX = 128,   /* bytes of the user's name in the Event ... */
    REASON_LEN_MAX = 800, /* ... and of the reason; a message may have 1024 */
};

static void add_text(struct vd_arena *a, struct vd_json *object, const char *key,
                     struct vd_slice text)
{
    vd_json_add_ref(object, vd_slice_of(key), vd_json_string(a, text));
}

/* Events about what is in no namespace are in this one, as in Kubernetes. */
static struct vd_slice event_namespace(const struct vd_write *w)
{
    return w->kind->namespaced ? w->namespace : VD_SLICE("default");
}

static struct vd_json *involved_object(struct vd_write *w)
{
    struct vd_arena *a = w->arena;
    struct vd_json *object = vd_json_object(a);
    char uid[VD_UID_TEXT_MAX];
    add_text(a, object, "kind", w->kind->kind);
    if (w->kind->namespaced)
        add_text(a, object, "namespace", w->namespace);
    add_text(a, object, "name", w->name);
    add_text(a, object, "uid",
             vd_uid_format(w->wish.action == VD_PUT ? w->wish.uid : w->wish.expect_uid, uid));
    add_text(a, object, "apiVersion", w->kind->api_version);
    return object;
}

static struct vd_slice message(struct vd_write *w, struct vd_slice reason)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "%s by %.*s, though Git owns it: ",
                w->verb == VD_WRITE_DELETE       ? "Deleted"
                : w->wish.when == VD_WHEN_ABSENT ? "Created"
                                                 : "Changed",
                VD_FMT(vd_utf8_cut(w->user->is.name, USER_LEN_MAX)));
    vd_buf_add_slice(&text, vd_utf8_cut(reason, REASON_LEN_MAX));
    struct vd_slice copy = vd_arena_copy(w->arena, vd_buf_slice(&text));
    vd_buf_release(&text);
    return copy;
}

static struct vd_json *event_of(struct vd_write *w, struct vd_slice name, struct vd_uid uid,
                                struct vd_slice reason)
{
    struct vd_arena *a = w->arena;
    struct vd_json *event = vd_json_object(a), *metadata = vd_json_object(a);
    struct vd_json *source = vd_json_object(a);
    int64_t now_ms = vd_clock_wall_ms(w->l->env->clock);
    add_text(a, event, "apiVersion", VD_SLICE("v1"));
    add_text(a, event, "kind", VD_SLICE("Event"));
    add_text(a, metadata, "name", name);
    add_text(a, metadata, "namespace", event_namespace(w));
    vd_json_add_ref(event, VD_SLICE("metadata"), metadata);
    vd_meta_set_uid(a, event, uid);
    vd_meta_set_creation_timestamp(a, event, now_ms);
    vd_meta_set_annotation(a, event, VD_SLICE(VD_GIT_OVERRIDE_USER),
                           vd_utf8_cut(w->user->is.name, USER_LEN_MAX));
    vd_meta_set_resource_version(a, event, VD_SLICE(""));
    struct vd_slice now = vd_json_text(vd_json_get(metadata, VD_SLICE("creationTimestamp")));
    vd_json_add_ref(event, VD_SLICE("involvedObject"), involved_object(w));
    add_text(a, event, "reason", VD_SLICE("SpecOverridden"));
    add_text(a, event, "message", message(w, reason));
    add_text(a, source, "component", VD_SLICE("vedette"));
    vd_json_add_ref(event, VD_SLICE("source"), source);
    add_text(a, event, "firstTimestamp", now);
    add_text(a, event, "lastTimestamp", now);
    vd_json_add_ref(event, VD_SLICE("count"), vd_json_number(a, VD_SLICE("1")));
    add_text(a, event, "type", VD_SLICE("Warning"));
    add_text(a, event, "reportingComponent", VD_SLICE("vedette"));
    add_text(a, event, "reportingInstance", VD_SLICE(""));
    return event;
}

/* The name of the object, shortened if need be, and of the uid what makes it unique. */
static struct vd_slice event_name(struct vd_write *w, struct vd_uid uid)
{
    enum { NAME_LEN_MAX = 253 };
    struct vd_buf name = {0};
    char text[VD_UID_TEXT_MAX];
    struct vd_slice suffix = vd_uid_format(uid, text);
    size_t room = NAME_LEN_MAX - 1 - suffix.n;
    vd_buf_add(&name, w->name.p, w->name.n < room ? w->name.n : room);
    while (name.n && (name.p[name.n - 1] == '-' || name.p[name.n - 1] == '.'))
        name.n--;
    vd_buf_addf(&name, ".%.*s", VD_FMT(suffix));
    struct vd_slice copy = vd_arena_copy(w->arena, vd_buf_slice(&name));
    vd_buf_release(&name);
    return copy;
}

/* The namespace of the Event, which must be as it is now; false: it is being deleted. */
static bool guard_namespace(struct vd_write *w, struct vd_wish *guard)
{
    struct vd_key key = {VD_SLICE("namespaces"), VD_SLICE(""), event_namespace(w)};
    struct vd_event *event = NULL;
    struct vd_json *namespace = NULL;
    if (vd_store_get(w->l->env->store, &key, 0, &event, NULL))
        return false;
    bool alive = !vd_json_parse_copy(w->arena, vd_body_slice(event->body), NULL, &namespace,
                                     NULL) &&
                 !vd_meta_is_deleting(namespace);
    *guard = (struct vd_wish){
        .action = VD_CHECK, .when = VD_WHEN_REVISION, .revision = event->revision, .key = key};
    vd_event_unref(event);
    return alive;
}

static bool make_event(struct vd_write *w, struct vd_slice reason, struct vd_wish *wish)
{
    struct vd_uid uid = vd_uid_generate();
    struct vd_slice name = event_name(w, uid);
    struct vd_buf body = {0};
    struct vd_error error;
    size_t hole = 0;
    bool made = !vd_revision_hole_write(&body, event_of(w, name, uid, reason), &hole, &error);
    if (made)
        *wish = (struct vd_wish){
            .action = VD_PUT,
            .when = VD_WHEN_ABSENT,
            .key = {VD_SLICE("events"), event_namespace(w), name},
            .uid = uid,
            .body = {vd_arena_copy(w->arena, vd_buf_slice(&body)), (uint32_t)hole}};
    vd_buf_release(&body);
    return made;
}

/* The wishes of the write, with those of the Event before the last one, which is the object's own:
 * the outcome is that of the last change. */
static struct vd_wish_subject *add_event(struct vd_write *w, struct vd_slice reason)
{
    struct vd_proposal *p = &w->proposal.proposal;
    struct vd_wish *wishes = vd_arena_alloc(w->arena, (p->n + MORE_WISHES) * sizeof *wishes);
    struct vd_wish_subject *subjects = vd_arena_alloc(w->arena,
                                                      (p->n + MORE_WISHES) * sizeof *subjects);
    size_t n = p->n - 1;
    for (size_t i = 0; i < n; i++) {
        wishes[i] = p->wishes[i];
        subjects[i] = (struct vd_wish_subject){.kind = w->kind};
    }
    const struct vd_kind *events = vd_kind_set_resource(w->kinds, VD_SLICE(""), VD_SLICE("v1"),
                                                        VD_SLICE("events"));
    if (events && guard_namespace(w, &wishes[n]) && make_event(w, reason, &wishes[n + 1])) {
        subjects[n] = (struct vd_wish_subject){.kind = NULL};
        subjects[n + 1] = (struct vd_wish_subject){.kind = events};
        n += 2;
    }
    wishes[n] = p->wishes[p->n - 1];
    subjects[n] = (struct vd_wish_subject){w->kind, w->before};
    p->wishes = wishes;
    p->n = n + 1;
    return subjects;
}

struct vd_admitted *vd_write_override(struct vd_write *w, struct vd_git_claim *claim)
{
    claim->is_one_of_many = w->member != NULL;
    vd_git_claim_complete(claim, w->l->env, w->user, w->kind, w->namespace, w->arena);
    if (!vd_git_claim_asks_override(claim) || !claim->may_override || claim->is_one_of_many)
        return NULL;
    struct vd_slice reason = claim->override;
    struct vd_admission admission = {.store = w->l->env->store,
                                     .author = VD_AUTHOR_API,
                                     .subjects = add_event(w, reason),
                                     .overrides = true};
    w->overridden = reason;
    return vd_admission_admit(&admission, &w->proposal.proposal, w->arena, claim);
}
