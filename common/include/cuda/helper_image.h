/* helper_image.h - comparisons of results in programs derived from NVIDIA's samples.  Reading and
 * writing of image files is not supported. */
#ifndef SIMULATE_HELPER_IMAGE_H
#define SIMULATE_HELPER_IMAGE_H

#include <cmath>
#include <cstdio>

/* Whether the L2 norm of the difference is below epsilon times the norm of the reference. */
inline bool sdkCompareL2fe(const float *reference, const float *data, const unsigned count,
                           const float epsilon)
{
    double error = 0, norm = 0;
    for (unsigned i = 0; i < count; i++) {
        double difference = static_cast<double>(reference[i]) - data[i];
        error += difference * difference;
        norm += static_cast<double>(reference[i]) * reference[i];
    }
    if (norm < 1e-14) {
        std::fprintf(stderr, "sdkCompareL2fe: the reference's L2 norm is 0\n");
        return false;
    }
    return std::sqrt(error) / std::sqrt(norm) < epsilon;
}

/* Whether at most `threshold` (a share, 0 to 1) of the elements differ by more than epsilon. */
template <class T, class S>
inline bool compareData(const T *reference, const T *data, const unsigned count, const S epsilon,
                        const float threshold)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < count; i++) {
        double difference = static_cast<double>(reference[i]) - static_cast<double>(data[i]);
        wrong += !(std::fabs(difference) <= static_cast<double>(epsilon));
    }
    return threshold == 0 ? wrong == 0 : static_cast<float>(wrong) <= threshold * count;
}

#endif
