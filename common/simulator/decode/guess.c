/* guess.c - plain loads of a word that is then the target of an atomicCAS.
 *
 * A loop of atomicCAS can implement any atomic operation; CUDA's guide shows it for doubles. It
 * starts with a plain load, while other threads write that word with their atomics. This race is
 * harmless, because the CAS fails if the loaded value has changed. */
#include <stdlib.h>

#include "common/simulator/core/code_map.h"
#include "common/simulator/decode/decoder.h"

static int is_cas(const Ins *ins)
{
    return ins->op == OP_ATOM && (ins->aux & 15) == ATOM_CAS;
}

/* A bulk copy to the L2 alone has no register for where it goes. */
static int is_plain_load(const Ins *ins)
{
    return (ins->class == CLASS_LOAD || ins->class == CLASS_SHARED_LOAD) && !ins->order &&
           ins->a != NO_SLOT;
}

/* Registers with one address in them may be several: of a variable's nvcc keeps one for the CAS and
 * names the variable in the load.  So a register that one instruction writes, which moves or adds a
 * constant, stands for where that came from. */
typedef struct Place {
    uint32_t root; /* a register, or NO_SLOT: of constants alone */
    int64_t offset;
    uint8_t space;
} Place;

enum { STEPS_BACK = 8, MANY = 0xffffffff };

typedef struct Guesses {
    const Decoder *d;
    uint32_t slots;
    uint32_t *writer;   /* per register: the number of its only writer plus 1, or MANY */
    uint32_t *constant; /* per register that is a constant: its number plus 1 */
    uint32_t *next;     /* per root: number of the next CAS plus 1 */
    uint32_t *fixed;    /* the same for constants, by their last bits */
} Guesses;

static void writers_find(Guesses *g)
{
    for (uint32_t i = 0; i < g->d->count; i++) {
        const Ins *ins = &g->d->code[i];
        int store = (ins->class == CLASS_STORE || ins->class == CLASS_SHARED_STORE);
        const uint32_t slot[] = {ins->d, ins->v[0], ins->v[1], ins->v[2], ins->v[3]};
        for (int k = 0; k < 5 && !store; k++) {
            if (slot[k] == NO_SLOT || slot[k] / 4 >= g->slots) continue;
            uint32_t *writer = &g->writer[slot[k] / 4];
            *writer = *writer ? MANY : i + 1;
        }
    }
    for (uint32_t i = 0; i < g->d->kernel->constants; i++)
        g->constant[g->d->kernel->constant[i].slot / 4] = i + 1;
}

/* The constant's number and 1; 0: it is none, or is not yet known. */
static uint32_t fixed_of(const Guesses *g, uint32_t slot)
{
    uint32_t number = slot == NO_SLOT ? 0 : g->constant[slot / 4];
    return number && !g->d->kernel->constant[number - 1].dynamic ? number : 0;
}

static Place place_of(const Guesses *g, const Ins *access)
{
    const ConstSlot *constant = g->d->kernel->constant;
    Place place = {access->a, access->imm, access->space};
    for (uint32_t step = 0; step < STEPS_BACK; step++) {
        uint32_t writer = g->writer[place.root / 4], number = fixed_of(g, place.root);
        if (number)
            return (Place){NO_SLOT, place.offset + (int64_t)constant[number - 1].bits, place.space};
        const Ins *ins = writer && writer != MANY ? &g->d->code[writer - 1] : NULL;
        if (!ins || ins->guard != NO_SLOT || ins->a == NO_SLOT || g->writer[ins->a / 4] == MANY)
            break;
        int adds = ins->op == OP_ADD_64 || ins->op == OP_ADD_32;
        number = adds ? fixed_of(g, ins->b) : 0;
        if (!number && ins->op != OP_MOV_64 && ins->op != OP_MOV_32) break;
        place.offset += number ? (int64_t)constant[number - 1].bits : 0;
        place.root = ins->a;
    }
    return place;
}

static uint32_t *next_of(const Guesses *g, const Place *place)
{
    return place->root == NO_SLOT ? &g->fixed[(uint64_t)place->offset / 4 % g->slots]
                                  : &g->next[place->root / 4];
}

/* Iterates backwards, so that each load finds the next CAS, even if the same register has the
 * addresses of several words. */
void guesses_find(Decoder *d)
{
    Guesses g = {d, d->file_bytes / 4 + 1, NULL, NULL, NULL, NULL};
    uint32_t *room = calloc(g.slots, 4 * sizeof *room);
    if (!room) {
        refuse(d, "out of host memory");
        return;
    }
    g.writer = room, g.constant = room + g.slots;
    g.next = g.constant + g.slots, g.fixed = g.next + g.slots;
    writers_find(&g);
    for (uint32_t i = d->count; i-- > 0;) {
        Ins *ins = &d->code[i];
        if (!is_cas(ins) && !is_plain_load(ins)) continue;
        Place place = place_of(&g, ins);
        uint32_t *next = next_of(&g, &place);
        if (is_cas(ins)) *next = i + 1;
        if (!is_plain_load(ins) || !*next) continue;
        Place cas = place_of(&g, &d->code[*next - 1]);
        if (cas.offset == place.offset && cas.space == place.space) ins->order = ORDER_GUESSES;
    }
    free(room);
}
