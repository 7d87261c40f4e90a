/* frame.h - what a client and the server say to each other: frames on a Unix socket.
 *
 * A frame is a head of FRAME_BYTES and then `bytes` more.  All numbers are little-endian, floats
 * are IEEE's of 32 bits:
 *
 *   offset  bytes
 *        0      4  'C' 'L' 'S' '1'
 *        4      4  how many bytes follow the head
 *        8      8  id: the client's own number, which the answer carries again
 *       16      8  time, in nanoseconds.  A request's is its deadline on CLOCK_MONOTONIC, which
 *                  both sides of a Unix socket share; 0: the server's own limit, from when it has
 *                  read the request.  An answer's is how long the server had the request.
 *       24      4  a request's kind, an answer's status
 *       28      4  0
 *
 * Every request gets one answer, in any order.  After FRAME_MALFORMED the server closes where it
 * cannot know any more at which byte the next frame begins. */
#ifndef CONVLAB_SERVE_BATCHES_FRAME_H
#define CONVLAB_SERVE_BATCHES_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum { FRAME_BYTES = 32 };

typedef enum FrameKind {
    FRAME_INFER = 1, /* the floats of one x; answered by those of its y */
    FRAME_MODEL,     /* what is served, as lines "name value" */
    FRAME_METRICS    /* the counts, in Prometheus' text format 0.0.4 */
} FrameKind;

typedef enum FrameStatus {
    FRAME_ANSWERED,
    FRAME_FULL,      /* refused: the queue has as many as it holds */
    FRAME_LATE,      /* refused: it cannot be ready at its deadline */
    FRAME_MISSED,    /* accepted, and not ready at its deadline all the same */
    FRAME_STOPPING,  /* refused: the server ends */
    FRAME_MALFORMED, /* refused: the bytes say why, a line of text */
    FRAME_FAILED,    /* the batch that it was in failed on the device */
    FRAME_STATUSES
} FrameStatus;

/* "answered", "full" ... */
const char *frame_status_name(int status);

typedef struct Frame {
    uint32_t bytes; /* behind the head */
    uint32_t word;  /* kind or status */
    uint64_t id, time;
} Frame;

void frame_write(const Frame *frame, unsigned char head[FRAME_BYTES]);
/* -1: this is no head. */
int frame_read(const unsigned char head[FRAME_BYTES], Frame *frame);

typedef enum FrameStep {
    FRAME_MORE,  /* wait for more bytes */
    FRAME_WHOLE, /* *frame; what belongs to it begins FRAME_BYTES behind `bytes` */
    FRAME_BROKEN /* no head, or more than `most` bytes behind it */
} FrameStep;

/* The frame that begins at `bytes`, of which `count` have come; no more than a head of them is
 * looked at. */
FrameStep frame_next(const unsigned char *bytes, size_t count, uint32_t most, Frame *frame);

#endif
