/*
 * The rules of spec.conversion of a definition, in Kubernetes' words. Its messages name the fields
 * by where Kubernetes keeps them for all versions of the API: webhookClientConfig is
 * webhook.clientConfig, and conversionReviewVersions stands beside it.
 */
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>

#include "base/base64.h"
#include "kinds/name.h"
#include "kinds/rules_internal.h"

#define FORM "; desired format: https://host[/path]"

static void add_invalid(struct vd_violations *out, const struct vd_field_path *path,
                        struct vd_slice value, const char *detail)
{
    vd_violations_add(out, VD_VIOLATION_INVALID, path, vd_bad_value_text(out, value), "%s", detail);
}

/* Cuts off what stands behind the first `mark`, which goes, too. Empty: there is none. */
static struct vd_slice cut_behind(struct vd_slice *rest, char mark)
{
    const char *at = rest->n ? memchr(rest->p, mark, rest->n) : NULL;
    if (!at)
        return VD_SLICE("");
    struct vd_slice tail = vd_slice_from(*rest, (size_t)(at - rest->p) + 1);
    rest->n = (size_t)(at - rest->p);
    return tail;
}

static void check_url(struct vd_slice url, const struct vd_field_path *path,
                      struct vd_violations *out)
{
    struct vd_slice rest = url, scheme = VD_SLICE(""), host = VD_SLICE(""), user = VD_SLICE("");
    for (size_t i = 0; i < url.n; i++) {
        if ((unsigned char)url.p[i] > ' ' && (unsigned char)url.p[i] < 0x7f)
            continue;
        vd_kind_rule_add(
            out, VD_VIOLATION_REQUIRED, path,
            "url must be a valid URL: it has a blank, or bytes that are not ASCII" FORM);
        return;
    }
    struct vd_slice fragment = cut_behind(&rest, '#');
    struct vd_slice query = cut_behind(&rest, '?');
    const char *mark = rest.n >= 3 ? memmem(rest.p, rest.n, "://", 3) : NULL;
    if (mark) {
        scheme = vd_slice(rest.p, (size_t)(mark - rest.p));
        host = vd_slice_from(rest, scheme.n + 3);
        cut_behind(&host, '/');
        const char *at = host.n ? memrchr(host.p, '@', host.n) : NULL;
        if (at) {
            user = vd_slice(host.p, (size_t)(at - host.p));
            host = vd_slice_from(host, user.n + 1);
        }
    }
    if (!vd_slice_is(scheme, "https"))
        add_invalid(out, path, scheme, "'https' is the only allowed URL scheme" FORM);
    if (!host.n)
        add_invalid(out, path, host, "host must be specified" FORM);
    if (user.p && user.n)
        add_invalid(out, path, user, "user information is not permitted in the URL");
    if (fragment.n)
        add_invalid(out, path, fragment, "fragments are not permitted in the URL");
    if (query.n)
        add_invalid(out, path, query, "query parameters are not permitted in the URL");
}

static void check_path(struct vd_slice path, const struct vd_field_path *at,
                       struct vd_violations *out)
{
    struct vd_slice rest = vd_slice_from(path, 1), step;
    char text[192];
    if (vd_slice_is(path, "//")) {
        add_invalid(out, at, path, "segment[0] may not be empty");
        return;
    }
    if (path.p[0] != '/')
        add_invalid(out, at, path, "must start with a '/'");
    if (rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    for (size_t i = 0; vd_slice_cut(&rest, '/', &step); i++) {
        struct vd_name_faults faults;
        if (!step.n) {
            snprintf(text, sizeof text, "segment[%zu] may not be empty", i);
            add_invalid(out, at, path, text);
        } else if (!vd_name_check(VD_NAME_SUBDOMAIN, step, &faults)) {
            for (size_t k = 0; k < faults.n; k++)
                vd_violations_add(out, VD_VIOLATION_INVALID, at, vd_bad_value_text(out, path),
                                  "segment[%zu]: %s", i, faults.p[k]);
        }
    }
}

static void check_service(const struct vd_json *service, const struct vd_field_path *up,
                          struct vd_violations *out)
{
    struct vd_field_path name = vd_field_member(up, VD_SLICE("name"));
    struct vd_field_path namespace = vd_field_member(up, VD_SLICE("namespace"));
    struct vd_field_path at = vd_field_member(up, VD_SLICE("port"));
    struct vd_field_path path = vd_field_member(up, VD_SLICE("path"));
    const struct vd_json *port = vd_json_get(service, VD_SLICE("port"));
    struct vd_slice target = vd_kind_rule_text(service, "path");
    int64_t number = 443;
    if (!vd_kind_rule_text(service, "name").n)
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &name, "service name is required");
    if (!vd_kind_rule_text(service, "namespace").n)
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &namespace, "service namespace is required");
    if (port && vd_json_to_i64(port, &number) && (number < 1 || number > 65535))
        vd_violations_add(out, VD_VIOLATION_INVALID, &at, vd_bad_value_json(out, port), "%s",
                          "port is not valid: must be between 1 and 65535, inclusive");
    if (target.n && !vd_slice_is(target, "/"))
        check_path(target, &path, out);
}

/* Whether it is base64 of PEM with at least one certificate. */
static bool has_certificates(struct vd_slice bundle)
{
    struct vd_buf pem = {0};
    size_t n = 0;
    if (!vd_base64_decode(&pem, bundle, VD_BASE64_STANDARD) && pem.n && pem.n < INT32_MAX) {
        BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
        for (X509 *one; bio && (one = PEM_read_bio_X509(bio, NULL, NULL, NULL)); n++)
            X509_free(one);
        BIO_free(bio);
        ERR_clear_error();
    }
    vd_buf_release(&pem);
    return n > 0;
}

static void check_client_config(const struct vd_json *config, const struct vd_field_path *up,
                                struct vd_violations *out)
{
    struct vd_field_path url = vd_field_member(up, VD_SLICE("url"));
    struct vd_field_path service = vd_field_member(up, VD_SLICE("service"));
    struct vd_field_path bundle = vd_field_member(up, VD_SLICE("caBundle"));
    bool has_url = vd_json_is(vd_json_get(config, VD_SLICE("url")), VD_JSON_STRING);
    const struct vd_json *reference = vd_json_get(config, VD_SLICE("service"));
    bool has_service = vd_json_is(reference, VD_JSON_OBJECT);
    struct vd_slice pem = vd_kind_rule_text(config, "caBundle");
    if (!vd_json_is(config, VD_JSON_OBJECT)) {
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, up,
                         "required when strategy is set to Webhook");
        return;
    }
    if (has_url == has_service)
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, up,
                         "exactly one of url or service is required");
    else if (has_url)
        check_url(vd_kind_rule_text(config, "url"), &url, out);
    else
        check_service(reference, &service, out);
    if (pem.n && !has_certificates(pem))
        add_invalid(out, &bundle, pem,
                    "unable to load root certificates: unable to parse bytes as PEM block");
}

static void check_review_versions(const struct vd_json *versions, const struct vd_field_path *up,
                                  struct vd_violations *out)
{
    bool known = false;
    size_t i = 0;
    if (vd_json_count(versions) == 0) {
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, up, "");
        return;
    }
    VD_JSON_EACH (item, versions) {
        struct vd_field_path at = vd_field_element(up, i);
        struct vd_slice version = vd_json_text(item);
        struct vd_name_faults faults;
        size_t before = 0;
        VD_JSON_EACH (other, versions) {
            if (before++ == i)
                break;
            if (vd_slice_eq(vd_json_text(other), version)) {
                add_invalid(out, &at, version, "duplicate version");
                break;
            }
        }
        if (!vd_name_check(VD_NAME_DNS1035, version.p ? version : VD_SLICE(""), &faults))
            for (size_t k = 0; k < faults.n; k++)
                add_invalid(out, &at, version, faults.p[k]);
        known |= vd_slice_is(version, "v1") || vd_slice_is(version, "v1beta1");
        i++;
    }
    if (!known)
        vd_violations_add(out, VD_VIOLATION_INVALID, up, vd_bad_value_json(out, versions), "%s",
                          "must include at least one of v1, v1beta1");
}

void vd_kind_rule_conversion_check(const struct vd_json *spec, const struct vd_field_path *up,
                                   struct vd_violations *out)
{
    const struct vd_json *conversion = vd_json_get(spec, VD_SLICE("conversion"));
    const struct vd_json *webhook = vd_json_get(conversion, VD_SLICE("webhook"));
    const struct vd_json *config = vd_json_get(webhook, VD_SLICE("clientConfig"));
    const struct vd_json *versions = vd_json_get(webhook, VD_SLICE("conversionReviewVersions"));
    struct vd_slice strategy = vd_kind_rule_text(conversion, "strategy");
    struct vd_field_path at = vd_field_member(up, VD_SLICE("conversion"));
    struct vd_field_path path = vd_field_member(&at, VD_SLICE("strategy"));
    struct vd_field_path client = vd_field_member(&at, VD_SLICE("webhookClientConfig"));
    struct vd_field_path review = vd_field_member(&at, VD_SLICE("conversionReviewVersions"));
    static const char misplaced[] = "should not be set when strategy is not set to Webhook";
    if (vd_slice_is(strategy, "Webhook")) {
        check_client_config(config, &client, out);
        check_review_versions(versions, &review, out);
        return;
    }
    if (strategy.n && !vd_slice_is(strategy, "None"))
        vd_violations_add(out, VD_VIOLATION_NOT_SUPPORTED, &path, vd_bad_value_text(out, strategy),
                          "%s", "supported values: \"None\", \"Webhook\"");
    if (vd_json_is(webhook, VD_JSON_OBJECT) && (config || !vd_json_count(versions)))
        vd_kind_rule_add(out, VD_VIOLATION_FORBIDDEN, &client, misplaced);
    if (vd_json_count(versions))
        vd_kind_rule_add(out, VD_VIOLATION_FORBIDDEN, &review, misplaced);
}
