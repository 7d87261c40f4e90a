#include "common/apps/serve/batches/frame.h"

static const unsigned char MARK[4] = {'C', 'L', 'S', '1'};

const char *frame_status_name(int status)
{
    static const char *const name[FRAME_STATUSES] = {
        "answered", "full", "late", "missed", "stopping", "malformed", "failed",
    };
    return status >= 0 && status < FRAME_STATUSES ? name[status] : "unknown";
}

static void put(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *from, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

void frame_write(const Frame *frame, unsigned char head[FRAME_BYTES])
{
    for (int i = 0; i < 4; i++)
        head[i] = MARK[i];
    put(head + 4, frame->bytes, 4);
    put(head + 8, frame->id, 8);
    put(head + 16, frame->time, 8);
    put(head + 24, frame->word, 4);
    put(head + 28, 0, 4);
}

int frame_read(const unsigned char head[FRAME_BYTES], Frame *frame)
{
    for (int i = 0; i < 4; i++)
        if (head[i] != MARK[i]) return -1;
    if (get(head + 28, 4)) return -1;
    *frame = (Frame){.bytes = (uint32_t)get(head + 4, 4),
                     .word = (uint32_t)get(head + 24, 4),
                     .id = get(head + 8, 8),
                     .time = get(head + 16, 8)};
    return 0;
}

FrameStep frame_next(const unsigned char *bytes, size_t count, uint32_t most, Frame *frame)
{
    if (count < FRAME_BYTES) return FRAME_MORE;
    if (frame_read(bytes, frame) || frame->bytes > most) return FRAME_BROKEN;
    return count - FRAME_BYTES < frame->bytes ? FRAME_MORE : FRAME_WHOLE;
}
