/* test_networks.c - the layer tables, compared with published counts: layers, weights and
 * multiply-adds of one image. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/operations/conv/conv_problem.h"
#include "datasets/vgg19.h"

/* Weights: of all convolutions, without biases.  All but LeNet-5's follow from the published totals
 * without other parameters: VGG-16's 138,357,544 are 123,642,856 of its fully connected layers,
 * 4,224 biases, and these; the residual networks' totals also include their last layer and their
 * normalisations.  Multiply-adds: the sum over layers of N K P Q C R S.  That is 15.3 and 19.5
 * thousand million for the two VGGs, 4.1 for ResNet-50 with its strides in the 3x3 layers, 1.6 for
 * GoogLeNet. */
static const struct Network {
    const char *name;
    int layers;
    double weights, millions;
} network[] = {
    {"lenet-5", 3, 5 * 5 * (6 + 6 * 16 + 16 * 120), 0.4056},
    {"alexnet", 5, 61100840 - 58631144 - 1152, 655.6},
    {"vgg-16", 13, 138357544 - 123642856 - 4224, 15347},
    {"vgg-19", 16, 143667240 - 123642856 - 5504, 19508},
    {"resnet-50", 53, 25557032 - 2049000 - 53120, 4087},
    {"resnet-56", 55, 853018 - 650 - 4064, 125.5},
    {"googlenet", 57, 6998552 - 1025000 - 7280, 1582},
};

/* The next line of a table: 1, or 0 at its end. */
static int next_layer(FILE *file, char name[64], ConvProblem *problem, int *times)
{
    char line[256], shape[200];
    Problem parsed;
    Error error;
    if (!fgets(line, sizeof line, file)) return 0;
    if (sscanf(line, "%63[^\t]\t%199[^\t]\t%d", name, shape, times) != 3)
        fail_msg("'%s' is no layer", line);
    if (conv_parse(shape, &parsed, &error)) fail_msg("%s: %s", name, error.text);
    *problem = conv_unpack(&parsed);
    return 1;
}

static FILE *table_open(const char *name)
{
    char path[64], head[64];
    snprintf(path, sizeof path, "datasets/networks/%s.tsv", name);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("%s is not there", path);
    assert_non_null(fgets(head, sizeof head, file));
    assert_string_equal(head, "name\tshape\ttimes\n");
    return file;
}

static void totals_equal_the_published_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof network / sizeof *network; i++) {
        FILE *file = table_open(network[i].name);
        ConvProblem p;
        char name[64];
        int layers = 0, times;
        double weights = 0, products = 0;
        while (next_layer(file, name, &p, &times)) {
            double of_layer = (double)p.K * p.C * p.R * p.S;
            layers += times;
            weights += times * of_layer;
            products += times * of_layer * p.N * p.P * p.Q;
        }
        fclose(file);
        assert_int_equal(layers, network[i].layers);
        assert_true(weights == network[i].weights);
        assert_float_equal(products / 1e6 / network[i].millions, 1, 1e-3);
    }
}

/* Feature maps and table describe the same network. */
static void vgg_19_is_the_same_twice(void **state)
{
    FILE *file = table_open("vgg-19");
    ConvProblem p;
    char name[64];
    int layer = 0, times;
    (void)state;
    while (next_layer(file, name, &p, &times)) {
        assert_string_equal(name, vgg19_layer[layer].name);
        for (int i = 0; i < times; i++, layer++) {
            assert_int_equal(p.C, vgg19_layer[layer].C);
            assert_int_equal(p.H, vgg19_layer[layer].size);
            assert_int_equal(p.K, vgg19_layer[layer].K);
        }
    }
    assert_int_equal(layer, VGG19_LAYERS);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_equal_the_published_ones),
        cmocka_unit_test(vgg_19_is_the_same_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
