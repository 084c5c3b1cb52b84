/* Files of records: a shared mapping of one chunk.
 *
 * A chunk that is full is written behind the others and the same memory is used again: the first touch of a page of a file costs
 * several microseconds, a copy of it a few hundred nanoseconds. In a ring each chunk is mapped at its own place. */
#include "skips.h"
#include "worlds.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A process has few threads at a time, or very many: those beyond FEW get less at once. */
enum { EVENT_CHUNK = 1 << 20, DEFINITION_CHUNK = 1 << 17, LEAST_CHUNK = 1 << 14, SMALL_CHUNK = 1 << 16, FEW = 32 };

/* sl_reserve takes space for a part of a file; where the file system cannot, the C library writes to it. */
int sl_reserve(int fd, off_t offset, off_t size) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    int failed = posix_fallocate(fd, offset, size);
    pthread_setcancelstate(before, NULL);
    return failed;
}

/* map makes a part of a file larger and maps it; flags are those of open. Space is reserved first: a shared mapping of a file on a
 * full disk would end the program with SIGBUS, as a file beyond the limit of the process would with SIGXFSZ. No descriptor stays
 * open: the program may close it and open something else in its place. */
static void *map(const char *path, int flags, off_t offset, size_t size, int *failed) {
    int saved = errno;
    struct rlimit limit;
    void *p = NULL;
    int fd = sl_open(path, O_RDWR | flags);
    if (fd < 0) *failed = errno;
    else if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && (uint64_t)offset + size > limit.rlim_cur) *failed = EFBIG;
    else if ((*failed = sl_reserve(fd, offset, (off_t)size)) == 0) {
        p = sl_map(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
        if (p == NULL) *failed = errno;
    }
    if (fd >= 0) sl_close(fd);
    errno = saved;
    return p;
}

static const uint64_t factor = 0x9e3779b97f4a7c15u;

static void begin_sum(struct sl_sum *s, uint64_t from) {
    s->done = 0;
    for (uint64_t k = 0; k < 4; k++) s->lane[k] = from + k;
}

/* sum_to is the checksum of n words, of which the first ones have been added before; those it adds, up to the last three, do not change. */
static uint64_t sum_to(struct sl_sum *s, const uint64_t *words, size_t n) {
    uint64_t lane[4];
    memcpy(lane, s->lane, sizeof lane);
    size_t i = s->done;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) {
            uint64_t x = (lane[k] ^ words[i + (size_t)k]) * factor;
            lane[k] = x << 29 | x >> 35;
        }
    memcpy(s->lane, lane, sizeof lane);
    s->done = i;
    for (; i < n; i++) lane[0] = (lane[0] ^ words[i]) * factor;
    uint64_t sum = 0;
    for (int k = 0; k < 4; k++) sum = (sum ^ lane[k]) * factor ^ lane[k] >> 32;
    return sum;
}

/* sl_checksum is that of words; seal.go has the same. */
uint64_t sl_checksum(const uint64_t *words, size_t n, uint64_t from) {
    struct sl_sum s;
    begin_sum(&s, from);
    return sum_to(&s, words, n);
}

/* seal says of the current chunk what is in it for good: all of it, or what is before a record that may change. Many threads may end in one
 * chunk, one after the other: what the one before sealed is not read again. */
static void seal(struct sl_stream *s, const struct sl_record *open) {
    if (s->chunk == NULL) return;
    struct sl_chunk *c = (struct sl_chunk *)(void *)s->chunk;
    const uint8_t *from = s->chunk + sizeof *c, *to = s->chunk + atomic_load(&c->used), *before = (const uint8_t *)open;
    if (before >= from && before < to) to = before;
    uint64_t n = (uint64_t)(to - from) / 8;
    if (n < s->sum.done) begin_sum(&s->sum, c->sequence);
    c->seal = sum_to(&s->sum, (const uint64_t *)(const void *)from, n) >> SL_SEAL_BITS << SL_SEAL_BITS | n;
}

/* fresh makes the mapped chunk an empty one. What a reader takes for a chunk is one, or is there a second time. */
static void fresh(struct sl_stream *s, uint64_t number) {
    struct sl_chunk *c = (struct sl_chunk *)(void *)s->chunk;
    atomic_store(&c->used, 0);
    c->seal = 0;
    begin_sum(&s->sum, number);
    s->sequence = number;
    s->next = s->chunk + sizeof *c;
    s->end = s->chunk + s->size;
    *(uint64_t *)(void *)s->next = 0;
    atomic_signal_fence(memory_order_seq_cst);
    c->magic = SL_CHUNK_MAGIC;
    c->sequence = number;
    atomic_store(&c->used, sizeof *c);
}

/* map_chunk makes the chunk with the given number the current one. */
static bool map_chunk(struct sl_stream *s, uint64_t number, int *failed) {
    uint64_t place = s->ring && s->most > 0 ? number % s->most : number;
    void *p = map(s->path, 0, (off_t)(SL_PAGE + place * s->size), s->size, failed);
    if (p == NULL) return false;
    seal(s, NULL);
    if (s->chunk != NULL) sl_unmap(s->chunk, s->size);
    s->chunk = p;
    if (s->dropped != NULL && number >= s->most) sl_skips_drop(s->dropped, p);
    fresh(s, number);
    return true;
}

static bool write_all(int fd, const uint8_t *p, size_t n, off_t offset) {
    while (n > 0) {
        ssize_t done = sl_pwrite(fd, p, n, offset);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = ENOSPC;
        if (done <= 0) return false;
        p += done;
        n -= (size_t)done;
        offset += done;
    }
    return true;
}

/* kept is the descriptor of a file, -1 if there is none: the program may have closed it and opened another in its place. */
static int kept(const struct sl_stream *s) {
    struct stat now;
    return s->file > 0 && fstat(s->file - 1, &now) == 0 && (uint64_t)now.st_ino == s->identity ? s->file - 1 : -1;
}

/* keep leaves a file open, out of the way of the program's: network file systems wait for the disk where one is closed. */
static void keep(struct sl_stream *s, int fd) {
    struct stat now;
    if (fstat(fd, &now) == 0) s->identity = (uint64_t)now.st_ino;
    s->file = sl_high_descriptor(fd) + 1;
}

/* write_chunk puts a copy of the current chunk behind those that are there; its head comes last: who finds it finds all of it. */
static bool write_chunk(struct sl_stream *s, int *failed) {
    int saved = errno;
    struct rlimit limit;
    size_t head = sizeof(struct sl_chunk), used = (size_t)(s->next - s->chunk);
    off_t to = (off_t)(SL_PAGE + (s->sequence + 1) * s->size);
    seal(s, NULL);
    int known = kept(s), fd = known >= 0 ? known : sl_open(s->path, O_WRONLY);
    *failed = 0;
    if (fd < 0) *failed = errno;
    else if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && (uint64_t)to + s->size > limit.rlim_cur) *failed = EFBIG;
    else if (!write_all(fd, s->chunk + head, used - head, to + (off_t)head) || !write_all(fd, s->chunk, head, to)) *failed = errno;
    if (fd >= 0 && known < 0) keep(s, fd);
    errno = saved;
    return *failed == 0;
}

/* next_chunk makes room; false if there is none. */
static bool next_chunk(struct sl_stream *s, int *failed) {
    if (s->ring) return map_chunk(s, s->sequence + 1, failed);
    if (!write_chunk(s, failed)) return false;
    fresh(s, s->sequence + 1);
    return true;
}

/* clock_cost is the shortest time between two readings of the clock. */
static uint64_t clock_cost(void) {
    uint64_t cost = UINT64_MAX;
    for (int i = 0; i < 100; i++) {
        uint64_t begin = sl_now(), took = sl_now() - begin;
        if (took < cost) cost = took;
    }
    return cost;
}

/* checksum_of_head is that of what does not change once it is written. */
static uint64_t checksum_of_head(const struct sl_head *h) {
    const struct sl_tail *tail = sl_tail((struct sl_head *)(uintptr_t)h);
    enum { WORDS = 12 };
    const uint64_t first[WORDS] = {h->version, sl_pair((int32_t)h->ranks, (int32_t)h->rank), h->thread,
        sl_pair((int32_t)h->definitions, (int32_t)h->chunk_size), h->start, h->wall, h->pid, h->tid, h->yields, h->self, h->base,
        tail->clock_cost};
    uint64_t sum = sl_checksum(first, WORDS, tail->run ^ tail->ring << 32);
    size_t text = sizeof h->host + sizeof h->boot + sizeof h->library + sizeof h->program;
    return sl_checksum((const uint64_t *)(const void *)h->host, text / 8, sum);
}

static void fill_head(struct sl_stream *s, struct sl_thread *t, bool definitions) {
    struct sl_head *h = s->head;
    h->version = SL_VERSION;
    h->rank = (uint32_t)sl_rank;
    h->ranks = (uint32_t)sl_ranks;
    h->base = (uint64_t)sl_base;
    h->thread = (uint32_t)t->number;
    h->chunk_size = (uint32_t)s->size;
    h->definitions = definitions;
    h->start = t->number > 0 ? sl_now() : sl_loaded;
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    h->wall = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
    h->period = sl_settings.period;
    h->pid = (uint64_t)getpid();
    h->tid = (uint64_t)gettid();
    h->yields = sl_yield_forced();
    h->self = (uint64_t)(uintptr_t)&fill_head;
    sl_tail(h)->clock_cost = clock_cost();
    gethostname(h->host, sizeof h->host - 1);
    int fd = sl_open("/proc/sys/kernel/random/boot_id", O_RDONLY);
    if (fd >= 0) {
        ssize_t n = sl_pread(fd, h->boot, sizeof h->boot - 1, 0);
        if (n > 0 && h->boot[n - 1] == '\n') h->boot[n - 1] = 0;
        sl_close(fd);
    }
    ssize_t n = readlink("/proc/self/exe", h->program, sizeof h->program - 1);
    if (n < 0) h->program[0] = 0;
    static char version[MPI_MAX_LIBRARY_VERSION_STRING]; /* too large for the stacks of some threads */
    int length = 0;
    if (t->number == 0) PMPI_Get_library_version(version, &length);
    snprintf(h->library, sizeof h->library, "%.500s", version);
    struct sl_tail *tail = sl_tail(h);
    tail->run = sl_settings.run;
    tail->ring = s->ring ? s->most : 0;
    tail->seal = checksum_of_head(h);
    h->magic = SL_MAGIC;
}

bool sl_stream_open(struct sl_stream *s, struct sl_thread *t, bool definitions, int *failed) {
    enum { LENGTH = 1200 };
    char *path = sl_memory(LENGTH), sign[LENGTH + 20];
    *failed = ENOMEM;
    if (path == NULL) return false;
    snprintf(path, LENGTH, "%s/r%d-t%d.%s", sl_settings.directory, sl_rank, t->number, definitions ? "def" : "evt");
    s->path = path;
    s->size = definitions ? DEFINITION_CHUNK : EVENT_CHUNK;
    if (t->number >= FEW) s->size = definitions ? LEAST_CHUNK : SMALL_CHUNK;
    if (sl_settings.max_size > 0 && !definitions) {
        while (s->size > LEAST_CHUNK && s->size * 4 > sl_settings.max_size) s->size /= 2;
        s->most = sl_settings.max_size / s->size;
        if (s->most < 2) s->most = 2;
        s->ring = sl_settings.ring;
        if (s->ring) s->dropped = sl_skips_file(t);
    }
    s->head = map(path, O_CREAT | O_EXCL, 0, SL_PAGE, failed);
    if (s->head == NULL || !map_chunk(s, 0, failed)) {
        if (*failed == EEXIST && sl_ranks == 1 && t->number == 0) { /* processes that do not know of each other */
            snprintf(sign, sizeof sign, "%s/apart", sl_settings.directory);
            int note = sl_open(sign, O_WRONLY | O_CREAT);
            if (note >= 0) sl_close(note);
            return false;
        }
        if (t->number == 0) sl_say("%s: %s; the run is not recorded", path, strerror(*failed)); /* threads are counted */
        if (*failed == EEXIST) return false; /* it is of another process */
        snprintf(sign, sizeof sign, "%s.failed-%d", path, *failed);
        if (truncate(path, 0) != 0) snprintf(path, LENGTH, "%s/spare", sl_settings.directory); /* no file could be made, not even an empty one */
        if (rename(path, sign) != 0) unlink(path);
        return false;
    }
    fill_head(s, t, definitions);
    return true;
}

/* sl_stream_close ends a file; open: a record that may still change. */
void sl_stream_close(struct sl_stream *s, uint64_t how, const struct sl_record *open) {
    if (s->head == NULL || atomic_load(&s->head->closed) != 0) return;
    int fd = kept(s);
    if (fd >= 0) sl_close(fd);
    s->file = 0;
    seal(s, open);
    sl_skips_seal(s->dropped);
    atomic_store(&s->head->closed, s->closed ? 2 : how);
}

/* sl_stream_reopen goes on with what a thread has ended. */
void sl_stream_reopen(struct sl_stream *s) {
    if (s->head == NULL || s->closed) return;
    atomic_store(&s->head->closed, 0); /* first: who finds no seal and looks again finds that it goes on */
    ((struct sl_chunk *)(void *)s->chunk)->seal = 0;
}

/* sl_scratch is a place for a record that is not kept. */
struct sl_record *sl_scratch(struct sl_thread *t, uint32_t words) {
    if (words <= SL_UNKEPT_WORDS && t->events.head != NULL) return (struct sl_record *)(void *)((uint8_t *)t->events.head + SL_UNKEPT);
    if (words > t->scratch_words) {
        t->scratch = sl_memory((size_t)words * 16);
        t->scratch_words = t->scratch == NULL ? 0 : (size_t)words * 2;
    }
    return (struct sl_record *)(void *)t->scratch;
}

/* sl_stream_room finds room where the current chunk has none. */
struct sl_record *sl_stream_room(struct sl_thread *t, struct sl_stream *s, uint32_t words) {
    t->poll = NULL;
    bool fits = sizeof(struct sl_chunk) + (size_t)words * 8 + 8 <= s->size;
    bool full = !s->ring && s->most > 0 && s->sequence + 1 >= s->most;
    int failed = 0;
    if (!s->closed && fits && !full && next_chunk(s, &failed)) return (struct sl_record *)(void *)s->next;
    if (!s->closed && fits) {
        s->closed = true;
        if (s == &t->events) {
            t->on = false;
            atomic_store(&sl_full, true); /* later messages of other threads could not be told from those that are missing here */
            atomic_store(&sl_bounded, true);
        }
        atomic_store(&sl_tail(s->head)->failure, (uint64_t)failed);
        if (!full) sl_say("rank %d: %s: %s; recording has stopped", sl_rank, s->path, strerror(failed));
    }
    atomic_fetch_add(&s->head->lost, 1);
    return sl_scratch(t, words);
}
