#include "datasets/feature_maps.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 512, PATH = 1024 };
static const double MOST_VALUES = 1u << 30;

static FILE *maps_file(const char *directory, const char *name, const char *mode, char path[PATH],
                       Error *error)
{
    snprintf(path, PATH, "%s/%s", directory, name);
    FILE *file = fopen(path, mode);
    if (!file) error_set(error, "%s: %s", path, strerror(errno));
    return file;
}

/* The next non-blank line, without its end; 0 at the end of the file, -1 if it is longer than
 * LINE. */
static int next_line(FILE *file, char text[LINE], int *number)
{
    while (fgets(text, LINE, file)) {
        size_t length = strlen(text);
        ++*number;
        if (length == LINE - 1 && text[length - 1] != '\n') return -1;
        while (length && isspace((unsigned char)text[length - 1]))
            text[--length] = '\0';
        if (length) return 1;
    }
    return 0;
}

static int read_list(FeatureMaps *maps, Error *error)
{
    char path[PATH], text[LINE];
    int number = 0, more;
    FILE *file = maps_file(maps->directory, "file_list", "r", path, error);
    if (!file) return -1;
    while ((more = next_line(file, text, &number)) > 0) {
        const char *name = text + strspn(text, " \t");
        if (maps->layers == MAPS_LAYERS || strlen(name) >= MAPS_NAME || strchr(name, '/') ||
            *name == '.') {
            fclose(file);
            return error_set(
                error, "%s:%d: \"%.60s\" is no plain file name below %d characters, or the %dth",
                path, number, name, MAPS_NAME, MAPS_LAYERS + 1);
        }
        strcpy(maps->layer[maps->layers++].file, name);
    }
    fclose(file);
    if (more < 0) return error_set(error, "%s:%d: the line is too long", path, number);
    return maps->layers ? 0 : error_set(error, "%s names no file", path);
}

/* The numbers of a line such as "(1, 64, 14, 14)", "64 14 14", "14x14"; returns their number, or
 * -1. */
static int read_numbers(const char *text, long number[4])
{
    int count = 0;
    for (const char *at = text; *at;) {
        if (isspace((unsigned char)*at) || strchr("()[],xX", *at)) {
            at++;
            continue;
        }
        char *end;
        if (count == 4 || !isdigit((unsigned char)*at)) return -1;
        errno = 0;
        number[count++] = strtol(at, &end, 10);
        if (errno || number[count - 1] < 1 || number[count - 1] > INT_MAX) return -1;
        at = end;
    }
    return count;
}

static int read_shapes(FeatureMaps *maps, Error *error)
{
    char path[PATH], text[LINE];
    int number = 0, more, layer = 0;
    FILE *file = maps_file(maps->directory, "conv_shape", "r", path, error);
    if (!file) return -1;
    while ((more = next_line(file, text, &number)) > 0 && layer < maps->layers) {
        long size[4];
        int count = read_numbers(text, size), at = count;
        struct FeatureLayer *to = &maps->layer[layer++];
        if (count < 2 || (count == 4 && size[0] != 1)) break;
        to->W = (int)size[--at];
        to->H = (int)size[--at];
        to->C = at ? (int)size[--at] : 1;
        if ((double)to->C * to->H * to->W > MOST_VALUES) break;
        if (layer == maps->layers) {
            fclose(file);
            return 0;
        }
    }
    fclose(file);
    if (!more)
        return error_set(error, "%s has %d sizes for the %d files of file_list", path, layer,
                         maps->layers);
    return error_set(error,
                     "%s:%d: \"%.60s\" is no size: H W, C H W or 1 C H W, at most 2^30 values",
                     path, number, text);
}

int feature_maps_open(const char *directory, FeatureMaps *maps, Error *error)
{
    memset(maps, 0, sizeof *maps);
    if (strlen(directory) >= sizeof maps->directory)
        return error_set(error, "the directory's name is too long");
    strcpy(maps->directory, directory);
    return read_list(maps, error) || read_shapes(maps, error) ? -1 : 0;
}

int feature_maps_find(const char *path, FeatureMaps *maps, Error *error)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char directory[sizeof maps->directory];
    int length = slash ? (int)(slash - path) : 0;
    if (length >= (int)sizeof directory)
        return error_set(error, "the directory's name is too long");
    snprintf(directory, sizeof directory, "%.*s", length, path);
    if (!length) strcpy(directory, slash ? "/" : ".");
    if (feature_maps_open(directory, maps, error)) return -1;
    for (int i = 0; i < maps->layers; i++)
        if (!strcmp(maps->layer[i].file, name)) return i;
    return error_set(error, "%s/file_list does not name '%.100s'", directory, name);
}

/* The next number; 1, 0 at the end, -1 for other text. */
static int next_value(FILE *file, float *value)
{
    char word[64];
    int letter, length = 0;
    while ((letter = getc(file)) != EOF && (isspace(letter) || letter == ','))
        ;
    for (; letter != EOF && !isspace(letter) && letter != ','; letter = getc(file)) {
        if (length == sizeof word - 1) return -1;
        word[length++] = (char)letter;
    }
    if (!length) return 0;
    char *end;
    word[length] = '\0';
    *value = strtof(word, &end);
    return *end || !isfinite(*value) ? -1 : 1;
}

float *feature_maps_read(const FeatureMaps *maps, int index, Error *error)
{
    const struct FeatureLayer *layer = &maps->layer[index];
    size_t wanted = (size_t)layer->C * layer->H * layer->W, count = 0;
    char path[PATH];
    FILE *file = maps_file(maps->directory, layer->file, "r", path, error);
    if (!file) return NULL;
    float *value = malloc(wanted * sizeof *value), one;
    int more = -2;
    while (value && (more = next_value(file, &one)) > 0 && count < wanted)
        value[count++] = one;
    fclose(file);
    if (value && !more && count == wanted) return value;
    free(value);
    if (!value)
        error_set(error, "no memory for %zu values of %s", wanted, path);
    else if (more < 0)
        error_set(error, "%s: value %zu is no finite number", path, count + 1);
    else
        error_set(error, "%s has %s than the %zu values of %dx%dx%d in conv_shape", path,
                  more ? "more" : "fewer", wanted, layer->C, layer->H, layer->W);
    return NULL;
}

/* ---- writing ---- */

static int close_all_written(FILE *file, const char *path, Error *error)
{
    int failed = ferror(file);
    failed = fclose(file) || failed;
    if (!failed) return 0;
    error_set(error, "%s: %s", path, strerror(errno));
    remove(path);
    return -1;
}

static int write_layer(const FeatureMaps *maps, int index, const float *value, Error *error)
{
    const struct FeatureLayer *layer = &maps->layer[index];
    size_t count = (size_t)layer->C * layer->H * layer->W;
    char path[PATH];
    FILE *file = maps_file(maps->directory, layer->file, "w", path, error);
    if (!file) return -1;
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%.9g%c", value[i], (i + 1) % layer->W ? ' ' : '\n');
    return close_all_written(file, path, error);
}

int feature_maps_write(const FeatureMaps *maps, const float *const *values, Error *error)
{
    char list_path[PATH], shape_path[PATH];
    for (int i = 0; i < maps->layers; i++)
        if (write_layer(maps, i, values[i], error)) return -1;
    FILE *list = maps_file(maps->directory, "file_list", "w", list_path, error);
    if (!list) return -1;
    for (int i = 0; i < maps->layers; i++)
        fprintf(list, "%s\n", maps->layer[i].file);
    if (close_all_written(list, list_path, error)) return -1;
    FILE *shape = maps_file(maps->directory, "conv_shape", "w", shape_path, error);
    if (!shape) return -1;
    for (int i = 0; i < maps->layers; i++)
        fprintf(shape, "%d %d %d\n", maps->layer[i].C, maps->layer[i].H, maps->layer[i].W);
    return close_all_written(shape, shape_path, error);
}

double feature_maps_sparsity(const float *value, size_t count)
{
    size_t zeros = 0;
    for (size_t i = 0; i < count; i++)
        zeros += value[i] == 0;
    return count ? (double)zeros / (double)count : 0;
}

double feature_maps_theta(double sparsity, int H, int W)
{
    return sparsity / ((double)H * W);
}
