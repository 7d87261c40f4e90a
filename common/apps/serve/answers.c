#include "common/apps/serve/answers.h"

#include <stdlib.h>
#include <string.h>

#include "common/operations/operation/verify.h"
#include "common/apps/serve/status.h"

static size_t x_floats(const Answers *answers)
{
    return answers->model.count[answers->model.x];
}

static size_t y_floats(const Answers *answers)
{
    return answers->model.count[answers->model.y];
}

/* A model with the same seed has the same weights; the inputs have a seed of their own. */
static int make_inputs(Answers *answers, uint64_t seed, Error *error)
{
    const Model *model = &answers->model;
    Problem problem;
    Random random;
    float *tensor[OPERATION_TENSORS] = {0};
    int status = model_batch(model, ANSWERS_INPUTS, &problem, error);
    for (int i = 0; i < model->tensors && !status; i++) {
        size_t floats = model->count[i] * (model->weight[i] ? 1 : ANSWERS_INPUTS);
        tensor[i] = i == model->y ? NULL : malloc(floats * sizeof(float));
        if (i != model->y && !tensor[i]) status = error_set(error, "out of memory");
    }
    random_seed(&random, seed);
    if (!status) model->operation->generate(&problem, &random, tensor);
    answers->x = tensor[model->x];
    for (int i = 0; i < model->tensors; i++)
        if (i != model->x) free(tensor[i]);
    return status;
}

int answers_open(const char *text, uint64_t seed, Answers *answers, Error *error)
{
    char operation[80], shape[MODEL_TEXT], precision[20];
    static char weights[1100]; /* same size as in the model */
    *answers = (Answers){.mutex = PTHREAD_MUTEX_INITIALIZER};
    if (status_word(text, "operation", operation, sizeof operation) ||
        status_word(text, "shape", shape, sizeof shape) ||
        status_word(text, "weights", weights, sizeof weights) ||
        status_word(text, "precision", precision, sizeof precision) ||
        precision_find(precision, &answers->precision))
        return error_set(error, "the server does not report what it serves");
    if (!strcmp(weights, "-")) *weights = 0;
    if (model_open(operation, shape, status_number(text, "seed"), weights, &answers->model, error))
        return -1;
    int status = make_inputs(answers, seed, error);
    for (int i = 0; i < ANSWERS_VARIANTS && !status; i++) {
        answers->y[i] = calloc(ANSWERS_INPUTS * y_floats(answers), sizeof(float));
        if (!answers->y[i]) status = error_set(error, "out of memory");
    }
    if (status) answers_close(answers);
    return status;
}

void answers_close(Answers *answers)
{
    free(answers->x);
    for (int i = 0; i < ANSWERS_VARIANTS; i++)
        free(answers->y[i]);
    model_close(&answers->model);
}

const float *answers_input(const Answers *answers, int input)
{
    return answers->x + (size_t)input * x_floats(answers);
}

void answers_note(Answers *answers, int input, const float *y)
{
    size_t floats = y_floats(answers), bytes = floats * sizeof(float);
    pthread_mutex_lock(&answers->mutex);
    int at = 0;
    while (at < answers->variants[input] &&
           memcmp(answers->y[at] + (size_t)input * floats, y, bytes))
        at++;
    if (at == ANSWERS_VARIANTS) {
        answers->strange++;
    } else if (at == answers->variants[input]) {
        memcpy(answers->y[at] + (size_t)input * floats, y, bytes);
        answers->variants[input]++;
    }
    pthread_mutex_unlock(&answers->mutex);
}

static int judge_one(const Answers *answers, int input, int variant, Error *error)
{
    const Model *model = &answers->model;
    const float *tensor[OPERATION_TENSORS];
    Problem problem;
    Judgement judgement;
    Observed observed = {.output = answers->y[variant] + (size_t)input * y_floats(answers)};
    if (model_batch(model, 1, &problem, error)) return -1;
    for (int i = 0; i < model->tensors; i++)
        tensor[i] = model->weight[i];
    tensor[model->x] = answers_input(answers, input);
    if (verify_output(model->operation, &problem, answers->precision, tensor, &observed, &judgement,
                      error))
        return -1;
    Verdict verdict = judgement.verdict;
    judgement_free(&judgement);
    if (verdict.correct) return 0;
    return error_set(error, "an answer is wrong: %s is %.9g, expected %.9g", verdict.where,
                     verdict.got, verdict.expected);
}

int answers_judge(const Answers *answers, int *judged, Error *error)
{
    *judged = 0;
    for (int input = 0; input < ANSWERS_INPUTS; input++)
        for (int i = 0; i < answers->variants[input]; i++, (*judged)++)
            if (judge_one(answers, input, i, error)) return -1;
    if (!answers->strange) return 0;
    return error_set(error, "an input got more than %d different answers", ANSWERS_VARIANTS);
}
