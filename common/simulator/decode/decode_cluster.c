/* decode_cluster.c - clusters of blocks, fences between proxies, and what else Hopper has of small
 * instructions. */
#include <string.h>

#include "common/simulator/decode/decoder.h"

static int word_is(const Decoder *d, uint32_t word, const char *text)
{
    return d->in->words > word && strcmp(d->in->word[word], text) == 0;
}

static void words_take_all(Decoder *d)
{
    for (uint32_t i = 1; i < d->in->words; i++)
        d->used |= 1u << i;
}

/* fence.proxy.async{::generic}{.global|.shared::cta}, fence.proxy.tensormap...,
 * fence.mbarrier_init...: what threads do is in order here, and the accelerator looks at once.
 * Only racecheck hears of it. */
static int decode_proxy_fence(Decoder *d)
{
    int async = word_is(d, 2, "async") || word_is(d, 2, "async::generic");
    if (word_is(d, 1, "proxy") && !async && !word_is(d, 2, "tensormap::generic") &&
        !word_is(d, 2, "alias"))
        return refuse(d, "that fence");
    if (async || word_is(d, 1, "mbarrier_init")) d->kernel->traits.has_init_fence = 1;
    words_take_all(d);
    emit(d, async ? OP_PROXY_FENCE : OP_NOP, async ? CLASS_BARRIER : CLASS_FREE);
    return words_finished(d);
}

/* setmaxnreg.inc.sync.aligned.u32 n */
static int decode_setmaxnreg(Decoder *d)
{
    static const char *const WAYS[] = {"inc", "dec", NULL};
    int way = word_choose(d, WAYS);
    word_take(d, "sync"), word_take(d, "aligned");
    if (FEATURE_NEED(d, register_reallocation) != 0) return -1;
    if (way < 0 || type_take(d) != PTX_U32 || d->in->operands != 1 ||
        d->in->operand[0].kind != PTX_OPERAND_INTEGER)
        return refuse(d, "that form of setmaxnreg");
    int64_t n = d->in->operand[0].integer;
    if (n < 24 || n > 256 || n % 8)
        return refuse(d, "%lld registers: the number must be a multiple of 8 from 24 to 256",
                      (long long)n);
    emit(d, OP_SETMAXNREG, CLASS_BARRIER);
    return words_finished(d);
}

/* elect.sync d|p, members */
static int decode_elect(Decoder *d)
{
    const PtxOperand *to = operand_at(d, 0);
    word_take(d, "sync");
    if (FEATURE_NEED(d, elect) != 0) return -1;
    if (to->kind != PTX_OPERAND_PAIR || to->count != 2 || d->in->operands != 2)
        return refuse(d, "that form of elect");
    uint32_t dst = to->element[0].kind == PTX_OPERAND_SINK
                       ? NO_SLOT
                       : destination_of(d, &to->element[0], PTX_B32),
             p = destination_of(d, &to->element[1], PTX_PRED), members = source(d, 1, PTX_B32);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_ELECT, CLASS_INT);
    ins->d = dst, ins->a = members, ins->b = members, ins->c = p, ins->v[0] = p;
    return words_finished(d);
}

/* Kernels of a stream run one after the other here, so there is nothing to wait for. The replay
 * computes when the next launch could begin and when it must wait; race_early.c checks which memory
 * it accesses before that. */
static int decode_dependents(Decoder *d)
{
    if (FEATURE_NEED(d, dependent_launches) != 0) return -1;
    int wait = word_take(d, "wait");
    if (!wait && !word_take(d, "launch_dependents"))
        return refuse(d, "that form of griddepcontrol");
    emit(d, OP_DEPENDENTS, CLASS_BARRIER)->aux = (uint32_t)wait;
    d->kernel->traits.awaits_launch |= wait, d->kernel->info.tells |= !wait;
    return words_finished(d);
}

/* mapa{.shared::cluster}.u32 d, a, rank; getctarank{.shared::cluster}.u32 d, a */
static int decode_map(Decoder *d, int rank)
{
    word_take(d, "shared::cluster");
    PtxType type = type_take(d);
    if (FEATURE_NEED(d, clusters) != 0) return -1;
    if (type != PTX_U32 && type != PTX_U64) return refuse(d, "that type");
    uint32_t a = source(d, 1, type), b = rank ? a : source(d, 2, PTX_U32),
             dst = destination(d, 0, rank ? PTX_U32 : type);
    if (d->failed) return -1;
    Ins *ins = emit(d, rank ? OP_GETRANK : OP_MAPA, CLASS_INT);
    ins->d = dst, ins->a = a, ins->b = b, ins->bytes = (uint8_t)ptx_type_bytes(type);
    return words_finished(d);
}

/* barrier.cluster.arrive and .wait, with any memory ordering. */
static int decode_cluster_barrier(Decoder *d)
{
    static const char *const HINTS[] = {"cluster", "release", "relaxed", "acquire", "aligned"};
    int wait = word_take(d, "wait");
    if (FEATURE_NEED(d, clusters) != 0) return -1;
    if (!wait && !word_take(d, "arrive")) return refuse(d, "that barrier of a cluster");
    for (size_t i = 0; i < sizeof HINTS / sizeof *HINTS; i++)
        word_take(d, HINTS[i]);
    emit(d, OP_CLUSTER_BARRIER, CLASS_BARRIER)->aux = (uint32_t)wait;
    return words_finished(d);
}

int decode_cluster(Decoder *d)
{
    const char *name = d->in->word[0];
    if (!strcmp(name, "fence") && (word_is(d, 1, "proxy") || word_is(d, 1, "mbarrier_init")))
        return decode_proxy_fence(d);
    if (!strcmp(name, "setmaxnreg")) return decode_setmaxnreg(d);
    if (!strcmp(name, "elect")) return decode_elect(d);
    if (!strcmp(name, "griddepcontrol")) return decode_dependents(d);
    if (!strcmp(name, "mapa")) return decode_map(d, 0);
    if (!strcmp(name, "getctarank")) return decode_map(d, 1);
    if (!strcmp(name, "barrier") && word_is(d, 1, "cluster")) return decode_cluster_barrier(d);
    return 1;
}
