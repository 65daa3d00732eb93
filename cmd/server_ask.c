/* See server_ask.h. */
#include "server_ask.h"

#include "admin_kubeconfig.h"
#include "http_ask.h"
#include "json/parse.h"

static int read_answer(struct vd_arena *arena, const struct vd_http_answer *answer,
                       struct vd_json **out, struct vd_error *error)
{
    if (answer->status != 200)
        return vd_error_set(error, VD_ERR_IO, "the server answered with %u", answer->status);
    return vd_json_parse(arena, vd_arena_copy(arena, answer->body), NULL, out, error);
}

int vd_server_ask(struct vd_arena *arena, const char *folder, const char *path,
                  struct vd_json **out, struct vd_error *error)
{
    struct vd_admin_kubeconfig config = {0};
    struct vd_http_peer peer = {0};
    struct vd_http_answer answer = {0};
    const struct vd_http_question question = {.method = "GET", .path = path};
    int code = vd_admin_kubeconfig_read(&config, arena, folder, error);
    if (!code)
        code = vd_http_peer_set(&peer, config.server, vd_buf_slice(&config.ca), error);
    if (!code)
        code = vd_http_peer_use_certificate(&peer, vd_buf_slice(&config.certificate),
                                            vd_buf_slice(&config.key), error);
    if (!code)
        code = vd_http_ask(&peer, &question, &answer, error);
    if (!code)
        code = read_answer(arena, &answer, out, error);
    else if (code == VD_ERR_IO && !answer.bytes.n)
        code = vd_error_set(error, VD_ERR_IO,
                            "no server answers at https://%s: is it running on %s?",
                            vd_buf_text(&peer.address), folder);
    vd_http_answer_release(&answer);
    vd_http_peer_release(&peer);
    vd_admin_kubeconfig_release(&config);
    return code;
}
