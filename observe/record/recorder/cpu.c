/* Time in which a thread could have run but had no CPU, as the kernel counts it (schedstat).
 *
 * It is read at samples, when a call of MPI begins, and when one ends that took long, but not more often than makes sense.
 * Whoever had no CPU for longer than that between two readings had none at the end of what he did last: at the sample, or in the call. */
#include "core.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAST = 5000 }; /* ns: less is not recorded */

/* is_ours reports whether a descriptor is still the file that was opened: the program may have closed it and opened another. */
static bool is_ours(const struct sl_thread *t) {
    struct stat s;
    return t->cpu_file >= 0 && fstat(t->cpu_file, &s) == 0 && (uint64_t)s.st_ino == t->cpu_identity;
}

/* waited is what the kernel has counted for this thread, ns; UINT64_MAX if it does not say. */
static uint64_t waited(const struct sl_thread *t) {
    char text[96];
    int saved = errno;
    ssize_t n = is_ours(t) ? sl_pread(t->cpu_file, text, sizeof text, 0) : 0;
    errno = saved;
    ssize_t i = 0;
    while (i < n && text[i] >= '0' && text[i] <= '9') i++;
    if (i == 0 || i == n || text[i] != ' ') return UINT64_MAX;
    uint64_t value = 0;
    ssize_t first = ++i;
    for (; i < n && text[i] >= '0' && text[i] <= '9'; i++) value = value * 10 + (uint64_t)(text[i] - '0');
    return i == first || i == n || text[i] != ' ' ? UINT64_MAX : value;
}

/* sl_cpu_thread begins with this thread. The run begins when the program's first thread does, before it is recorded. */
void sl_cpu_thread(struct sl_thread *t) {
    int saved = errno;
    struct stat s;
    int fd = sl_open("/proc/thread-self/schedstat", O_RDONLY);
    t->cpu_file = fd < 0 ? -1 : sl_high_descriptor(fd);
    if (t->cpu_file >= 0 && fstat(t->cpu_file, &s) == 0) t->cpu_identity = (uint64_t)s.st_ino;
    errno = saved;
    t->cpu_read = sl_now();
    t->cpu_waited = waited(t);
    if (t->number == 0 && gettid() == getpid() && t->cpu_waited != UINT64_MAX) {
        t->cpu_read = 0;
        t->cpu_waited = 0;
    }
}

/* added is what was added since the last reading; 0: too little. */
static uint64_t added(struct sl_thread *t, uint64_t now) {
    t->cpu_read = now;
    uint64_t value = waited(t);
    if (value == UINT64_MAX || t->cpu_waited == UINT64_MAX || value < t->cpu_waited + LEAST) return 0;
    uint64_t time = value - t->cpu_waited;
    t->cpu_waited = value;
    atomic_fetch_add_explicit(&t->events.head->waited, time, memory_order_relaxed);
    return time;
}

/* sl_cpu_check keeps what was added until now, at the end of what the thread does at the moment. */
void sl_cpu_check(struct sl_thread *t, uint64_t now) {
    if (!sl_cpu_is_due(t, now)) return;
    uint64_t time = added(t, now);
    if (time > 0) sl_small(t, SL_NO_CPU, 0, now, time);
}

/* sl_cpu_before does the same where the record of a call has been made and the call has not begun: it goes before that record, whose
 * place is returned. */
struct sl_record *sl_cpu_before(struct sl_thread *t, struct sl_record *r, uint64_t now) {
    enum { WORDS = SL_HEAD + 1, MORE = 256 }; /* a record may grow by less */
    const uint8_t *next = t->events.next;
    if ((uint8_t *)r != next || next + (WORDS + r->words + MORE) * 8u > t->events.end) return r; /* the next call will do */
    uint64_t time = added(t, now);
    if (time == 0) return r;
    uint64_t head = *(uint64_t *)(void *)r;
    struct sl_record *moved = (struct sl_record *)(void *)((uint64_t *)(void *)r + WORDS);
    memmove(moved, r, r->words * 8u);
    sl_small(t, SL_NO_CPU, 0, now, time);
    *(uint64_t *)(void *)moved = head;
    return moved;
}

/* sl_cpu_end keeps the rest. */
void sl_cpu_end(struct sl_thread *t, uint64_t now) {
    if (t->cpu_file < 0) return;
    t->cpu_read = 0;
    sl_cpu_check(t, now);
    if (is_ours(t)) sl_close(t->cpu_file);
    t->cpu_file = -1;
}
