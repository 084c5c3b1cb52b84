/* Perf events of each thread, opened as one group: they count at the same time or not at all, so that their ratios are right.
 *
 * A group with events of the processor is pinned: it has its counters whenever the thread runs, or none. So nothing is estimated from
 * parts of the time. If another user of the counters takes them away, counting ends, and the head of the file says so.
 *
 * Values are read without the kernel (rdpmc) where that is permitted, else by one read for all. Only the leader's descriptor stays open:
 * mappings keep the others alive. What the recorder itself executes at a sample is subtracted. */
#include "counters.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = SL_MOST_COUNTERS };

struct sl_counting {
    int count;               /* of events that count */
    int file[MOST];          /* descriptors; -1: the mapping keeps it */
    uint64_t identity;       /* of the leader */
    struct perf_event_mmap_page *page[MOST];
    bool mapped;             /* they can be read without the kernel */
    uint64_t idle;           /* ns in which the leader was enabled and did not count when it was opened */
    uint64_t own[MOST];      /* to be subtracted */
    uint64_t last[MOST], entered[MOST];
};

static struct wanted { uint32_t type; uint64_t config; bool kernel; } wanted[MOST];
static int wanted_count;

/* sl_counters_load reads TYPE.CONFIG.KERNEL, separated by +. */
void sl_counters_load(void) {
    const char *text = getenv("SLACKLINE_RECORD_COUNTERS");
    wanted_count = 0;
    while (text != NULL && *text != 0 && wanted_count < MOST) {
        char *rest = NULL;
        struct wanted w = {.type = (uint32_t)strtoul(text, &rest, 10)};
        if (*rest == '.') w.config = strtoull(rest + 1, &rest, 10);
        if (*rest == '.') w.kernel = strtoul(rest + 1, &rest, 10) != 0;
        wanted[wanted_count++] = w;
        text = *rest == '+' ? rest + 1 : NULL;
    }
}

/* is_ours reports whether the leader's descriptor is still that: the program may have closed it and opened something else. */
static bool is_ours(const struct sl_counting *c) {
    uint64_t id = 0;
    return ioctl(c->file[0], PERF_EVENT_IOC_ID, &id) == 0 && id == c->identity;
}

static bool read_group(const struct sl_counting *c, uint64_t *values, uint64_t *idle) {
    struct { uint64_t count, enabled, running, value[MOST]; } r;
    if (!is_ours(c)) return false;
    size_t bytes = (3 + (size_t)c->count) * 8;
    if (syscall(SYS_read, c->file[0], &r, bytes) != (long)bytes) return false; /* nothing: it has lost its counters */
    memcpy(values, r.value, (size_t)c->count * 8);
    *idle = r.enabled - r.running;
    return true;
}

#if defined(__x86_64__)
/* read_mapped reads as linux/perf_event.h describes it. */
static bool read_mapped(const struct sl_counting *c, uint64_t *values, uint64_t *idle) {
    for (int i = 0; i < c->count; i++) {
        const volatile struct perf_event_mmap_page *p = c->page[i];
        uint32_t lock;
        do {
            lock = p->lock;
            atomic_signal_fence(memory_order_seq_cst);
            uint32_t index = p->index, low, high, unused = 64u - p->pmc_width;
            if (!p->cap_user_rdpmc || index == 0 || unused > 63) return false;
            if (i == 0) *idle = p->time_enabled - p->time_running;
            uint64_t value = (uint64_t)p->offset;
            __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
            values[i] = value + (uint64_t)((int64_t)(((uint64_t)high << 32 | low) << unused) >> unused);
            atomic_signal_fence(memory_order_seq_cst);
        } while (p->lock != lock);
    }
    return true;
}
#else
static bool read_mapped(const struct sl_counting *c, uint64_t *values, uint64_t *idle) {
    (void)c, (void)values, (void)idle;
    return false;
}
#endif

/* sl_counters_read gives what was counted for this thread so far; false: nothing is counted, or not any more. */
bool sl_counters_read(struct sl_thread *t, uint64_t *values) {
    struct sl_counting *c = t->counting;
    uint64_t idle = 0;
    if (c == NULL || c->count == 0) return false;
    int saved = errno;
    bool done = (c->mapped && read_mapped(c, values, &idle)) || read_group(c, values, &idle);
    errno = saved;
    if (!done || idle > c->idle) { /* not all of the time is counted */
        t->events.head->counting_ended = 1;
        sl_counters_end(t);
        return false;
    }
    for (int i = 0; i < c->count; i++) c->last[i] = values[i] -= c->own[i];
    return true;
}

/* sl_counters_exclude leaves out what was counted since some values were read. */
void sl_counters_exclude(struct sl_thread *t, const uint64_t *since) {
    uint64_t now[MOST];
    if (!sl_counters_read(t, now)) return;
    for (int i = 0; i < t->counting->count; i++) {
        t->counting->own[i] += now[i] - since[i];
        t->counting->last[i] = since[i];
    }
}

void sl_counters_enter(struct sl_thread *t) {
    if (t->counting != NULL) sl_counters_read(t, t->counting->entered);
}

/* sl_counters_append puts values behind a record that is about to be kept, what there is now if they are NULL; of a call, those of its
 * begin come first. */
void sl_counters_append(struct sl_thread *t, struct sl_record *r, bool call, const uint64_t *values) {
    uint64_t now[MOST], *data = (uint64_t *)(void *)r + r->words;
    if ((uint8_t *)r != t->events.next || (values == NULL && !sl_counters_read(t, now))) return;
    struct sl_counting *c = t->counting;
    size_t bytes = (size_t)c->count * 8;
    if (call) memcpy(data, c->entered, bytes);
    memcpy(c->entered, values != NULL ? values : now, bytes); /* a call may go on in another record */
    memcpy(data + (call ? c->count : 0), c->entered, bytes);
    uint32_t words = (uint32_t)c->count * (call ? 2 : 1);
    r->words = (r->words + words) | words << SL_COUNTED_SHIFT;
}

/* sl_counters_again lets the record of a run of tests end now. */
void sl_counters_again(struct sl_thread *t, struct sl_record *r) {
    uint32_t counted = r->words >> SL_COUNTED_SHIFT;
    uint64_t values[MOST];
    if (counted == 0 || !sl_counters_read(t, values)) return;
    uint64_t *end = (uint64_t *)(void *)r + sl_words(r);
    memcpy(end - counted / 2, values, counted / 2 * 8);
}

/* open_event opens an event; -1 and errno if it cannot be. */
static int open_event(const struct wanted *w, int leader) {
    struct perf_event_attr a = {
        .type = w->type, .size = sizeof a, .config = w->config, .exclude_kernel = !w->kernel, .exclude_hv = 1,
        .disabled = leader < 0, .pinned = leader < 0 && w->type != PERF_TYPE_SOFTWARE,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return -1;
    fd = sl_high_descriptor(fd);
    if (fd < 0) errno = EMFILE;
    return fd;
}

/* proven reports whether the values that are read without the kernel lie between two of the kernel's. */
static bool proven(const struct sl_counting *c) {
    uint64_t before[MOST], between[MOST], after[MOST], idle;
    if (!read_group(c, before, &idle) || !read_mapped(c, between, &idle) || !read_group(c, after, &idle)) return false;
    for (int i = 0; i < c->count; i++)
        if (between[i] < before[i] || between[i] > after[i]) return false;
    return true;
}

static void open_all(struct sl_counting *c, uint8_t *failed) {
    for (int i = 0; i < wanted_count; i++) {
        int leader = c->count == 0 ? -1 : c->file[0], k = c->count, fd = open_event(&wanted[i], leader);
        failed[i] = fd >= 0 ? 0 : (uint8_t)(errno > 0 && errno < 256 ? errno : EIO);
        if (fd < 0) continue;
        c->file[k] = fd;
        c->page[k] = sl_map(SL_PAGE, PROT_READ, MAP_SHARED, fd, 0);
        c->count++;
    }
    c->mapped = c->count > 0;
    for (int k = 0; k < c->count; k++) {
        if (c->page[k] == NULL) {
            c->mapped = false;
        } else if (k > 0) { /* the mapping keeps it */
            sl_close(c->file[k]);
            c->file[k] = -1;
        }
    }
}

/* sl_counters_thread begins to count for this thread. In the place of a thread that has ended, the counts go on. */
void sl_counters_thread(struct sl_thread *t) {
    struct sl_counting *c = t->counting;
    struct sl_head *h = t->events.head;
    if (sl_settings.estimate) t->count_words = 2 * (uint32_t)wanted_count;
    if (wanted_count == 0 || sl_settings.estimate) return;
    bool again = c != NULL;
    if (!again && (c = t->counting = sl_memory(sizeof *c)) == NULL) return;
    int saved = errno;
    uint8_t failed[MOST] = {0};
    uint64_t values[MOST], idle = 0;
    c->count = 0;
    open_all(c, failed);
    bool works = c->count > 0 && ioctl(c->file[0], PERF_EVENT_IOC_ID, &c->identity) == 0 &&
        ioctl(c->file[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) == 0 && read_group(c, values, &idle);
    if (!again) {
        memcpy(h->counters_failed, failed, sizeof failed);
        h->counters = (uint32_t)wanted_count;
    }
    if (!works || memcmp(h->counters_failed, failed, sizeof failed) != 0) {
        if (c->count > 0) h->counting_ended = 1;
        sl_counters_end(t);
    } else {
        c->idle = idle;
        c->mapped = c->mapped && proven(c);
        for (int i = 0; i < c->count; i++) c->own[i] = values[i] - c->last[i];
        memcpy(c->entered, c->last, sizeof c->entered);
        t->count_words = 2 * (uint32_t)c->count;
    }
    errno = saved;
}

static void close_all(struct sl_counting *c) {
    bool ours = c->count > 0 && c->file[0] >= 0 && is_ours(c);
    for (int k = c->count - 1; ours && k >= 0; k--)
        if (c->file[k] >= 0) sl_close(c->file[k]);
}

void sl_counters_end(struct sl_thread *t) {
    struct sl_counting *c = t->counting;
    if (c == NULL) return;
    int saved = errno;
    close_all(c);
    for (int k = 0; k < c->count; k++) {
        if (c->page[k] != NULL) sl_unmap(c->page[k], SL_PAGE);
        c->page[k] = NULL;
    }
    c->count = 0;
    t->count_words = 0;
    errno = saved;
}

/* sl_counters_leave closes the descriptors of a thread that may still be reading. */
void sl_counters_leave(struct sl_thread *t) {
    if (t->counting != NULL) close_all(t->counting);
}

/* sl_counters_forked closes what a child process has of its parent's; the mappings stay with the parent. */
void sl_counters_forked(struct sl_thread *t) {
    if (t != NULL) sl_counters_leave(t);
}
