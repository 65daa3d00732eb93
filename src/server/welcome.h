/*
 * What somebody without a credential reads at /: what this is, and how to get in.
 *
 * A browser gets a small page, curl gets text, and whoever asks for JSON the Status that any other
 * path would give. All have status 401. Nothing is told that is not public: paths as far as they
 * are relative, no users, no versions.
 */
#ifndef VD_SERVER_WELCOME_H
#define VD_SERVER_WELCOME_H

#include "net/exchange.h"
#include "server/config.h"

/* Immutable once it is initialised: all loops share it. */
struct vd_welcome {
    const char *program;    /* as it was called, if that is relative: "build/vedette" */
    const char *folder;     /* the data folder, if that is relative; else "DIR" */
    bool is_default_folder; /* which no command needs to be told */
    bool has_kubeconfig;    /* there is an HTTPS listener */
    bool own_certificate;   /* clients need the CA that is in the folder */
    bool health;            /* anybody may ask for it */
    char policy[256];       /* Content-Security-Policy, with the hash of the page's style */
};

/* The configuration is borrowed. */
void vd_welcome_init(struct vd_welcome *welcome, const struct vd_config *config);

/* Whether the request is a GET of / whose client reads words, and not a Status. */
bool vd_welcome_is_for(const struct vd_exchange *x);

/* Answers such a request. On the exchange's loop. */
void vd_welcome_answer(const struct vd_welcome *welcome, struct vd_exchange *x);

#endif
