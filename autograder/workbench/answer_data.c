#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"
#include "autograder/workbench/answer.h"
#include "autograder/workbench/command.h"
#include "autograder/workbench/first_answers.h"
#include "autograder/workbench/lab_json.h"
#include "autograder/workbench/playground.h"
#include "autograder/workbench/source.h"
#include "common/base/intake.h"

/* Takes over `object`. */
static void answer_json(Answer *answer, unsigned status, json_t *object)
{
    answer->status = status;
    answer->type = "application/json";
    answer->body = object ? json_dumps(object, JSON_COMPACT) : NULL;
    answer->bytes = answer->body ? strlen(answer->body) : 0;
    if (!answer->body) answer->status = 500;
    json_decref(object);
}

void answer_error(Answer *answer, unsigned status, const char *text)
{
    Error clean; /* JSON is UTF-8; the text may contain bytes of the request */
    text_set(clean.text, sizeof clean.text, "%s", text);
    intake_clean(clean.text);
    answer_json(answer, status, json_pack("{s:s}", "error", clean.text));
}

/* The subject of a request: a lab, or with `lab` NULL a program of the playground. */
typedef struct Target {
    const Lab *lab;
    char program[1300]; /* its path */
    const char *name;   /* the program's */
} Target;

/* The file that `which` names: "source", and of a lab also "predict". */
static int target_file(const Workbench *bench, const Target *target, const char *which,
                       char *folder, char *name, size_t bytes)
{
    if (target->lab) return lab_file_name(bench, target->lab, which, folder, name, bytes);
    playground_folder(bench, folder, bytes);
    text_set(name, bytes, "%s", target->name);
    return strcmp(which, "source") ? -1 : 0;
}

static void source_put(const Workbench *bench, const Target *target, const char *which,
                       const json_t *request, Answer *answer)
{
    char folder[1300], name[1300], digest[DIGEST_CHARACTERS + 1] = "";
    const char *text = json_string_value(json_object_get(request, "text"));
    const char *base = json_string_value(json_object_get(request, "base"));
    Error error;
    if (!text || !base || strlen(text) != json_string_length(json_object_get(request, "text")) ||
        target_file(bench, target, which, folder, name, sizeof folder)) {
        answer_error(answer, 400, "a save needs text and base, for source or predict");
        return;
    }
    if (!strcmp(which, "predict") && first_answers_check(bench, target->lab, text, &error)) {
        answer_error(answer, 423, error.text);
        return;
    }
    switch (source_save(folder, name, base, text, digest, &error)) {
    case SOURCE_SAVED:
        answer_json(answer, 200, json_pack("{s:s}", "digest", digest));
        break;
    case SOURCE_CONFLICT:
        answer_json(answer, 409,
                    json_pack("{s:s, s:s}", "error",
                              "not saved: another program has changed the file", "digest", digest));
        break;
    case SOURCE_FAILED:
        answer_error(answer, 507, error.text);
        break;
    }
}

static void job_post(const Workbench *bench, const Target *target, const json_t *request,
                     Answer *answer)
{
    Command command;
    Error error;
    char id[JOB_ID_CHARACTERS + 1];
    if (command_make(bench, target->lab, target->program, request, &command, &error)) {
        answer_error(answer, 400, error.text);
        return;
    }
    if (*command.folder && directory_make(command.folder)) {
        error_set(&error, "%s: %m", command.folder);
        answer_error(answer, 507, error.text);
    } else if (command.is_dialog
                   ? job_start_dialog(bench->jobs, command.argv, id, &error)
                   : job_start(bench->jobs, command.argv, command.folder, id, &error)) {
        answer_error(answer, 429, error.text);
    } else {
        answer_json(answer, 200, json_pack("{s:s}", "id", id));
    }
}

/* Locks the answers that were given; the answer is the lab, with its first answers. */
static void measured_post(const Workbench *bench, const Target *target, Answer *answer)
{
    Error error;
    if (target->lab && first_answers_lock(bench, target->lab, &error))
        answer_error(answer, 507, error.text);
    else
        answer_json(answer, 200, target->lab ? lab_json(bench, target->lab) : json_object());
}

static void target_change(const Workbench *bench, const Target *target, const Request *request,
                          const char *part, Answer *answer)
{
    json_t *body = json_loads(request->body, 0, NULL);
    if (!json_is_object(body))
        answer_error(answer, 400, "the request has no JSON object");
    else if (!strcmp(request->method, "PUT"))
        source_put(bench, target, part, body, answer);
    else if (!strcmp(request->method, "POST") && !strcmp(part, "jobs"))
        job_post(bench, target, body, answer);
    else if (!strcmp(request->method, "POST") && !strcmp(part, "measured"))
        measured_post(bench, target, answer);
    else
        answer_error(answer, 404, "there is no such request");
    json_decref(body);
}

static void lab_answer(const Workbench *bench, const Request *request, const char *name,
                       const char *part, Answer *answer)
{
    Error error;
    Target target = {.lab = catalog_find(&bench->catalog, name, &error), .name = ""};
    if (!target.lab)
        answer_error(answer, 404, error.text);
    else if (!strcmp(request->method, "GET") && !*part)
        answer_json(answer, 200, lab_json(bench, target.lab));
    else if (!strcmp(request->method, "GET") && !strcmp(part, "state"))
        answer_json(answer, 200, lab_state_json(bench, target.lab));
    else
        target_change(bench, &target, request, part, answer);
}

static void program_answer(const Workbench *bench, const Request *request, const char *name,
                           const char *part, Answer *answer)
{
    Target target = {.lab = NULL, .name = name};
    if (!playground_is_name(name)) {
        answer_error(answer, 404, "a program's name is letters, digits, - and _, and then .cu");
        return;
    }
    playground_path(bench, name, target.program, sizeof target.program);
    if (!strcmp(request->method, "GET") && !*part)
        answer_json(answer, 200, program_json(bench, name));
    else if (!strcmp(request->method, "GET") && !strcmp(part, "state"))
        answer_json(answer, 200, program_state_json(bench, name));
    else
        target_change(bench, &target, request, part, answer);
}

/* The list of programs, or a new one. */
static void playground_answer(const Workbench *bench, const Request *request, Answer *answer)
{
    Error error;
    if (!strcmp(request->method, "POST")) {
        json_t *body = json_loads(request->body, 0, NULL);
        const char *name = json_string_value(json_object_get(body, "name"));
        int fails = playground_create(bench, name ? name : "", &error);
        json_decref(body);
        if (fails) {
            answer_error(answer, 400, error.text);
            return;
        }
    }
    answer_json(answer, 200, json_pack("{s:o}", "programs", playground_json(bench)));
}

/* Another program's output may end in the middle of a UTF-8 sequence: the page asks again from the
 * byte where this part ends. */
static size_t whole_sequences(const char *text)
{
    size_t bytes = strlen(text), back = 0;
    while (back < 3 && back < bytes && (text[bytes - 1 - back] & 0xc0) == 0x80)
        back++;
    if (back < bytes && (unsigned char)text[bytes - 1 - back] >= 0xc0) return bytes - back - 1;
    return bytes;
}

static void job_answer(const Workbench *bench, const Request *request, const char *id,
                       Answer *answer)
{
    static const char *const STATES[] = {"waiting", "running", "ended", "cancelled"};
    JobView view;
    if (!strcmp(request->method, "DELETE")) {
        int missing = job_cancel(bench->jobs, id);
        answer_json(answer, missing ? 404 : 200, json_object());
        return;
    }
    if (strcmp(request->method, "GET") != 0 || job_view(bench->jobs, id, request->from, &view)) {
        answer_error(answer, 404, "there is no such job any more");
        return;
    }
    size_t end = request->from + strlen(view.text);
    if (view.state <= JOB_RUNNING) {
        end = request->from + whole_sequences(view.text);
        view.text[end - request->from] = 0;
    }
    intake_clean(view.text);
    answer_json(answer, 200,
                json_pack("{s:s, s:i, s:I, s:s}", "state", STATES[view.state], "status",
                          view.status, "bytes", (json_int_t)end, "text", view.text));
    free(view.text);
}

static void input_answer(const Workbench *bench, const Request *request, const char *id,
                         Answer *answer)
{
    json_t *body = json_loads(request->body, 0, NULL);
    const char *text = json_string_value(json_object_get(body, "text"));
    if (!text || strlen(text) > 1000 || strcmp(request->method, "POST") != 0)
        answer_error(answer, 400, "an input is a POST with a text of at most 1,000 bytes");
    else if (job_input(bench->jobs, id, text))
        answer_error(answer, 409, "the program takes no input now");
    else
        answer_json(answer, 200, json_object());
    json_decref(body);
}

void answer_data(const Workbench *bench, const Request *request, Answer *answer)
{
    char words[256], *rest = words;
    text_set(words, sizeof words, "%s", request->path + strlen("/api/"));
    const char *kind = strsep(&rest, "/"), *name = strsep(&rest, "/"), *part = rest ? rest : "";
    if (!strcmp(kind, "labs") && !name && !strcmp(request->method, "GET"))
        answer_json(answer, 200, labs_json(bench));
    else if (!strcmp(kind, "labs") && name)
        lab_answer(bench, request, name, part, answer);
    else if (!strcmp(kind, "playground") && !name)
        playground_answer(bench, request, answer);
    else if (!strcmp(kind, "playground"))
        program_answer(bench, request, name, part, answer);
    else if (!strcmp(kind, "jobs") && name && !strcmp(part, "input"))
        input_answer(bench, request, name, answer);
    else if (!strcmp(kind, "jobs") && name && !*part)
        job_answer(bench, request, name, answer);
    else
        answer_error(answer, 404, "there is no such request");
}
