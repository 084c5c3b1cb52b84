/* Files of records: a growing shared mapping, one chunk at a time. */
#include "core.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A process has few threads at a time, or very many: those beyond FEW get less at once, and their files are not kept open. */
enum { EVENT_CHUNK = 1 << 20, DEFINITION_CHUNK = 1 << 17, LEAST_CHUNK = 1 << 14, SMALL_CHUNK = 1 << 16, FEW = 32 };

static void file_of(const struct sl_stream *s, char *path, size_t size) {
    snprintf(path, size, "%s/r%d-t%d.%s", sl_settings.directory, sl_rank, s->thread, s->definitions ? "def" : "evt");
}

/* map_chunk makes the chunk with the given number the current one. Space is reserved first: a shared mapping of a
 * file on a full disk would end the program with SIGBUS. */
static bool map_chunk(struct sl_stream *s, uint64_t number) {
    uint64_t place = s->ring && s->most > 0 ? number % s->most : number;
    off_t offset = (off_t)(SL_PAGE + place * s->size);
    int saved = errno, fd = s->fd;
    if (fd < 0) {
        char path[1200];
        file_of(s, path, sizeof path);
        fd = open(path, O_RDWR | O_CLOEXEC);
    }
    int failed = posix_fallocate(fd, offset, (off_t)s->size);
    void *p = MAP_FAILED;
    if (failed == 0) p = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    if (s->fd < 0 && fd >= 0) close(fd);
    errno = saved;
    if (p == MAP_FAILED) return false;
    if (s->chunk != NULL) munmap(s->chunk, s->size);
    s->chunk = p;
    s->sequence = number;
    struct sl_chunk *c = p;
    atomic_store(&c->used, 0);
    s->next = s->chunk + sizeof *c;
    s->end = s->chunk + s->size;
    *(uint64_t *)(void *)s->next = 0;
    c->magic = SL_CHUNK_MAGIC;
    c->sequence = number;
    atomic_store(&c->used, sizeof *c);
    return true;
}

static void fill_head(struct sl_stream *s, struct sl_thread *t, bool definitions) {
    struct sl_head *h = s->head;
    h->version = SL_VERSION;
    h->rank = (uint32_t)sl_rank;
    h->ranks = (uint32_t)sl_ranks;
    h->thread = (uint32_t)t->number;
    h->chunk_size = (uint32_t)s->size;
    h->definitions = definitions;
    h->start = sl_loaded;
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    h->wall = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
    h->period = sl_settings.period;
    h->pid = (uint64_t)getpid();
    h->tid = (uint64_t)gettid();
    h->yields = sl_yield_forced();
    h->self = (uint64_t)(uintptr_t)&fill_head;
    gethostname(h->host, sizeof h->host - 1);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n = read(fd, h->boot, sizeof h->boot - 1);
        if (n > 0 && h->boot[n - 1] == '\n') h->boot[n - 1] = 0;
        close(fd);
    }
    ssize_t n = readlink("/proc/self/exe", h->program, sizeof h->program - 1);
    if (n < 0) h->program[0] = 0;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    PMPI_Get_library_version(version, &length);
    snprintf(h->library, sizeof h->library, "%.500s", version);
    h->magic = SL_MAGIC;
}

bool sl_stream_open(struct sl_stream *s, struct sl_thread *t, bool definitions) {
    char path[1200];
    s->thread = t->number;
    s->definitions = definitions;
    file_of(s, path, sizeof path);
    s->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (s->fd < 0) {
        if (t->number == 0) sl_say("%s: %s; this rank is not recorded", path, strerror(errno));
        return false;
    }
    s->size = definitions ? DEFINITION_CHUNK : EVENT_CHUNK;
    if (t->number >= FEW) s->size = definitions ? LEAST_CHUNK : SMALL_CHUNK;
    if (sl_settings.max_size > 0 && !definitions) {
        while (s->size > LEAST_CHUNK && s->size * 4 > sl_settings.max_size) s->size /= 2;
        s->most = sl_settings.max_size / s->size;
        if (s->most < 2) s->most = 2;
        s->ring = sl_settings.ring;
    }
    if (posix_fallocate(s->fd, 0, SL_PAGE) == 0)
        s->head = mmap(NULL, SL_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
    if (s->head == NULL || s->head == MAP_FAILED || !map_chunk(s, 0)) {
        if (t->number == 0) sl_say("%s: there is no room; this rank is not recorded", path);
        close(s->fd);
        unlink(path);
        return false;
    }
    fill_head(s, t, definitions);
    if (t->number >= FEW) {
        close(s->fd);
        s->fd = -1;
    }
    return true;
}

void sl_stream_close(struct sl_stream *s, uint64_t how) {
    if (s->head == NULL || atomic_load(&s->head->closed) != 0) return;
    atomic_store(&s->head->closed, s->closed ? 2 : how);
}

/* sl_stream_reopen goes on with what a thread has ended. */
void sl_stream_reopen(struct sl_stream *s) {
    if (s->head != NULL && !s->closed) atomic_store(&s->head->closed, 0);
}

/* sl_scratch is a place for a record that nobody will read. */
struct sl_record *sl_scratch(struct sl_thread *t, uint32_t words) {
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
    if (!s->closed && fits && !full && map_chunk(s, s->sequence + 1)) return (struct sl_record *)(void *)s->next;
    if (!s->closed && fits) {
        s->closed = true;
        if (s == &t->events) t->on = false;
        if (!full) sl_say("rank %d: no room for the trace; recording has stopped", sl_rank);
    }
    atomic_fetch_add(&s->head->lost, 1);
    return sl_scratch(t, words);
}
