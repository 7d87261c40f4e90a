/* simt_touch.c - records of the memory that launches access (SimtTouch). */
#include "common/simulator/launch/simt.h"

#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/core.h"

static uint64_t page_words(const SimtTouch *touch)
{
    return touch->groups / SIMT_TOUCH_PAGE / 64 + 1;
}

int simt_touch_open(const SimtGpu *gpu, SimtTouch *touch)
{
    uint64_t groups = gpu->memory.next / 4 / 64 + 1;
    touch->groups = (groups + SIMT_TOUCH_PAGE - 1) / SIMT_TOUCH_PAGE * SIMT_TOUCH_PAGE;
    touch->pages = calloc(page_words(touch), sizeof *touch->pages);
    for (int kind = 0; kind < 3; kind++)
        touch->bits[kind] = calloc(touch->groups, sizeof *touch->bits[kind]);
    touch->atomics = calloc(1, sizeof *touch->atomics);
    if (touch->pages && touch->atomics && touch->bits[0] && touch->bits[1] && touch->bits[2])
        return 0;
    simt_touch_close(touch);
    return -1;
}

static uint64_t partial_page(const SimtTouch *touch)
{
    return touch->groups / SIMT_TOUCH_PAGE;
}

int simt_touch_renew(const SimtGpu *gpu, SimtTouch *touch)
{
    if (touch->groups <= gpu->memory.next / 4 / 64) {
        simt_touch_close(touch);
        return simt_touch_open(gpu, touch);
    }
    *touch->atomics = 0;
    for (uint64_t i = 0; i < page_words(touch); i++) {
        for (uint64_t m = touch->pages[i]; m; m &= m - 1) {
            uint64_t page = i * 64 + (uint64_t)__builtin_ctzll(m);
            if (page == partial_page(touch)) continue;
            for (int kind = 0; kind < 3; kind++)
                memset(touch->bits[kind] + page * SIMT_TOUCH_PAGE, 0,
                       SIMT_TOUCH_PAGE * sizeof *touch->bits[kind]);
        }
        touch->pages[i] = 0;
    }
    return 0;
}

uint64_t simt_touch_join(SimtTouch *touch, const SimtTouch *earlier)
{
    uint64_t looked = 0;
    *touch->atomics |= *earlier->atomics;
    for (uint64_t i = 0; i < page_words(earlier) && i < page_words(touch); i++) {
        touch->pages[i] |= earlier->pages[i];
        for (uint64_t m = earlier->pages[i]; m; m &= m - 1) {
            uint64_t page = i * 64 + (uint64_t)__builtin_ctzll(m);
            if (page >= partial_page(earlier) || page >= partial_page(touch)) continue;
            for (uint64_t at = page * SIMT_TOUCH_PAGE; at < (page + 1) * SIMT_TOUCH_PAGE; at++)
                for (int kind = 0; kind < 3; kind++)
                    touch->bits[kind][at] |= earlier->bits[kind][at];
            looked += 6 * SIMT_TOUCH_PAGE * sizeof *touch->bits[0];
        }
    }
    return looked;
}

int simt_touch_commutes(uint32_t atomics)
{
    return !(atomics & SIMT_TOUCH_FETCHES) && !(atomics & (atomics - 1));
}

/* Whether both have atomics on one word. */
static int shares_atomics(const SimtTouch *touch, const SimtTouch *earlier)
{
    const uint64_t *a = touch->bits[SIMT_TOUCH_ATOMIC], *b = earlier->bits[SIMT_TOUCH_ATOMIC];
    for (uint64_t i = 0; i < touch->groups && i < earlier->groups; i++)
        if (a[i] & b[i]) return 1;
    return 0;
}

int simt_touch_hides_order(const SimtTouch *touch, const SimtTouch *earlier)
{
    return *touch->atomics && *earlier->atomics &&
           !simt_touch_commutes(*touch->atomics | *earlier->atomics) &&
           shares_atomics(touch, earlier);
}

int simt_touch_is_partial(const SimtTouch *touch)
{
    uint64_t page = partial_page(touch);
    return touch->groups && (touch->pages[page / 64] >> page % 64 & 1);
}

void simt_touch_close(SimtTouch *touch)
{
    for (int kind = 0; kind < 3; kind++)
        free(touch->bits[kind]);
    free(touch->pages);
    free(touch->atomics);
    *touch = (SimtTouch){0};
}
