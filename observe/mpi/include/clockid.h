/* Which clock a process reads. */
#ifndef SL_CLOCKID_H
#define SL_CLOCKID_H
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

static inline uint64_t sl_clock_mix(uint64_t hash, const char *text, long n) {
    for (long i = 0; i < n; i++) hash = (hash ^ (uint8_t)text[i]) * 1099511628211u;
    return hash;
}

/* sl_clock_id is the same for processes that read the same CLOCK_MONOTONIC: those of one boot of one kernel and of one time
 * namespace. Where the kernel does not report its boot, the name of the host is used. */
static inline uint64_t sl_clock_id(void) {
    uint64_t hash = 1469598103934665603u;
    char text[256];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    long n = fd >= 0 ? read(fd, text, sizeof text) : -1;
    if (fd >= 0) close(fd);
    if (n <= 0) {
        n = 0;
        if (gethostname(text, sizeof text - 1) == 0)
            while (n < (long)sizeof text - 1 && text[n] != 0) n++;
    }
    hash = sl_clock_mix(hash, text, n);
    return sl_clock_mix(hash, text, readlink("/proc/self/ns/time", text, sizeof text));
}

#endif
