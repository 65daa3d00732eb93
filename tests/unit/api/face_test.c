/* The verbs of src/api are all that a face needs: see support/line_face.h. */
#include "api/read.h"
#include "check.h"
#include "line_face.h"
#include "json/parse.h"

#define LIGHT(name)                                                                                \
    "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Light\",\"metadata\":{\"name\":\"" name "\"}}"

static struct api_fixture api;
static struct line_face face = {.api = &api};
static struct vd_filter *all;

static void list(void *arg)
{
    struct vd_error error;
    (void)arg;
    assert_ok(line_list(&face, all, &error), &error);
}

static struct vd_json *json_of(const char *text)
{
    struct vd_json *json = NULL;
    struct vd_error error;
    assert_ok(vd_json_parse(&face.arena, vd_slice_of(text), NULL, &json, &error), &error);
    return json;
}

static void create(void *arg)
{
    line_write(&face, NULL, json_of(arg));
}

static void switch_on(void *arg)
{
    line_write(&face, arg, json_of("{\"phase\":\"on\"}"));
}

static void watch(void *arg)
{
    struct vd_error error;
    assert_ok(line_watch(&face, all, *(uint64_t *)arg, &error), &error);
}

static void leave(void *arg)
{
    (void)arg;
    vd_api_stream_leave(&face.stream);
}

/* Runs a verb and waits for its answer. */
static void ask(void (*verb)(void *arg), const char *arg)
{
    size_t before = face.done;
    api_do(&api, verb, (void *)(uintptr_t)arg);
    api_wait_for(&face.done, before + 1);
}

static void a_face_needs_nothing_but_the_verbs(void **state)
{
    (void)state;
    struct vd_error error;
    api_open(&api, 0);
    assert_ok(vd_api_filter(&all, &(struct vd_selection){.kind = api.kind}, &face.arena, &error),
              &error);
    ask(create, LIGHT("a"));
    assert_int_equal(face.result, VD_WRITE_CREATED);
    ask(list, NULL);
    assert_string_equal(vd_buf_text(&face.list), "a\n");
    api_do(&api, watch, &face.listed);
    ask(switch_on, "a");
    assert_int_equal(face.result, VD_WRITE_UPDATED);
    ask(switch_on, "a");
    assert_int_equal(face.result, VD_WRITE_UNCHANGED);
    ask(create, LIGHT("b"));
    api_wait_for(&face.events, 2);
    api_do(&api, leave, NULL);
    ask(create, LIGHT("c"));
    api_do(&api, watch, &face.passed); /* resumes: nothing comes twice, nothing is left out */
    api_wait_for(&face.events, 3);
    api_do(&api, leave, NULL);
    assert_string_equal(vd_buf_text(&face.watched), "MODIFIED a\nADDED b\nADDED c\n");
    ask(list, NULL);
    assert_string_equal(vd_buf_text(&face.list), "a\nb\nc\n");
    vd_buf_release(&face.list);
    vd_buf_release(&face.watched);
    vd_arena_release(&face.arena);
    vd_filter_unref(all);
    api_close(&api);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_face_needs_nothing_but_the_verbs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
