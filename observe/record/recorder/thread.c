/* Threads of the program, settings, and what the user is told. */
#include "counters.h"
#include "skips.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct sl_settings sl_settings = {.callpath = SL_PATH_FULL};
_Atomic bool sl_active, sl_over, sl_bounded, sl_switched_off, sl_full;
_Atomic uint32_t sl_switched_on;
bool sl_threaded;
int sl_rank, sl_ranks = 1;
uint64_t sl_loaded, sl_initialized;
__thread struct sl_thread *sl_self __attribute__((tls_model("initial-exec")));
__thread int sl_in_mpi __attribute__((tls_model("initial-exec")));

__thread int sl_failed; /* why the last attempt to record this thread failed */
static __thread bool refused; /* an attempt to record this thread failed */
static struct sl_thread *threads; /* all of them, newest first */
static struct sl_thread *first_thread;
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sl_thread *spare; /* those whose threads have ended: later ones go on with them */
static int thread_count;
static pthread_key_t thread_end;

void sl_say(const char *format, ...) {
    if (sl_settings.quiet) return;
    char text[1500];
    va_list args;
    va_start(args, format);
    int n = snprintf(text, sizeof text, "slackline: ");
    n += vsnprintf(text + n, sizeof text - 1 - (size_t)n, format, args);
    va_end(args);
    if (n > (int)sizeof text - 2) n = (int)sizeof text - 2;
    text[n] = '\n';
    syscall(SYS_write, STDERR_FILENO, text, n + 1);
}

/* sl_map and sl_unmap are mmap and munmap without the hooks that MPI libraries put into them (UCX, memory/patcher of Open MPI), which
 * take locks and allocate memory: samples are taken anywhere, also inside of these. sl_map returns NULL if it fails. */
void *sl_map(size_t bytes, int protection, int flags, int fd, off_t offset) {
    long p = syscall(SYS_mmap, NULL, bytes, protection, flags, fd, offset);
    return p == -1 ? NULL : (void *)p;
}

void sl_unmap(void *p, size_t bytes) {
    syscall(SYS_munmap, p, bytes);
}

/* These are open, close, pread and pwrite, but no cancellation points: a thread that is cancelled ends in a call of the program, not
 * when it begins to be recorded, and not in a sample. */
int sl_open(const char *path, int flags) { return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0666); }
void sl_close(int fd) { syscall(SYS_close, fd); }
ssize_t sl_pread(int fd, void *p, size_t n, off_t offset) { return syscall(SYS_pread64, fd, p, n, offset); }
ssize_t sl_pwrite(int fd, const void *p, size_t n, off_t offset) { return syscall(SYS_pwrite64, fd, p, n, offset); }

/* sl_memory is memory that is never given back; it may be called where malloc may not. */
void *sl_memory(size_t bytes) {
    return sl_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

uint64_t sl_shifted_clock(uint64_t now) {
    return (uint64_t)((double)sl_settings.clock_offset * sl_rank) + now +
           (uint64_t)((double)(now - sl_loaded) * sl_settings.clock_drift * sl_rank);
}

static uint64_t number_of(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text == NULL || *text == 0 ? otherwise : strtoull(text, NULL, 10);
}

static void read_settings(void) {
    struct sl_settings *s = &sl_settings;
    const char *directory = getenv("SLACKLINE_RECORD_DIR");
    if (directory != NULL) snprintf(s->directory, sizeof s->directory, "%s", directory);
    s->run = number_of("SLACKLINE_RECORD_RUN", 0);
    s->callpath = (enum sl_callpath)number_of("SLACKLINE_RECORD_CALLPATH", SL_PATH_FULL);
    s->period = number_of("SLACKLINE_RECORD_PERIOD", 0);
    s->max_size = number_of("SLACKLINE_RECORD_MAX", 0);
    s->ring = number_of("SLACKLINE_RECORD_RING", 0) != 0;
    s->estimate = number_of("SLACKLINE_RECORD_ESTIMATE", 0) != 0;
    s->quiet = number_of("SLACKLINE_RECORD_QUIET", 0) != 0;
    s->begin_off = number_of("SLACKLINE_RECORD_OFF", 0) != 0;
    s->window_from = number_of("SLACKLINE_RECORD_FROM", 0);
    s->window_to = number_of("SLACKLINE_RECORD_TO", 0);
    atomic_store(&sl_switched_off, s->begin_off);
    atomic_store(&sl_bounded, s->begin_off || s->window_from != 0 || s->window_to != 0);
    s->pings = number_of("SLACKLINE_RECORD_PINGS", 1) != 0;
    s->ping_same_host = number_of("SLACKLINE_RECORD_PINGS", 1) == 2;
    s->ping_every = number_of("SLACKLINE_RECORD_PING_EVERY", 0);
    s->depth = (int)number_of("SLACKLINE_RECORD_DEPTH", 0);
    s->yield = (int)number_of("SLACKLINE_RECORD_YIELD", 2);
    const char *shift = getenv("SLACKLINE_RECORD_TEST_CLOCK"); /* "offset in ns per rank,drift per rank" */
    if (shift != NULL) {
        char *rest = NULL;
        s->clock_offset = strtoll(shift, &rest, 10);
        if (*rest == ',') s->clock_drift = strtod(rest + 1, NULL);
    }
}

/* after_fork keeps a child process from writing into its parent's trace. */
static void after_fork(void) {
    atomic_store(&sl_active, false);
    sl_sampling_forked(sl_self);
    sl_counters_forked(sl_self);
    sl_self = NULL;
    pthread_setspecific(thread_end, NULL);
}

static void end_of_thread(void *p) {
    sl_detach(p);
}

static __attribute__((constructor)) void loaded(void) {
    read_settings();
    sl_loaded = sl_now();
    pthread_key_create(&thread_end, end_of_thread);
    pthread_atfork(NULL, NULL, after_fork);
}

static __attribute__((destructor)) void unloaded(void) {
    if (atomic_load(&sl_active) && first_thread != NULL) atomic_store(&sl_tail(first_thread->events.head)->exited, 1);
}

/* own_stack is the stack of this thread; nothing beyond it is read. If it is not known, nothing is. */
static struct sl_stack own_stack(void) {
    pthread_attr_t a;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &a) != 0) return (struct sl_stack){0, 0};
    pthread_attr_getstack(&a, &low, &size);
    pthread_attr_destroy(&a);
    return (struct sl_stack){(uintptr_t)low, (uintptr_t)low + size};
}

/* recorded_at says whether recording is on at a time. */
static bool recorded_at(uint64_t now) {
    if (atomic_load_explicit(&sl_switched_off, memory_order_relaxed) || atomic_load_explicit(&sl_full, memory_order_relaxed)) return false;
    if (sl_settings.window_from == 0 && sl_settings.window_to == 0) return true;
    if (sl_initialized == 0) return sl_settings.window_from == 0;
    uint64_t since = now < sl_initialized ? 0 : now - sl_initialized;
    return since >= sl_settings.window_from && (sl_settings.window_to == 0 || since < sl_settings.window_to);
}

/* times_on_at is how often recording had been on before a time when it is off. */
static uint32_t times_on_at(uint64_t now) {
    bool passed = sl_settings.window_to != 0 && sl_initialized != 0 && now >= sl_initialized + sl_settings.window_to;
    return 2 * atomic_load_explicit(&sl_switched_on, memory_order_relaxed) + passed;
}

/* lifetime keeps that a thread begins or ends, whatever the window. */
static void lifetime(struct sl_thread *t, uint16_t kind, uint64_t now) {
    bool on = t->on;
    t->on = !t->events.closed;
    sl_small(t, kind, 0, now, 0);
    t->on = on;
}

/* next_spare takes over the place of a thread that has ended. */
static struct sl_thread *next_spare(void) {
    pthread_mutex_lock(&threads_lock);
    struct sl_thread *t = spare;
    if (t != NULL) spare = t->spare;
    pthread_mutex_unlock(&threads_lock);
    if (t == NULL) return NULL;
    t->depth = 1;
    t->call = 0;
    t->poll = NULL;
    t->poll_end = 0;
    t->functions = t->regions = 0;
    t->last_comm_entry = NULL;
    t->team = t->ended = NULL;
    sl_stream_reopen(&t->events);
    sl_stream_reopen(&t->definitions);
    return t;
}

/* new_thread is a place that no thread had before. */
static struct sl_thread *new_thread(void) {
    struct sl_thread *t = sl_memory(sizeof *t);
    sl_failed = ENOMEM;
    if (t == NULL) return NULL;
    t->depth = 1;
    pthread_mutex_lock(&threads_lock);
    t->number = thread_count++;
    pthread_mutex_unlock(&threads_lock);
    t->paths = sl_paths_new();
    if (t->paths == NULL || sl_scratch(t, 1024) == NULL || !sl_stream_open(&t->events, t, false, &sl_failed)) return NULL;
    if (!sl_stream_open(&t->definitions, t, true, &sl_failed)) {
        unlink(t->events.path); /* events without definitions are no trace */
        return NULL;
    }
    pthread_mutex_lock(&threads_lock);
    t->next = threads;
    threads = t;
    if (t->number == 0) first_thread = t;
    if (first_thread != NULL) first_thread->events.head->threads = (uint32_t)thread_count;
    pthread_mutex_unlock(&threads_lock);
    if (sl_settings.estimate) { /* everything is counted and nothing kept */
        t->events.next = t->events.end;
        t->events.closed = true;
    }
    return t;
}

/* sl_attach begins the trace of this thread; NULL if there is none. */
struct sl_thread *sl_attach(void) {
    if (sl_self != NULL || !atomic_load(&sl_active)) return sl_self;
    if (refused) return NULL;
    struct sl_thread *t = next_spare();
    if (t == NULL && (t = new_thread()) == NULL) {
        refused = true;
        pthread_mutex_lock(&threads_lock);
        if (first_thread != NULL) atomic_fetch_add(&first_thread->events.head->refused, 1);
        pthread_mutex_unlock(&threads_lock);
        return NULL;
    }
    t->stack = own_stack();
    t->on = !t->off && (!t->events.closed || sl_settings.estimate); /* as the thread before it in this place left it */
    pthread_setspecific(thread_end, t);
    sl_self = t;
    sl_cpu_thread(t);
    uint64_t now = t->cpu_read != 0 ? t->cpu_read : sl_now();
    if (t->number > 0) {
        lifetime(t, SL_THREAD_BEGIN, now);
        if (sl_is_bounded()) sl_check_window(t, now);
    } else {
        t->on = t->on && recorded_at(now); /* what that means is recorded when recording begins */
        t->off = !t->on;
    }
    t->depth = sl_in_mpi > 0; /* MPI_Init has records to write before the first sample */
    sl_counters_thread(t);
    sl_hooks_attach(t);
    sl_sampling_thread(t);
    return t;
}

void sl_detach(struct sl_thread *t) {
    sl_sampling_end(t);
    sl_omp_close(t);
    t->depth++;
    sl_counters_end(t);
    uint64_t now = sl_now();
    bool active = atomic_load(&sl_active);
    if (active) {
        sl_cpu_end(t, now);
        if (!t->events.closed) { /* what was skipped numbers what other threads recorded, even if this one never notices that */
            t->on = true;
            sl_skips_keep(t, now);
        }
        lifetime(t, SL_THREAD_END, now);
    }
    sl_stream_close(&t->events, 1, t->poll);
    sl_stream_close(&t->definitions, 1, NULL);
    t->on = false;
    if (sl_self == t) sl_self = NULL;
    if (!active || t->number == 0) return;
    pthread_mutex_lock(&threads_lock);
    t->spare = spare;
    spare = t;
    pthread_mutex_unlock(&threads_lock);
}

/* sl_each_thread does something with all threads, which run on meanwhile. */
void sl_each_thread(void (*act)(struct sl_thread *)) {
    pthread_mutex_lock(&threads_lock);
    for (struct sl_thread *t = threads; t != NULL; t = t->next) act(t);
    pthread_mutex_unlock(&threads_lock);
}

/* recording reports whether another thread may be in the middle of a record. */
static bool recording(const struct sl_thread *t) {
    return t != sl_self && t->events.head != NULL && atomic_load(&t->events.head->closed) == 0;
}

/* silence lets the other threads write nothing from now on, and waits until those in the recorder have left it. Their functions may go on for as
 * long as the program; what a file gets after its end would be taken for damage. */
static void silence(void) {
    enum { DRAIN = 200, PATIENCE = 100000 }; /* us: until all threads see what was stored here; for those that jumped out of the recorder */
    bool any = false;
    atomic_store(&sl_over, true);
    for (struct sl_thread *t = threads; t != NULL; t = t->next) {
        if (!recording(t)) continue;
        __atomic_store_n(&t->on, false, __ATOMIC_RELAXED);
        any = true;
    }
    for (unsigned us = 0; any && us < PATIENCE; us += DRAIN) {
        usleep(DRAIN);
        any = false;
        for (const struct sl_thread *t = threads; t != NULL; t = t->next)
            any = any || (recording(t) && __atomic_load_n(&t->depth, __ATOMIC_ACQUIRE) > 0);
    }
}

/* sl_detach_all ends the traces of all threads; the other ones must not record any more. */
void sl_detach_all(void) {
    pthread_mutex_lock(&threads_lock);
    for (struct sl_thread *t = threads; t != NULL; t = t->next) {
        sl_sampling_end(t);
        sl_omp_close(t);
    }
    silence();
    for (struct sl_thread *t = threads; t != NULL; t = t->next) {
        sl_counters_leave(t);
        sl_stream_close(&t->events, 1, t->poll);
        sl_stream_close(&t->definitions, 1, NULL);
    }
    pthread_mutex_unlock(&threads_lock);
}

/* sl_drop drops the trace that a process has begun, and leaves the reason: a rank that cannot record. */
void sl_drop(struct sl_thread *t, int rank, int why) {
    char sign[1300];
    snprintf(sign, sizeof sign, "%s/r%d-t0.evt.failed-%d", sl_settings.directory, rank, why);
    atomic_store(&sl_active, false);
    sl_detach_all();
    sl_self = NULL;
    rename(t->events.path, sign);
    unlink(t->definitions.path);
}

/* sl_check_window switches recording of a thread by the time, and by what MPI_Pcontrol said to any thread of the process. A thread that finds
 * that recording was on for a time in which it called nothing notes that it is off again. */
void sl_check_window(struct sl_thread *t, uint64_t now) {
    bool on = recorded_at(now);
    uint32_t times = on ? t->times_on : times_on_at(now);
    if ((on == t->on && times == t->times_on) || (t->events.closed && !sl_settings.estimate) || atomic_load(&sl_over)) return;
    t->depth++;
    if (!t->on) {
        t->on = true;
        sl_skips_keep(t, now);
    }
    sl_small(t, on ? SL_ON : SL_OFF, 0, now, 0);
    t->times_on = times;
    t->on = on;
    t->off = !on;
    t->depth--;
}
