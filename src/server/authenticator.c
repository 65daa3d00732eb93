/* See authenticator.h. */
#include "server/authenticator.h"

#include <stdlib.h>
#include <strings.h>

#include "auth/impersonation.h"
#include "base/alloc.h"
#include "base/base64.h"
#include "base/container_of.h"
#include "base/metrics.h"
#include "net/connection.h"
#include "net/route.h"

/* The route of the request says it in its way. Takes the user's reference; NULL: nobody who is
 * known, and who may want to know how to become so. */
static void refuse_user(struct vd_exchange *x, struct vd_user *user,
                        const struct vd_route_refusal *refusal)
{
    struct vd_route_refusal r = *refusal;
    r.is_of_user = true;
    x->user = user;
    vd_route_refuse(x, &r);
}

bool vd_authenticator_knows(struct vd_authenticator *a, struct vd_exchange *x)
{
    struct vd_user *user = NULL;
    int code = vd_gatekeeper_identify(a->gatekeeper, x, &user, NULL);
    vd_user_unref(user);
    return !code;
}

/* ---- impersonation ---- */

/* The user in whose name the request is made: the one who sent it, or the one who is impersonated.
 * NULL: it has been answered. Takes the user's reference. */
static struct vd_user *impersonated(struct vd_authenticator *a, struct vd_exchange *x,
                                    struct vd_user *user)
{
    struct vd_arena arena = {0};
    struct vd_identity who;
    struct vd_error error;
    struct vd_access refused;
    struct vd_buf reason = {0};
    struct vd_rbac *rbac = NULL;
    struct vd_user *as = NULL;
    if (vd_impersonation_read(&who, &arena, x->head, &error)) {
        refuse_user(x, vd_user_ref(user),
                    &(struct vd_route_refusal){.status = 400, .why = error.text});
        goto out;
    }
    if (!who.name.n) {
        as = vd_user_ref(user);
        goto out;
    }
    rbac = vd_gatekeeper_rbac(a->gatekeeper);
    if (vd_impersonation_allowed(rbac, user, &who, &refused, &reason)) {
        as = vd_impersonation_user(user, &who, &arena);
    } else {
        refuse_user(x, vd_user_ref(user),
                    &(struct vd_route_refusal){
                        .status = 403, .why = vd_buf_text(&reason), .access = &refused});
    }
out:
    vd_rbac_unref(rbac);
    vd_buf_release(&reason);
    vd_arena_release(&arena);
    vd_user_unref(user);
    return as;
}

static bool impersonates(const struct vd_exchange *x)
{
    static const char prefix[] = "impersonate-";
    for (size_t i = 0; i < x->head->headers_n; i++) {
        struct vd_slice name = vd_http_head_name(x->head, i);
        if (name.n >= sizeof prefix - 1 && strncasecmp(name.p, prefix, sizeof prefix - 1) == 0)
            return true;
    }
    return false;
}

/* ---- turns and limits ---- */

/* What holds a server together comes out of what is reserved: its administrators, its
 * nodes and controllers, those who look after it, ... */
static enum vd_rank rank_of_user(const struct vd_user *user)
{
    static const struct vd_slice groups[] = {VD_SLICE("system:nodes"),
                                             VD_SLICE("system:monitoring"),
                                             VD_SLICE("system:serviceaccounts:kube-system")};
    if (vd_user_is_master(user))
        return VD_RANK_ADMIN;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (vd_user_in_group(user, groups[i]))
            return VD_RANK_SYSTEM;
    return VD_RANK_ORDINARY;
}

/* ... and the leases by which replicas agree who leads. */
static enum vd_rank rank_of(enum vd_rank user, const struct vd_exchange *x)
{
    struct vd_slice target = vd_http_head_target(x->head);
    bool lease = vd_slice_starts_with(target, VD_SLICE("/apis/coordination.k8s.io/"));
    return lease && user == VD_RANK_ORDINARY ? VD_RANK_SYSTEM : user;
}

/* Takes the user's reference. */
static void refuse_one_too_many(struct vd_exchange *x, struct vd_user *user)
{
    refuse_user(x, user, &(struct vd_route_refusal){.status = 429, .why = ""});
}

/* The account of whoever sent the request, with a reference; its connection belongs to it now, but
 * that of the anonymous user stays a stranger's. */
static struct vd_account *account_of(const struct vd_authenticator *a, struct vd_exchange *x,
                                     const struct vd_user *user, enum vd_rank rank)
{
    struct vd_connection *c = x->connection;
    if (user->is.method == VD_AUTH_ANONYMOUS)
        return vd_accounts_get(a->accounts, user->is.name);
    struct vd_account *account = c->account && vd_slice_eq(c->account->name, user->is.name)
                                     ? vd_account_ref(c->account)
                                     : vd_accounts_get(a->accounts, user->is.name);
    vd_connection_belongs_to(c, account, rank);
    return account;
}

/* The request is the account's of whoever sent it, in whose name it may be made. `over`: that
 * of which it was one too many already, or NULL. False: it is too many, and has been answered; then
 * the user's reference is taken. */
static bool charge(const struct vd_authenticator *a, struct vd_exchange *x, struct vd_user *user,
                   const struct vd_account *over)
{
    enum vd_rank rank = rank_of_user(user);
    struct vd_account *account = account_of(a, x, user, rank);
    bool good = account != over && !vd_exchange_charge(x, account, rank_of(rank, x));
    vd_account_unref(account);
    if (!good)
        refuse_one_too_many(x, user);
    return good;
}

/* ---- who ---- */

/* The password of HTTP Basic, in the buffer. False: the request has no such credential. */
static bool basic_password(const struct vd_exchange *x, struct vd_buf *room, struct vd_slice *out)
{
    struct vd_slice value, scheme, user;
    if (!vd_http_head_find(x->head, VD_SLICE("authorization"), &value) ||
        !vd_slice_cut(&value, ' ', &scheme) || scheme.n != 5 ||
        strncasecmp(scheme.p, "basic", 5) != 0)
        return false;
    if (vd_base64_decode(room, vd_slice_trim(value), VD_BASE64_STANDARD))
        vd_buf_reset(room); /* an empty password is nobody's */
    *out = vd_buf_slice(room);
    vd_slice_cut(out, ':', &user);
    return true;
}

static bool is_anonymous(const struct vd_exchange *x)
{
    struct vd_slice value;
    return !vd_http_head_find(x->head, VD_SLICE("authorization"), &value);
}

/* By what the route takes for a credential. VD_ERR_NOT_FOUND: there is none. */
static int find_user(struct vd_authenticator *a, struct vd_exchange *x, struct vd_user **out,
                     struct vd_error *error)
{
    struct vd_buf room = {0};
    struct vd_slice password;
    bool is_basic = x->route->takes_basic && basic_password(x, &room, &password);
    int code = is_basic ? vd_gatekeeper_identify_token(a->gatekeeper, password, out, error)
                        : vd_gatekeeper_identify(a->gatekeeper, x, out, error);
    vd_buf_release(&room);
    return code;
}

/* Who sends the request; it may have been found out before its body came. NULL: nobody who is
 * known, and it has been answered. Why a credential is no good is for the log, not for whoever
 * tries some. */
static struct vd_user *identify(struct vd_authenticator *a, struct vd_exchange *x)
{
    struct vd_user *user = NULL;
    struct vd_error error;
    if (x->upload && x->upload->client.what) {
        user = x->upload->client.what;
        x->upload->client.what = NULL;
        return user;
    }
    int code = find_user(a, x, &user, &error);
    if (code == VD_ERR_NOT_FOUND && x->route->takes_anonymous && is_anonymous(x))
        return vd_user_new_anonymous();
    vd_counter_add(code ? a->failed_logins : a->logins, 1);
    if (!code)
        return user;
    vd_exchange_discharge(x);
    vd_connection_belongs_to(x->connection, NULL, VD_RANK_ORDINARY);
    refuse_user(x, NULL, &(struct vd_route_refusal){.status = 401, .why = ""});
    return NULL;
}

static void forget_user(void *user)
{
    vd_user_unref(user);
}

/* The body of the request is wanted if it is known who sends it and there is room for it. */
static void judge_head(struct vd_authenticator *a, struct vd_exchange *x)
{
    struct vd_upload *upload = x->upload;
    struct vd_user *user = identify(a, x);
    if (!user)
        return;
    enum vd_rank rank = rank_of_user(user);
    struct vd_account *account = account_of(a, x, user, rank);
    size_t len = vd_upload_len(x->head, x->route->body_len_max);
    bool good = !vd_upload_reserve(upload, account, rank_of(rank, x), len);
    vd_account_unref(account);
    if (good) {
        upload->client = (struct vd_memo){user, forget_user};
        x->user = user;
        x->user_is_borrowed = true;
        vd_route_admit(x);
    } else {
        refuse_one_too_many(x, user);
    }
}

/* There must be room for what is kept of a body that its handler reads as it arrives. False: there
 * is none, and it has been answered; then the user's reference is taken. */
static bool reserve_reader(struct vd_exchange *x, struct vd_user *user)
{
    size_t len = vd_upload_reader_len(x->head);
    if (!vd_upload_reserve(x->upload, x->account, (enum vd_rank)x->rank, len))
        return true;
    refuse_one_too_many(x, user);
    return false;
}

static void judge(struct vd_authenticator *a, struct vd_exchange *x, const struct vd_account *over)
{
    struct vd_user *user = identify(a, x);
    if (!user || !charge(a, x, user, over) || (x->reader && !reserve_reader(x, user)))
        return;
    if (impersonates(x))
        user = impersonated(a, x, user);
    if (!user) /* it has been answered, and x may be gone */
        return;
    x->user = user;
    vd_route_handle(x);
}

/* A request whose turn has not come. */
struct waiting {
    struct vd_turn_item item;
    struct vd_authenticator *authenticator;
    struct vd_exchange *x;
    struct vd_account *account; /* whose flow it is in; others of the connection may change that */
    bool over;    /* it is one too many of it, and will be told so when its turn comes */
    bool is_head; /* only its head has come */
};

static void on_turn(struct vd_turn_item *item)
{
    struct waiting w = *VD_CONTAINER_OF(item, struct waiting, item);
    free(item);
    w.x->ops = NULL;
    if (w.is_head)
        judge_head(w.authenticator, w.x);
    else
        judge(w.authenticator, w.x, w.over ? w.account : NULL);
    vd_account_unref(w.account);
}

static void left_waiting(struct vd_exchange *x)
{
    struct waiting *w = x->arg;
    vd_turn_item_cancel(&w->item);
    vd_account_unref(w->account);
    free(w);
}

/* Whose turn it is goes by the user of the connection's last request; strangers share a
 * flow, so that trying out credentials costs others nothing. */
static void take_turn(struct vd_authenticator *a, struct vd_exchange *x, bool is_head)
{
    static const struct vd_exchange_ops waiting_ops = {.gone = left_waiting};
    struct vd_connection *c = x->connection;
    struct vd_turn_queue *turn_queue = c->service->turn_queue;
    size_t i = x->loop->index;
    struct vd_account *account = c->account ? c->account : a->accounts->strangers;
    struct vd_turn_flow *flow = vd_account_turn_flow(account, i);
    bool over = c->account && !is_head &&
                vd_exchange_charge(x, account, rank_of((enum vd_rank)c->rank, x));
    if (vd_turn_queue_enter(turn_queue, flow)) {
        if (is_head)
            judge_head(a, x);
        else
            judge(a, x, over ? account : NULL);
        vd_turn_queue_leave(turn_queue, flow);
        if (c->account && c->account != account)
            vd_turn_queue_meet(turn_queue, flow, vd_account_turn_flow(c->account, i));
        return;
    }
    struct waiting *w = VD_NEW(struct waiting);
    *w = (struct waiting){.item.run = on_turn,
                          .authenticator = a,
                          .x = x,
                          .account = vd_account_ref(account),
                          .over = over,
                          .is_head = is_head};
    x->ops = &waiting_ops;
    x->arg = w;
    vd_turn_queue_wait(turn_queue, flow, &w->item);
}

void vd_authenticate(struct vd_http_service *service, struct vd_exchange *x, bool is_head)
{
    /* To such a client 200 would be a failure without a reason. */
    if (!is_head && !x->route->upgrades && vd_http_head_upgrades_to(x->head, VD_SLICE("websocket")))
        vd_authenticator_refuse_websocket(x);
    else
        take_turn(service->authenticator, x, is_head);
}

void vd_authenticator_refuse_websocket(struct vd_exchange *x)
{
    vd_route_refuse(
        x, &(struct vd_route_refusal){
               .status = 400,
               .why = "the server does not speak WebSocket: send the request without the header "
                      "Upgrade; watches are streams over HTTP, with ?watch=1"});
}

void vd_authenticator_finished(struct vd_exchange *x)
{
    if (!x->user_is_borrowed)
        vd_user_unref(x->user);
    x->user = NULL;
    x->user_is_borrowed = false;
    vd_exchange_discharge(x);
}
