/* bench_gpu - performance ceilings of this machine's GPU, as key=value lines. */
#include <stdio.h>
#include <stdlib.h>

#include "common/cuda/gpu/gpu_ceilings.h"
#include "common/cuda/gpu/gpu_device.h"

int main(int argc, char **argv)
{
    Error error;
    DeviceReply reply;
    GpuCeilings c;
    Device *device = device_open_gpu(argc > 1 ? atoi(argv[1]) : 0, &error);
    if (!device) {
        printf("no GPU here: %s\n", error.text);
        return 0;
    }
    int failed = gpu_ceilings_measure(device, &c, &error);
    device->execute(device, &(DeviceCall){.kind = CALL_PROPERTIES}, &reply);
    const DeviceProperties *p = reply.data;
    if (failed) {
        fprintf(stderr, "bench_gpu: %s\n", error.text);
    } else {
        printf("gpu=%s\ncompute_capability=%u.%u\nsms=%u\ndriver=%u.%u\n", p->name, p->cc_major,
               p->cc_minor, p->sms, p->driver_version / 1000, p->driver_version % 1000 / 10);
        printf("copy_gb_s=%.1f\nread_gb_s=%.1f\nbuffer_mib=%.0f\n", c.copy_bytes_per_second * 1e-9,
               c.read_bytes_per_second * 1e-9, (double)c.buffer_bytes / (1 << 20));
        printf("fma_tflop_s=%.2f\n", c.fma_flops_per_second * 1e-12);
        printf("launch_us=%.2f\nreplay_floor_us=%.2f\n", c.launch_seconds * 1e6,
               c.replay_seconds * 1e6);
    }
    device->close(device);
    return failed ? 1 : 0;
}
