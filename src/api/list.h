/*
 * A listing: the objects of a kind as of one revision, in the order of their paths, pulled piece by
 * piece.
 *
 *     code = vd_listing_open(&me->listing, loop, &options, &error);
 *     state = vd_listing_next(&me->listing, &out, out.n + vd_listing_piece_len(...), &error);
 *     ...
 *     vd_listing_close(&me->listing);       ops->closed() is called, which may free it
 *
 * The face embeds it and says how an item is written. It asks for the next piece when it can send
 * one, so a hundred large lists at a time cost a hundred pieces of memory. However long that takes,
 * all pieces show the same state, or the listing fails with VD_ERR_EXPIRED.
 *
 * A call of vd_listing_next() looks at a bounded number of objects and decodes a bounded number of
 * bytes. Where an object takes too long for the loop - a large one that has to be decoded - a
 * worker's thread writes the next piece, and has the listing to itself meanwhile. Items that a
 * webhook has to convert are gathered, about as many as make a piece, and the listing waits for
 * their conversion. ops->ready() is called when it goes on. What a worker makes, and what the face
 * says that it holds, is charged to the user's account as bytes that wait to be sent.
 *
 * All on the loop's thread but ops->add(), which a worker may call.
 */
#ifndef VD_API_LIST_H
#define VD_API_LIST_H

#include "api/conversion.h"
#include "api/loop.h"
#include "auth/access.h"
#include "kinds/object.h"
#include "net/account.h"
#include "store/snapshot.h"
#include "watch/filter.h"

struct vd_listing;

/* How a face writes a list. */
struct vd_listing_ops {
    /*
     * Adds an item of this stored object, in the form that the face shows. VD_ERR_LIMIT, and
     * nothing is added: it cannot be shown, or, with an effort that is on_loop, not on the loop.
     * Adds to listing->worked how many bytes it has decoded or searched.
     */
    int (*add)(struct vd_listing *listing, struct vd_buf *out, const struct vd_event *event,
               struct vd_effort *effort, struct vd_error *error);
    /* The same of bytes that are in the kind's version and form already, of a kind that a webhook
     * converts. */
    void (*add_served)(struct vd_listing *listing, struct vd_buf *out, struct vd_slice body);
    /* The listing goes on: ask it for the next piece. */
    void (*ready)(struct vd_listing *listing);
    /* It was closed, and nobody uses it any more. Last call. */
    void (*closed)(struct vd_listing *listing);
};

enum vd_listing_state {
    VD_LISTING_MORE,        /* items were added, or none matched; there may be more */
    VD_LISTING_DONE,        /* items were added, and these were the last */
    VD_LISTING_WAITS,       /* nothing was added: ops->ready() is called when it goes on */
    VD_LISTING_FAILED,      /* VD_ERR_EXPIRED, VD_ERR_CORRUPT, VD_ERR_LIMIT of one object */
    VD_LISTING_UNCONVERTED, /* the conversion webhook has failed */
    VD_LISTING_NO_ROOM,     /* too much waits for the user */
};

enum { VD_LISTING_STEP_OBJECTS = 64 }; /* that are read at a time */

/* Embedded in a face's own. */
struct vd_listing {
    const struct vd_listing_ops *ops;
    uint64_t worked; /* see ops->add() */
    /* Private: */
    struct vd_api_loop *l;
    struct vd_account *account; /* a reference; NULL: nobody's */
    enum vd_rank rank;
    struct vd_kind *kind; /* a reference */
    struct vd_filter *filter;
    struct vd_snapshot snapshot;
    struct vd_attributes attributes;
    uint64_t left;             /* of the limit; UINT64_MAX: no limit */
    struct vd_turn_item again; /* goes on when it is the user's turn */
    int64_t held;              /* bytes that the face holds */
    /* What the snapshot has given and is not written yet: */
    struct vd_event *events[VD_LISTING_STEP_OBJECTS];
    size_t events_n, events_at;
    struct vd_event *last; /* what was passed last: a reference; NULL: nothing yet */
    /* Of a kind that a webhook converts: the next items; else NULL. */
    struct vd_conversion *conversion;
    bool converting; /* it is under way */
    /* A piece that takes too long for the loop: */
    bool heavy;   /* a worker has to write the next object */
    bool working; /* a worker has the listing */
    bool is_closed;
    struct vd_pool_item order;
    int64_t making;     /* bytes, about, that the worker's piece will have */
    struct vd_buf made; /* what it has written */
    enum vd_listing_state failure;
    int code;
    struct vd_error error;
};

struct vd_listing_options {
    const struct vd_listing_ops *ops;
    const struct vd_access *access; /* that is checked first; NULL: the face has done so */
    const struct vd_kind *kind;
    struct vd_filter *filter;  /* see vd_api_filter() */
    struct vd_slice namespace; /* the namespace; empty: all */
    uint64_t revision;         /* the state that is shown; 0: the newest */
    uint64_t not_older;        /* VD_ERR_FUTURE if there is no such revision yet; 0: any */
    struct vd_slice after;     /* goes on behind this path; empty: from the start */
    uint64_t limit;            /* objects at most; 0: all */
    struct vd_account *account;
    enum vd_rank rank;
};

/* VD_ERR_FORBIDDEN, VD_ERR_EXPIRED, VD_ERR_FUTURE: then there is nothing to close. The filter, the
 * kind and the account get references. */
int vd_listing_open(struct vd_listing *listing, struct vd_api_loop *l,
                    const struct vd_listing_options *options, struct vd_error *error) VD_MUST_USE;

/* It is over, or the client has gone; not while ops->add() runs on the loop. ops->closed() is
 * called at once, or when the worker that has the listing is done. */
void vd_listing_close(struct vd_listing *listing);

/* Adds items to *out until it has `len_max` bytes or enough has been done for a turn. Fills *error
 * when it fails; then the listing can only be closed. */
enum vd_listing_state vd_listing_next(struct vd_listing *listing, struct vd_buf *out,
                                      size_t len_max, struct vd_error *error) VD_MUST_USE;

/* How many bytes a piece should have: fewer when several users take turns. */
size_t vd_listing_piece_len(const struct vd_listing *listing);

/* Lets others go first: ops->ready() is called when it is the user's turn again. */
void vd_listing_yield(struct vd_listing *listing);

/* The face can send again: ops->ready() is called now, if it is the user's turn, or when it is. */
void vd_listing_resume(struct vd_listing *listing);

/* The face holds so many bytes of the list that are not on their way to the client yet. */
void vd_listing_hold(struct vd_listing *listing, size_t bytes);

/* Whether so much waits for the user that nothing more may be gathered for him. */
bool vd_listing_is_full(const struct vd_listing *listing);

/* Whether it has no limit: then it must be complete, and not just go on elsewhere. */
static inline bool vd_listing_is_unlimited(const struct vd_listing *listing)
{
    return listing->left == UINT64_MAX;
}

/* The revision whose state is shown: where a stream of the same selection begins. */
static inline uint64_t vd_listing_revision(const struct vd_listing *listing)
{
    return listing->snapshot.revision;
}

/* Where the next page begins. */
struct vd_listing_rest {
    bool more;
    struct vd_slice after; /* borrowed until the listing is used again */
    uint64_t remaining;    /* objects behind it, whether they match or not; if it was counted */
};

/* Of a listing that has reached its limit, or is left before its end. */
int vd_listing_rest(const struct vd_listing *listing, bool count, struct vd_listing_rest *out,
                    struct vd_error *error) VD_MUST_USE;

#endif
