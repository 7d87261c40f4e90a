/* wire.h - a Device at the other end of a socket, and the frames between them.
 *
 * A frame is a fixed header (magic, type, length) and a body; lengths are bounded; a reader
 * treats everything that comes from the other side as hostile.  The untrusted side can only
 * make DeviceCalls and answer the request it was sent. */
#ifndef CONVLAB_CUDA_WIRE_H
#define CONVLAB_CUDA_WIRE_H

#include "common/cuda/device.h"

typedef enum FrameType {
    FRAME_CALL = 1,
    FRAME_REPLY,
    FRAME_REQUEST,
    FRAME_RETURN,
    FRAME_READY
} FrameType;

#define WIRE_BYTES_MAX (2048ull << 20)

/* Writes header and body; reads a whole frame into *body (malloc'd, caller frees; grows with the
 * received bytes, so that a wrong length costs nothing).  `deadline` is CLOCK_MONOTONIC seconds, 0
 * for none.  -1 with error: closed, malformed, too long, late. */
typedef struct WirePiece {
    const void *data;
    uint64_t bytes;
} WirePiece;
int wire_send(int fd, FrameType type, const WirePiece *piece, int pieces, Error *error);
int wire_send_until(int fd, double deadline, FrameType type, const WirePiece *piece, int pieces,
                    Error *error);
int wire_receive(int fd, double deadline, FrameType *type, void **body, uint64_t *bytes,
                 Error *error);

/* CLOCK_MONOTONIC now, in seconds: deadlines are `wire_now() + seconds`. */
double wire_now(void);

/* Client side: a Device whose execute() sends FRAME_CALL and waits for FRAME_REPLY. */
Device *device_open_wire(int fd);

/* Server side: decodes a FRAME_CALL body (call->data points into body) and sends the reply. */
int wire_decode_call(const void *body, uint64_t bytes, DeviceCall *call, Error *error);
int wire_send_reply(int fd, const DeviceReply *reply, Error *error);

#endif
