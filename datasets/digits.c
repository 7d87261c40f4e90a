#include "datasets/digits.h"

#include <math.h>
#include <string.h>

enum { POINTS = 12, STROKES = 3, WAYS = 3, PIECES = 6 };

typedef struct Point {
    float x, y;
} Point;

/* Points in a box of 1 x 1, y downwards; a stroke is a smooth curve through all of its points. */
typedef struct Stroke {
    int points;
    Point point[POINTS];
} Stroke;

typedef struct Way {
    int strokes;
    Stroke stroke[STROKES];
} Way;

/* Random variation of an image.  Lengths in boxes. */
static const float MOVED = 0.05f;    /* a point, each coordinate, standard deviation */
static const float SLANT = 0.30f;    /* x per y, either side */
static const float TURN = 0.28f;     /* tangent of the largest angle of rotation */
static const float STRETCH = 0.25f;  /* relative change of width and height, either side */
static const float SHIFT = 2.5f;     /* pixels, either side */
static const float BOX = 18;         /* pixels */
static const float PEN_LEAST = 0.7f; /* half of the pen's width, pixels */
static const float PEN_MOST = 1.7f;
static const float NOISE = 0.10f; /* share of full ink, standard deviation, on every pixel */

static const Way way[DIGIT_CLASSES][WAYS] = {
    {{1,
      {{8,
        {{.5f, .03f},
         {.2f, .22f},
         {.14f, .6f},
         {.38f, .96f},
         {.7f, .86f},
         {.86f, .45f},
         {.7f, .1f},
         {.5f, .03f}}}}},
     {1,
      {{7,
        {{.62f, .05f},
         {.3f, .1f},
         {.16f, .55f},
         {.4f, .95f},
         {.78f, .75f},
         {.8f, .3f},
         {.45f, .08f}}}}},
     {1,
      {{8,
        {{.4f, .03f},
         {.12f, .3f},
         {.12f, .7f},
         {.5f, .97f},
         {.88f, .7f},
         {.88f, .3f},
         {.6f, .03f},
         {.35f, .06f}}}}}},
    {{1, {{2, {{.52f, .04f}, {.48f, .96f}}}}},
     {2, {{2, {{.3f, .26f}, {.54f, .04f}}}, {2, {{.54f, .04f}, {.5f, .96f}}}}},
     {3,
      {{2, {{.3f, .24f}, {.52f, .04f}}},
       {2, {{.52f, .04f}, {.5f, .95f}}},
       {2, {{.25f, .95f}, {.76f, .95f}}}}}},
    {{2,
      {{6, {{.18f, .26f}, {.4f, .04f}, {.76f, .16f}, {.7f, .46f}, {.4f, .74f}, {.14f, .95f}}},
       {2, {{.14f, .95f}, {.86f, .93f}}}}},
     {1,
      {{9,
        {{.2f, .24f},
         {.46f, .04f},
         {.76f, .2f},
         {.6f, .56f},
         {.3f, .92f},
         {.17f, .84f},
         {.38f, .78f},
         {.62f, .92f},
         {.9f, .86f}}}}},
     {2,
      {{5, {{.2f, .16f}, {.55f, .04f}, {.74f, .28f}, {.5f, .6f}, {.16f, .94f}}},
       {3, {{.16f, .94f}, {.5f, .88f}, {.86f, .96f}}}}}},
    {{2,
      {{4, {{.2f, .12f}, {.56f, .04f}, {.74f, .24f}, {.42f, .46f}}},
       {5, {{.42f, .46f}, {.8f, .6f}, {.76f, .86f}, {.45f, .97f}, {.14f, .85f}}}}},
     {3,
      {{2, {{.2f, .07f}, {.78f, .07f}}},
       {2, {{.78f, .07f}, {.44f, .4f}}},
       {5, {{.44f, .4f}, {.78f, .52f}, {.8f, .8f}, {.5f, .97f}, {.16f, .86f}}}}},
     {1,
      {{8,
        {{.22f, .16f},
         {.5f, .04f},
         {.72f, .22f},
         {.5f, .44f},
         {.6f, .5f},
         {.8f, .72f},
         {.5f, .96f},
         {.16f, .88f}}}}}},
    {{2, {{3, {{.3f, .05f}, {.17f, .56f}, {.84f, .54f}}}, {2, {{.68f, .1f}, {.62f, .97f}}}}},
     {3,
      {{2, {{.64f, .04f}, {.12f, .64f}}},
       {2, {{.12f, .64f}, {.88f, .64f}}},
       {2, {{.64f, .04f}, {.64f, .97f}}}}},
     {2,
      {{4, {{.22f, .06f}, {.18f, .46f}, {.42f, .54f}, {.78f, .42f}}},
       {2, {{.78f, .06f}, {.74f, .97f}}}}}},
    {{3,
      {{2, {{.78f, .06f}, {.3f, .07f}}},
       {2, {{.3f, .07f}, {.26f, .45f}}},
       {5, {{.26f, .45f}, {.6f, .4f}, {.8f, .66f}, {.6f, .93f}, {.17f, .88f}}}}},
     {2,
      {{2, {{.8f, .05f}, {.36f, .08f}}},
       {6, {{.36f, .08f}, {.24f, .4f}, {.56f, .44f}, {.76f, .7f}, {.5f, .97f}, {.16f, .84f}}}}},
     {1,
      {{7,
        {{.76f, .08f},
         {.34f, .08f},
         {.28f, .42f},
         {.66f, .46f},
         {.78f, .74f},
         {.46f, .96f},
         {.18f, .86f}}}}}},
    {{1,
      {{8,
        {{.7f, .05f},
         {.34f, .3f},
         {.17f, .7f},
         {.4f, .96f},
         {.76f, .85f},
         {.7f, .56f},
         {.42f, .54f},
         {.2f, .74f}}}}},
     {1,
      {{7,
        {{.46f, .03f},
         {.22f, .5f},
         {.26f, .9f},
         {.62f, .94f},
         {.74f, .66f},
         {.48f, .54f},
         {.24f, .72f}}}}},
     {1,
      {{8,
        {{.78f, .16f},
         {.5f, .05f},
         {.22f, .36f},
         {.2f, .8f},
         {.56f, .97f},
         {.8f, .74f},
         {.54f, .5f},
         {.22f, .64f}}}}}},
    {{2, {{2, {{.15f, .08f}, {.84f, .07f}}}, {3, {{.84f, .07f}, {.56f, .5f}, {.4f, .96f}}}}},
     {3,
      {{2, {{.15f, .08f}, {.84f, .07f}}},
       {3, {{.84f, .07f}, {.56f, .5f}, {.42f, .96f}}},
       {2, {{.34f, .52f}, {.76f, .48f}}}}},
     {2, {{3, {{.16f, .22f}, {.18f, .07f}, {.8f, .08f}}}, {2, {{.8f, .08f}, {.34f, .96f}}}}}},
    {{1,
      {{9,
        {{.5f, .5f},
         {.2f, .28f},
         {.5f, .04f},
         {.78f, .25f},
         {.5f, .5f},
         {.18f, .75f},
         {.5f, .97f},
         {.82f, .75f},
         {.5f, .5f}}}}},
     {1,
      {{9,
        {{.72f, .14f},
         {.36f, .06f},
         {.26f, .3f},
         {.6f, .54f},
         {.76f, .8f},
         {.46f, .97f},
         {.22f, .78f},
         {.5f, .5f},
         {.74f, .18f}}}}},
     {2,
      {{5, {{.5f, .46f}, {.24f, .25f}, {.5f, .04f}, {.76f, .25f}, {.5f, .46f}}},
       {5, {{.5f, .46f}, {.16f, .72f}, {.5f, .97f}, {.84f, .72f}, {.5f, .46f}}}}}},
    {{1,
      {{8,
        {{.76f, .28f},
         {.5f, .04f},
         {.22f, .28f},
         {.44f, .5f},
         {.72f, .36f},
         {.77f, .24f},
         {.73f, .62f},
         {.6f, .96f}}}}},
     {1,
      {{8,
        {{.74f, .2f},
         {.42f, .06f},
         {.2f, .3f},
         {.5f, .48f},
         {.76f, .22f},
         {.8f, .6f},
         {.56f, .96f},
         {.24f, .86f}}}}},
     {2,
      {{5, {{.72f, .26f}, {.48f, .04f}, {.24f, .26f}, {.48f, .48f}, {.72f, .26f}}},
       {2, {{.72f, .26f}, {.7f, .96f}}}}}},
};

/* Uniform in -1 to 1. */
static float either_side(Random *random)
{
    return (float)(2 * random_unit(random) - 1);
}

/* Approximately normal with variance 1: the sum of three uniform numbers, at most 3. */
static float bell(Random *random)
{
    return either_side(random) + either_side(random) + either_side(random);
}

/* Affine map from the box to pixels: x' = xx x + xy y + x0, and y' in the same way. */
typedef struct Placing {
    float xx, xy, yx, yy, x0, y0;
} Placing;

static Placing placing_draw(Random *random)
{
    float width = BOX * 0.8f * (1 + STRETCH * either_side(random));
    float height = BOX * (1 + STRETCH * 0.6f * either_side(random));
    float slant = SLANT * either_side(random), tangent = TURN * either_side(random);
    float c = 1 / sqrtf(1 + tangent * tangent), s = tangent * c;
    Placing p = {.xx = c * width,
                 .xy = -c * slant * height - s * height,
                 .yx = s * width,
                 .yy = c * height - s * slant * height};
    /* The centre of the box is mapped to the centre of the image, plus the shift. */
    p.x0 = DIGIT_SIDE * 0.5f - 0.5f * (p.xx + p.xy) + SHIFT * either_side(random);
    p.y0 = DIGIT_SIDE * 0.5f - 0.5f * (p.yx + p.yy) + SHIFT * either_side(random);
    return p;
}

/* Ink of a straight line from a to b: full within the pen's half width, none half a pixel
 * further. */
static void line_draw(float ink[DIGIT_PIXELS], Point a, Point b, float pen)
{
    float dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy, reach = pen + 1;
    int left = (int)(fminf(a.x, b.x) - reach), right = (int)(fmaxf(a.x, b.x) + reach) + 1;
    int top = (int)(fminf(a.y, b.y) - reach), bottom = (int)(fmaxf(a.y, b.y) + reach) + 1;
    for (int row = top < 0 ? 0 : top; row < DIGIT_SIDE && row <= bottom; row++)
        for (int column = left < 0 ? 0 : left; column < DIGIT_SIDE && column <= right; column++) {
            float x = column + 0.5f - a.x, y = row + 0.5f - a.y;
            float t = length2 > 0 ? (x * dx + y * dy) / length2 : 0;
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            x -= t * dx, y -= t * dy;
            float covered = pen + 0.5f - sqrtf(x * x + y * y);
            covered = covered > 1 ? 1 : covered;
            float *at = &ink[row * DIGIT_SIDE + column];
            if (covered > *at) *at = covered;
        }
}

/* Smooth curve through p[0..3] between p[1] and p[2] (Catmull and Rom, 1974), at t of 0 to 1. */
static float between(float p0, float p1, float p2, float p3, float t)
{
    float slope1 = 0.5f * (p2 - p0), slope2 = 0.5f * (p3 - p1), d = p2 - p1;
    return p1 + t * (slope1 + t * (3 * d - 2 * slope1 - slope2 + t * (slope1 + slope2 - 2 * d)));
}

static void stroke_draw(float ink[DIGIT_PIXELS], const Point *point, int points, float pen)
{
    for (int i = 0; i + 1 < points; i++) {
        const Point *p0 = &point[i > 0 ? i - 1 : 0], *p1 = &point[i], *p2 = &point[i + 1];
        const Point *p3 = &point[i + 2 < points ? i + 2 : i + 1];
        Point from = *p1;
        for (int piece = 1; piece <= PIECES; piece++) {
            float t = (float)piece / PIECES;
            Point to = {between(p0->x, p1->x, p2->x, p3->x, t),
                        between(p0->y, p1->y, p2->y, p3->y, t)};
            line_draw(ink, from, to, pen);
            from = to;
        }
    }
}

void digit_draw(int digit, Random *random, uint8_t image[DIGIT_PIXELS])
{
    float ink[DIGIT_PIXELS] = {0};
    const Way *drawn = &way[digit][random_range(random, 0, WAYS - 1)];
    Placing place = placing_draw(random);
    float pen = PEN_LEAST + (PEN_MOST - PEN_LEAST) * (float)random_unit(random);
    float strength = 0.7f + 0.3f * (float)random_unit(random);
    for (int i = 0; i < drawn->strokes; i++) {
        Point point[POINTS];
        for (int j = 0; j < drawn->stroke[i].points; j++) {
            float x = drawn->stroke[i].point[j].x + MOVED * bell(random);
            float y = drawn->stroke[i].point[j].y + MOVED * bell(random);
            point[j] = (Point){place.xx * x + place.xy * y + place.x0,
                               place.yx * x + place.yy * y + place.y0};
        }
        stroke_draw(ink, point, drawn->stroke[i].points, pen);
    }
    for (int i = 0; i < DIGIT_PIXELS; i++) {
        float value = 255 * (strength * ink[i] + NOISE * bell(random)) + 0.5f;
        image[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}

void digits_generate(uint64_t count, Random *random, uint8_t *image, uint8_t *label)
{
    for (uint64_t i = 0; i < count; i++) {
        label[i] = (uint8_t)random_range(random, 0, DIGIT_CLASSES - 1);
        digit_draw(label[i], random, image + i * DIGIT_PIXELS);
    }
}
