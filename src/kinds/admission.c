/* See admission.h. */
#include "kinds/admission.h"

#include "store/admitted.h"

static bool judge(const struct vd_wish *wish, const struct vd_kind *kind, struct vd_slice before,
                  struct vd_arena *arena, struct vd_git_claim *claim)
{
    struct vd_slice after = wish->action == VD_PUT ? wish->body.bytes : VD_SLICE("");
    return vd_git_allows(kind, before, after, arena, claim);
}

/* The version that the wish replaces decides. If there is another by now, the store
 * refuses the wish. */
static bool may(const struct vd_admission *admission, const struct vd_wish *wish,
                const struct vd_wish_subject *subject, struct vd_arena *arena,
                struct vd_git_claim *claim)
{
    const struct vd_event *read = subject->before;
    if (read && wish->when == VD_WHEN_REVISION && wish->revision == read->revision)
        return judge(wish, subject->kind, vd_body_slice(read->body), arena, claim);
    struct vd_event *event = NULL;
    struct vd_slice before = VD_SLICE("");
    if (wish->when != VD_WHEN_ABSENT &&
        !vd_store_get(admission->store, &wish->key, 0, &event, NULL))
        before = vd_body_slice(event->body);
    bool moved = event && wish->when == VD_WHEN_REVISION && event->revision != wish->revision;
    bool allowed = moved || judge(wish, subject->kind, before, arena, claim);
    vd_event_unref(event);
    return allowed;
}

struct vd_admitted *vd_admission_admit(const struct vd_admission *admission,
                                       struct vd_proposal *proposal, struct vd_arena *arena,
                                       struct vd_git_claim *claim)
{
    for (size_t i = 0; admission->author == VD_AUTHOR_API && i < proposal->n; i++) {
        const struct vd_wish *wish = &proposal->wishes[i];
        const struct vd_wish_subject *subject = admission->subjects ? &admission->subjects[i]
                                                                    : &admission->subject;
        if (wish->action == VD_CHECK || may(admission, wish, subject, arena, claim))
            continue;
        if (admission->overrides && vd_git_claim_asks_override(claim))
            continue;
        claim->at = i;
        claim->name = vd_arena_copy(arena, wish->key.name);
        return NULL;
    }
    return vd_admitted_of(proposal);
}
