/*
 * A batch's state, and what a write tells the batch that it is a member of, and asks it.
 *
 * While a member is being made, which a worker may do, nobody else touches the state.
 */
#ifndef VD_API_BATCH_BATCH_INTERNAL_H
#define VD_API_BATCH_BATCH_INTERNAL_H

#include "api/batch.h"
#include "auth/role.h"
#include "base/hash_map.h"

struct vd_batch_state;
struct vd_batch_member;

/* A namespace or a definition that members of the batch write. */
struct vd_batch_place {
    struct vd_slice key;             /* the resource and the name; in the batch's arena */
    struct vd_batch_member *put;     /* that creates or changes it; NULL: none */
    struct vd_batch_member *deleted; /* that deletes it; NULL: none */
    size_t last;                     /* of the caller's list, the last member in it, plus 1 */
};

/* A role that members of the batch write. */
struct vd_batch_role {
    struct vd_slice key;
    struct vd_role *role; /* as it will be: a reference; NULL: it is deleted, or is not made yet */
    bool put;             /* it is not deleted */
};

struct vd_batch_member {
    struct vd_write *write;
    struct vd_batch_state *state;
    size_t at;                         /* in the caller's list */
    struct vd_batch_place *namespace;  /* that it is in, if the batch writes that */
    struct vd_batch_place *definition; /* of its kind, likewise */
    struct vd_batch_place *place;      /* that it writes itself */
    struct vd_slice key;               /* of the object; in the arena, once it was made */
    bool placed;                       /* it is in the sequence */
    bool made;                         /* and is to be proposed */
    bool counted;                      /* in `counts`, under `expected` */
    enum vd_write_result expected;     /* what it will come to */
};

/* What the batch is doing. */
enum vd_batch_phase {
    VD_PHASE_PLACES,  /* which namespaces and definitions do members write? */
    VD_PHASE_LINK,    /* which members are in them? */
    VD_PHASE_ARRANGE, /* the sequence of the events */
    VD_PHASE_MAKE,    /* the members, in passes */
    VD_PHASE_GUARDS,  /* what is proposed: conditions, ... */
    VD_PHASE_WISHES,  /* ... and what the members want */
    VD_PHASE_TELL,    /* each member what has become of it */
    VD_PHASE_AWAIT,   /* that the registry shows the definitions */
};

struct vd_batch_state {
    struct vd_write_batch *b;
    struct vd_batch_member *members; /* n, in the caller's order */
    size_t n;
    struct vd_batch_member **sequence; /* in which they are made, and their events come */
    size_t sequence_n;
    struct vd_hash_map places, roles, keys; /* keys: members that were made, by their object */
    VD_VEC(struct vd_batch_member *) definitions;
    enum vd_batch_phase phase;
    unsigned pass;                  /* of VD_PHASE_MAKE */
    size_t next;                    /* of what the phase goes through */
    struct vd_batch_member *making; /* NULL: none */
    bool in_step;                   /* a turn is going through the phases */
    bool cancelled;
    uint64_t turn_ns; /* when that turn has begun */
    unsigned attempts;
    struct vd_arena arena;   /* until the batch is released */
    struct vd_arena scratch; /* of the member that is being made */
    struct vd_buf body;      /* likewise */
    size_t bytes;            /* of bodies that are kept */
    size_t refusals_len;     /* bytes of refusals that are kept */
    /* The proposal: */
    VD_VEC(struct vd_wish) wishes;
    VD_VEC(struct vd_batch_member *) owners; /* of each wish, the member, ... */
    VD_VEC(struct vd_wish_subject) subjects; /* ... and what is known of the object */
    size_t guards_n;                         /* of the wishes, so many, the first, are guards */
    struct vd_hash_map guards;               /* what they guard; in the scratch arena */
    size_t rows;                             /* events that the proposal makes */
    uint64_t revision;                       /* of the next of them that a member is told */
    struct vd_loop_proposal proposal;
    struct vd_task task; /* goes on in a later turn */
};

/* The key under which places, roles, guards and objects are found, in the arena. */
struct vd_slice vd_batch_key(struct vd_arena *a, struct vd_slice resource,
                             struct vd_slice namespace, struct vd_slice name);

/* The name of the object, as far as it is known before it is made. */
struct vd_slice vd_batch_member_name(const struct vd_batch_member *m);

/* ---- batch.c ---- */

/* On the loop: nothing is wrong with the member, which could be proposed. */
void vd_batch_take(struct vd_batch_member *m);

/* On the loop: the member is over, refused or cancelled. */
void vd_batch_settled(struct vd_batch_member *m);

/* Refuses the member, also one that was made. */
void vd_batch_refuse(struct vd_batch_member *m, const struct vd_refusal *refusal);

/* Whether the turn has been at work for long enough. */
bool vd_batch_turn_is_over(struct vd_batch_state *s);

/* ---- made.c: what is kept of a member that was made ---- */

/* Keeps what is proposed, and nothing else; or refuses the member. */
void vd_batch_keep(struct vd_batch_member *m);

/* Keeps why it was refused, and what was warned of. */
void vd_batch_keep_refusal(struct vd_batch_member *m);

/* Drops what is kept, for it to be made again, or for good. */
void vd_batch_drop(struct vd_batch_member *m);

/* Whether another version is there than the one that the member was made of. */
bool vd_batch_is_stale(const struct vd_batch_member *m);

/* ---- sequence.c: places, and the order of the events ---- */

/* Each goes on with its phase until that is done or the turn is over: false. */
bool vd_batch_find_places(struct vd_batch_state *s) VD_MUST_USE;
bool vd_batch_link(struct vd_batch_state *s) VD_MUST_USE;
bool vd_batch_arrange(struct vd_batch_state *s) VD_MUST_USE;

/* ---- proposal.c ---- */

void vd_batch_init_guards(struct vd_batch_state *s);

/* Those of the caller, in front of the guards. */
void vd_batch_add_conditions(struct vd_batch_state *s);

/* Each goes on with its phase, as above. */
bool vd_batch_gather_guards(struct vd_batch_state *s) VD_MUST_USE;
bool vd_batch_gather_wishes(struct vd_batch_state *s) VD_MUST_USE;
bool vd_batch_tell(struct vd_batch_state *s) VD_MUST_USE;

/* ---- roles.c ---- */

/* Of a member that writes a role. */
void vd_batch_expect_role(struct vd_batch_member *m);
void vd_batch_put_role(struct vd_batch_member *m, struct vd_role *role);
void vd_batch_release_roles(struct vd_batch_state *s);

/* The role that a binding names, if members of the batch write it; else NULL. Any thread that makes
 * the member. */
const struct vd_batch_role *vd_batch_find_role(const struct vd_batch_member *m,
                                               const struct vd_binding *binding);

#endif
