#include "autograder/session/shared.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_FLOATS = 16 }; /* each tensor starts at a cache line */

uint64_t call_floats(const CallRequest *call, TensorRole role)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < call->tensors; i++)
        if (call->role[i] == role) sum += call->count[i];
    return sum;
}

static uint64_t in_lines(uint64_t floats)
{
    return (floats + LINE_FLOATS - 1) / LINE_FLOATS * LINE_FLOATS;
}

/* Total size in bytes, and the address of each tensor once the memory is mapped. */
static size_t shared_layout(SharedTensors *shared, const CallRequest *call)
{
    uint64_t floats = 0;
    for (uint32_t i = 0; i < call->tensors; i++) {
        if (call->role[i] != TENSOR_INPUT) continue;
        if (shared->memory) shared->input[i] = (float *)shared->memory + floats;
        floats += in_lines(call->count[i]);
    }
    if (shared->memory) shared->output = (float *)shared->memory + floats;
    return (floats + in_lines(call_floats(call, TENSOR_OUTPUT))) * sizeof(float);
}

static int shared_map(SharedTensors *shared, int fd, const CallRequest *call, Error *error)
{
    void *memory = mmap(NULL, shared->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return error_set(error, "no memory for %zu bytes of tensors: %s", shared->bytes,
                         strerror(errno));
    shared->memory = memory;
    shared_layout(shared, call);
    return 0;
}

int shared_open(SharedTensors *shared, const CallRequest *call, Error *error)
{
    memset(shared->input, 0, sizeof shared->input);
    if (shared->memory && shared_layout(shared, call) <= shared->bytes) return 0;
    shared_close(shared);
    shared->fd = memfd_create("tensors", MFD_CLOEXEC);
    shared->bytes = shared_layout(shared, call);
    if (shared->fd < 0 || ftruncate(shared->fd, (off_t)shared->bytes)) {
        error_set(error, "no memory for %zu bytes of tensors: %s", shared->bytes, strerror(errno));
        shared_close(shared);
        return -1;
    }
    if (!shared_map(shared, shared->fd, call, error)) return 0;
    shared_close(shared);
    return -1;
}

int shared_attach(SharedTensors *shared, int fd, const CallRequest *call, Error *error)
{
    struct stat status;
    *shared = (SharedTensors){.fd = -1};
    shared->bytes = shared_layout(shared, call);
    int failed = fstat(fd, &status) || (size_t)status.st_size < shared->bytes
                     ? error_set(error, "there is less shared memory than the problem's tensors")
                     : shared_map(shared, fd, call, error);
    close(fd);
    return failed;
}

void shared_close(SharedTensors *shared)
{
    if (shared->memory) munmap(shared->memory, shared->bytes);
    if (shared->fd >= 0) close(shared->fd);
    *shared = (SharedTensors){.fd = -1};
}
