/* frame.h - protocol between client and server: frames on a Unix socket.
 *
 * A frame is a head of FRAME_BYTES and then `bytes` more.  All numbers are little-endian, floats
 * are IEEE's of 32 bits:
 *
 *   offset  bytes
 *        0      4  'C' 'L' 'S' '1'
 *        4      4  number of bytes after the head
 *        8      8  id: the client's own number, which the answer repeats
 *       16      8  time, in nanoseconds.  A request's is its deadline on CLOCK_MONOTONIC, which
 *                  both sides of a Unix socket share; 0: the server's own limit, from when it has
 *                  read the request.  An answer's is the time that the server had the request.
 *       24      4  a request's kind, an answer's status
 *       28      4  0
 *
 * Every request gets one answer, in any order.  After FRAME_MALFORMED the server closes the
 * connection if it cannot know the start of the next frame. */
#ifndef CONVLAB_SERVE_BATCHES_FRAME_H
#define CONVLAB_SERVE_BATCHES_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum { FRAME_BYTES = 32 };

typedef enum FrameKind {
    FRAME_INFER = 1, /* the floats of one x; the answer has those of its y */
    FRAME_MODEL,     /* description of the model, as lines "name value" */
    FRAME_METRICS    /* the counts, in Prometheus' text format 0.0.4 */
} FrameKind;

typedef enum FrameStatus {
    FRAME_ANSWERED,
    FRAME_FULL,      /* rejected: the queue is full */
    FRAME_LATE,      /* rejected: it cannot be finished before its deadline */
    FRAME_MISSED,    /* accepted, but not finished before its deadline */
    FRAME_STOPPING,  /* rejected: the server is ending */
    FRAME_MALFORMED, /* rejected: the body is a line of text with the reason */
    FRAME_FAILED,    /* its batch failed on the device */
    FRAME_STATUSES
} FrameStatus;

/* "answered", "full" ... */
const char *frame_status_name(int status);

typedef struct Frame {
    uint32_t bytes; /* size of the body */
    uint32_t word;  /* kind or status */
    uint64_t id, time;
} Frame;

void frame_write(const Frame *frame, unsigned char head[FRAME_BYTES]);
/* -1: not a head. */
int frame_read(const unsigned char head[FRAME_BYTES], Frame *frame);

typedef enum FrameStep {
    FRAME_MORE,  /* wait for more bytes */
    FRAME_WHOLE, /* *frame; its body starts FRAME_BYTES after `bytes` */
    FRAME_BROKEN /* invalid head, or a body of more than `most` bytes */
} FrameStep;

/* The frame that starts at `bytes`, of which `count` bytes have arrived; reads at most the head. */
FrameStep frame_next(const unsigned char *bytes, size_t count, uint32_t most, Frame *frame);

#endif
