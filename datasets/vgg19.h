/* vgg19.h - the 16 convolution layers of VGG-19 (Simonyan and Zisserman, 2014, configuration E).
 * They have 3x3 filters, padding 1, stride 1, and K of one layer is C of the next.  A test compares
 * the sizes with networks/vgg-19.tsv.
 *
 * Xu, Fan et al. show the sparsity of the layers' inputs in figure 2, without numbers; the text
 * says "more than 0.7 in the deep network", and that it grows with depth.  `zeros` grows linearly:
 * none in the image, 40 to 85 percent after it. */
#ifndef CONVLAB_DATASETS_VGG19_H
#define CONVLAB_DATASETS_VGG19_H

enum { VGG19_LAYERS = 16 };

typedef struct Vgg19Layer {
    const char *name; /* "conv5_1" */
    int C, size, K;   /* channels and filters; maps are size x size */
    int zeros;        /* zeros in the input, percent */
} Vgg19Layer;

extern const Vgg19Layer vgg19_layer[VGG19_LAYERS];

#endif
