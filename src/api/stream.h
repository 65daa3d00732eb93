/*
 * A stream: the watch verb without a wire.
 *
 * A stream is a cursor into the log that is handed deliveries as they come and gives a face the
 * bytes to send. The face embeds it, says with a table of functions how deliveries become bytes and
 * where bytes go, and is told once why the stream has ended. Whether the bytes travel in an HTTP
 * answer of their own or share a connection with others' is the face's business.
 *
 *     code = vd_api_stream_open(&me->stream, loop, &options, &error);
 *     vd_api_stream_leave(&me->stream);     the client has gone; or else ops->ended() is called
 *
 * The deliveries of a commit come to all streams of a group - equal filter, equal encoding - at
 * once. The first one asked encodes them; the others send references to the same bytes. A stream
 * whose backlog is full takes no more: it is parked, and reads on from the log where it stood once
 * its backlog has been sent. Deliveries that a webhook has to convert, or that a worker has to
 * encode, are waited for (pending_frame.h).
 *
 * Here, for every face: bytes are charged to the user's account and bounded; rights and the
 * credential are looked at again about once a second (streams.h); the kind is looked up again when
 * definitions have changed; bookmarks are sent in their time, and a stream ends in its time.
 *
 * All functions are called on the loop's thread, and so are those of `ops`, but for an encoder's.
 */
#ifndef VD_API_STREAM_H
#define VD_API_STREAM_H

#include "api/event_frame.h"
#include "api/loop.h"
#include "auth/access.h"
#include "net/account.h"

struct vd_api_stream;
struct vd_pending_frame;

/* Why a stream has ended, and what the metrics call it. */
/* clang-format off */
#define VD_STREAM_ENDS(X)                                                                          \
    X(TIMEOUT,     "timeout")      /* its time was up, or the server stops */                      \
    X(GONE,        "gone")         /* the client has left */                                       \
    X(KIND,        "kind")         /* its kind is no longer served; it was given everything */     \
    X(EXPIRED,     "expired")      /* its cursor fell out of the window */                         \
    X(FORBIDDEN,   "forbidden")    /* its right was taken away */                                  \
    X(CREDENTIAL,  "unauthorized") /* its credential has expired or was revoked */                 \
    X(FAILED,      "error")        /* the log cannot be read, or does not reach its revision */    \
    X(UNREADABLE,  "error")        /* an object cannot be shown, as its last bytes say */          \
    X(UNCONVERTED, "error")        /* a conversion webhook has failed */                           \
    X(BROKEN_OFF,  "error")        /* no more may be queued for its user: the client resumes */
/* clang-format on */

enum vd_stream_end {
#define VD_STREAM_END_ENUM(name, text) VD_STREAM_END_##name,
    VD_STREAM_ENDS(VD_STREAM_END_ENUM)
#undef VD_STREAM_END_ENUM
};

/* What a face is told at the end; all is borrowed for the call. */
struct vd_stream_ending {
    enum vd_stream_end why;
    const struct vd_error *error; /* of EXPIRED, FAILED and UNCONVERTED; else NULL */
    struct vd_slice reason;       /* of FORBIDDEN: for people; else empty */
};

/* What a worker's thread encodes with, when the stream itself may be gone already. */
struct vd_stream_encoder {
    enum vd_frame_result (*encode)(struct vd_stream_encoder *encoder, struct vd_event_frame *frame,
                                   struct vd_buf *out, const struct vd_deliveries *deliveries);
    void (*free)(struct vd_stream_encoder *encoder); /* on the loop */
};

/* How a face encodes and sends. */
struct vd_stream_ops {
    /* Makes the bytes of the deliveries, with *out for their text. `served`: the bodies are in the
     * kind's version and form already. `on_loop`: what takes long is given up. */
    enum vd_frame_result (*encode)(struct vd_api_stream *stream, struct vd_event_frame *frame,
                                   struct vd_buf *out, const struct vd_deliveries *deliveries,
                                   bool served, bool on_loop);
    /* Whether encoding these takes too long for the loop, as far as one can tell before. NULL, of a
     * face that decodes nothing: never, and it needs no `encoder`. */
    bool (*is_long)(struct vd_api_stream *stream, const struct vd_deliveries *deliveries);
    /* A copy of the encoding, for a worker. */
    struct vd_stream_encoder *(*encoder)(struct vd_api_stream *stream);
    /* Queues the bytes of these deliveries; references are taken. */
    void (*send)(struct vd_api_stream *stream, const struct vd_event_frame *frame,
                 const struct vd_deliveries *deliveries);
    /* Queues a bookmark: everything that matches up to the revision has been sent. `initial_end`:
     * and it is the end of the snapshot that the stream began with. */
    void (*bookmark)(struct vd_api_stream *stream, uint64_t revision, bool initial_end);
    /* How many bytes are queued and have not left. NULL: none, ever; then there is no `await_drain`
     * either. */
    size_t (*backlog)(const struct vd_api_stream *stream);
    /* Has vd_api_stream_drained() called once the backlog has left. */
    void (*await_drain)(struct vd_api_stream *stream);
    /* What the user must still be allowed to do; its texts are borrowed until the stream is. */
    struct vd_access (*access)(const struct vd_api_stream *stream);
    /* The stream is over and released: the face may free it. Last call. */
    void (*ended)(struct vd_api_stream *stream, const struct vd_stream_ending *ending);
};

/* Embedded in a face's own. An idle client costs hardly more than this, so it is packed. */
struct vd_api_stream {
    struct vd_watcher watcher; /* first: the registry's functions are given it */
    const struct vd_stream_ops *ops;
    struct vd_api_loop *l;
    struct vd_account *account; /* a reference; NULL: nobody's */
    struct vd_kind *kind;       /* a reference, renewed when the registry of kinds has changed */
    /* Private: */
    uint64_t generation; /* of the kinds when it was last looked up */
    struct vd_timer bookmark;
    struct vd_timer end;
    uint64_t rights_version;          /* at which its rights were last found good; 0: not yet */
    struct vd_pending_frame *pending; /* that it waits for, and takes nothing meanwhile; or NULL */
    /* Its place among those that wait for a frame, or for room in their user's queue; NULL: it
     * waits for neither. */
    struct vd_api_stream **waits_at, *next_waiting;
    struct vd_api_stream *prev, *next; /* all of the loop */
    uint32_t bookmark_ms;              /* 0: it wants none */
    unsigned char rank;                /* enum vd_rank */
    bool own_bytes : 1;                /* see struct vd_stream_options */
    bool tells_initial_end : 1;
    bool ending : 1; /* the next ring of `end` ends it */
    bool broken : 1; /* it was told of an object that cannot be shown, and ends */
};

/* Where a stream begins. */
enum vd_stream_start {
    VD_STREAM_NOW,      /* with what comes from now on */
    VD_STREAM_AT,       /* behind a revision, which may be one that is to come */
    VD_STREAM_SNAPSHOT, /* with all there is, not older than a revision; 0: any */
};

struct vd_stream_options {
    const struct vd_stream_ops *ops;
    const struct vd_kind *kind;
    uint64_t kinds_generation; /* of the set that the kind was found in */
    struct vd_filter *filter;  /* its format and dialect say which encodings are equal */
    struct vd_account *account;
    enum vd_rank rank;
    enum vd_stream_start start;
    uint64_t revision;
    uint64_t life_ms;     /* after which it ends; 0: not by itself */
    uint64_t bookmark_ms; /* about how often it is told a bookmark; 0: never */
    bool own_bytes;       /* its bytes depend on what it has sent: it shares none with others */
};

/* Opens the stream at its place in the log. The filter, the kind and the account get references.
 * VD_ERR_EXPIRED, VD_ERR_FUTURE: then there is nothing to release. The functions of `ops` are
 * called in the turns to come, not from inside. */
int vd_api_stream_open(struct vd_api_stream *stream, struct vd_api_loop *l,
                       const struct vd_stream_options *options, struct vd_error *error) VD_MUST_USE;

/* Of one that was opened: the client has gone. It is released; ops->ended() is not called. Not from
 * inside a function of `ops`. */
void vd_api_stream_leave(struct vd_api_stream *stream);

/* The backlog has left, as ops->await_drain() has asked for. */
void vd_api_stream_drained(struct vd_api_stream *stream);

/* For those that stand in a list of waiting streams; see pending_frame.h and streams.h. */
void vd_stream_wait_in(struct vd_api_stream *stream, struct vd_api_stream **list);
void vd_stream_wait_out(struct vd_api_stream *stream);

#endif
