/* The recorder of slackline: what all its parts share.
 *
 * The recorder is preloaded into an MPI program. Each thread writes records into a file of its own, through a shared
 * mapping, so that whatever ends the process leaves what was recorded. Nothing is computed here: the records go to
 * the collector as they are. */
#ifndef SL_CORE_H
#define SL_CORE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#define SL_LIKELY(x) __builtin_expect(!!(x), 1)
#define SL_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SL_EXPORT __attribute__((visibility("default")))
#define SL_INLINE static inline __attribute__((always_inline)) /* also in the wrappers, which are compiled with -O1 */

/* What a record says. The numbers are part of the raw format; raw.go has the same list. */
enum sl_kind {
    SL_CALL = 1,     /* a call of MPI, nothing more known; of probes: whether they found something, peer|tag, comm|0 */
    SL_SEND,         /* bytes, peer|tag, comm|0, request (0: blocking), of a partitioned message its channel */
    SL_RECV,         /* bytes, peer|tag, comm|0: a blocking receive */
    SL_POST,         /* bytes, peer|tag, comm|0, request: a receive was posted */
    SL_SENDRECV,     /* sent bytes, peer|tag, comm|0, received bytes, peer|tag, of a non-blocking one its request */
    SL_COMPLETE,     /* tested request, then per completed request: see requests.c; of a wait that goes on: requests n, requests */
    SL_START,        /* per request: see requests.c */
    SL_CANCEL,       /* request */
    SL_COLLECTIVE,   /* sent, received, comm|root, request, counts */
    SL_NEWCOMM,      /* parent comm (-1: its members make it, -2: it is there)|new comm */
    SL_FREECOMM,     /* comm */
    SL_SAMPLE,       /* enter: time; path; function: 1 if the thread has slept since the record before */
    SL_SPAN,         /* path waits in a system call from enter to leave */
    SL_ENTER,        /* data: address of a function; enter: time */
    SL_LEAVE,        /* the same */
    SL_REGION_ENTER, /* data: number of a name */
    SL_REGION_LEAVE,
    SL_OMP,          /* function: what; data: size */
    SL_PING,         /* partner, sent, answered, back */
    SL_OFF,          /* recording stopped, or found no room */
    SL_ON,
    SL_PROGRAM_BEGIN,
    SL_PROGRAM_END,
    /* definitions */
    SL_DEF_PATH,    /* path: number; data: parent, address */
    SL_DEF_COMM,    /* path: number; data: sizes, remote group|rank, members, those of the remote group, time; see worlds.c */
    SL_DEF_CART,    /* path: comm; data: dimensions, then sizes, periods, coordinates */
    SL_DEF_NAME,    /* path: number; data: text */
    SL_DEF_MODULES, /* data: text of /proc/self/maps */
    /* what was not recorded */
    SL_SKIPS,       /* per entry: kind|comm, peer|tag, count; see skips.h */
    SL_LATE,        /* definition: a request as in SL_COMPLETE that was begun while recording was on and completed while it was off, or a
                       receive that was posted while it was off and that another thread has completed */
    SL_DEF_CODE,    /* definition, path: number; data: line, then name and file of a function of Python, each with a zero byte */
    /* facts about a thread */
    SL_NO_CPU = 40,   /* enter: time; data: ns until then in which it could have run but had no CPU */
    SL_THREAD_BEGIN,  /* a further thread writes here */
    SL_THREAD_END,
    /* windows and files */
    SL_WINDOW = 50,   /* target|window, sent, received, request (or shared, found, ranks n), ranks of a group */
    SL_FILE,          /* file, bytes, request */
    SL_DEF_WINDOW,    /* path: number; data: comm, function that made it */
    SL_DEF_FILE,      /* the same, and its name */
    /* further definitions */
    SL_DEF_NEIGHBORS = 60, /* path: comm; data: targets|sources, then ranks, -1: nobody */
    SL_DEF_COUNTS,         /* path: number; data: bytes by peer of a persistent collective */
};

/* What an SL_OMP record says, in its field function. */
enum sl_omp { SL_OMP_FORK = 1, SL_OMP_JOIN, SL_OMP_TEAM_BEGIN, SL_OMP_TEAM_END,
    SL_OMP_BARRIER_ENTER, SL_OMP_BARRIER_LEAVE, SL_OMP_IMPLICIT_ENTER, SL_OMP_IMPLICIT_LEAVE,
    SL_OMP_LOOP_ENTER, SL_OMP_LOOP_LEAVE, SL_OMP_SINGLE_ENTER, SL_OMP_SINGLE_LEAVE,
    SL_OMP_SECTIONS_ENTER, SL_OMP_SECTIONS_LEAVE, SL_OMP_CRITICAL_ENTER, SL_OMP_CRITICAL_LEAVE,
    SL_OMP_TASKWAIT_ENTER, SL_OMP_TASKWAIT_LEAVE };

/* A record: 32 bytes and words-4 further words. */
struct sl_record {
    uint16_t kind, function;
    uint32_t words; /* of 8 bytes, all of it; the last ones may be what was counted: the high bits say how many, see counters.c */
    uint32_t path;
    uint32_t count; /* further unsuccessful calls that this one stands for, or what the kind says */
    uint64_t enter, leave;
    uint64_t data[];
};
#define SL_HEAD 4 /* words */
#define SL_COUNTED_SHIFT 24
static inline uint32_t sl_words(const struct sl_record *r) { return r->words & (((uint32_t)1 << SL_COUNTED_SHIFT) - 1); }
/* sl_end_of_data is where the data of a record end, before what was counted. */
static inline const uint64_t *sl_end_of_data(const struct sl_record *r) {
    return (const uint64_t *)(const void *)r + sl_words(r) - (r->words >> SL_COUNTED_SHIFT);
}

static inline uint64_t sl_pair(int32_t high, int32_t low) { return (uint64_t)(uint32_t)high << 32 | (uint32_t)low; }

/* A file of records: a page of head, then chunks. */
struct sl_chunk {
    uint64_t magic, sequence;
    _Atomic uint64_t used; /* bytes with this head; a record behind them was begun and not finished */
    uint64_t seal;         /* checksum of the words that are there for good, and how many; 0: it is written to */
};

/* A checksum of words that grow in number; done: those that are in it. */
struct sl_sum { uint64_t lane[4]; size_t done; };

struct sl_stream {
    const char *path;
    bool closed;       /* no room: nothing more is recorded */
    bool ring;
    uint8_t *chunk, *next; /* the mapped chunk, where the next record goes */
    uint8_t *end;
    size_t size;       /* of a chunk */
    uint64_t sequence; /* of the mapped chunk */
    uint64_t most;     /* chunks that the file may have; 0: any number */
    struct sl_skips *dropped; /* what is counted of chunks that are overwritten */
    struct sl_head *head;
    int file;          /* descriptor, + 1; 0: none */
    uint64_t identity; /* of that file */
    struct sl_sum sum; /* of the chunk, as far as it was sealed */
};

#define SL_MAGIC 0x317761726c73ULL /* "slraw1" */
#define SL_CHUNK_MAGIC 0x6b6e756863736cULL
#define SL_VERSION 2
#define SL_PAGE 4096
#define SL_SEAL_BITS 24 /* of a seal: the number of words */
enum { SL_MOST_COUNTERS = 16 };

struct sl_head {
    uint64_t magic, version;
    uint32_t rank, ranks, thread, threads; /* threads: of this process so far, kept by thread 0 */
    uint32_t chunk_size, definitions;      /* definitions: 1 in the file of definitions */
    uint64_t start;                        /* when the recorder was loaded, of further threads when the first began, ns */
    uint64_t wall;                         /* seconds since 1970 times 1e9, at the same moment */
    uint64_t period;                       /* of samples, ns */
    _Atomic uint64_t closed;               /* 1: the thread ended its trace, 2: there was no room */
    _Atomic uint64_t lost;                 /* records without room */
    _Atomic uint64_t bytes;                /* that would have been written (estimate) */
    _Atomic uint64_t records, samples, skipped;
    uint64_t pid, tid;
    uint64_t yields;                       /* 1: MPICH is made to yield */
    uint64_t self;                         /* an address inside the recorder */
    char host[256], boot[64], library[512], program[1024];
    _Atomic uint64_t waited;               /* ns without a CPU */
    _Atomic uint64_t refused;              /* threads of this process that could not be recorded, kept by thread 0 */
    uint64_t base;                         /* the first rank of its world */
    uint8_t counters_failed[SL_MOST_COUNTERS]; /* why they are not counted: numbers of errno; 0: they are */
    uint32_t counters, counting_ended;     /* how many are wanted; 1: they were not counted all of the time, so counting has ended */
};

/* The end of the page of the head. */
struct sl_tail {
    uint64_t run, ring;       /* the number of the run, which all its files have; chunks of a ring, 0: it is none */
    uint64_t seal;            /* checksum of what does not change in the head */
    _Atomic uint64_t exited;  /* 1: the program ended without MPI_Finalize, by itself */
    uint64_t clock_cost;      /* ns that pass between two readings of the clock */
    _Atomic uint64_t failure; /* why there was no room: a number of errno; 0: the limit of size */
};
static inline struct sl_tail *sl_tail(struct sl_head *h) {
    return (struct sl_tail *)(void *)((uint8_t *)h + SL_PAGE - sizeof(struct sl_tail));
}

/* Between both, the last record of the thread that was not kept: who looks from outside finds the call that the thread is in there,
 * or behind the last record of its chunk. */
enum { SL_UNKEPT = 2048, SL_UNKEPT_WORDS = (SL_PAGE - SL_UNKEPT - sizeof(struct sl_tail)) / 8 };
_Static_assert(sizeof(struct sl_head) <= SL_UNKEPT, "the head and the record behind it overlap");

struct sl_paths;
struct sl_codes;
struct sl_comm;
struct sl_team;
struct sl_skips;
struct sl_counting;

/* What the recorder knows of a thread. */
struct sl_thread {
    volatile int depth;       /* in MPI calls, or in the recorder */
    uintptr_t call;           /* place on the stack of the MPI call that the program is in; 0: none */
    bool on;                  /* records are kept */
    int number;
    struct sl_stream events, definitions;
    struct sl_paths *paths;
    struct sl_codes *codes;   /* of Python; NULL: none was met */
    struct sl_stack { uintptr_t low, top; } stack; /* all of it that is in use can be read */
    struct sl_record *poll;   /* run of unsuccessful calls that may go on */
    uint64_t poll_end;        /* of the last unsuccessful test, ns; 0: there was none */
    uint64_t poll_cpu, poll_cpu_at; /* CPU time at a moment of a run of such tests, ns */
    uint64_t poll_begin, poll_work; /* of a run of such tests; CPU time between them, ns */
    MPI_Comm last_comm;
    struct sl_comm *last_comm_entry;
    uint32_t last_comm_age;
    int functions;            /* open instrumented functions */
    int32_t regions;
    volatile enum sl_sampled_by { SL_BY_NOTHING, SL_BY_PERF, SL_BY_TICKS } sampled_by;
    int timer, perf;          /* what sends the signals of samples; perf is a descriptor */
    uint64_t perf_id;
    void *page;               /* of the perf event */
    uint64_t random;          /* the distance of samples */
    long sleeps;              /* how often it had given up the CPU when it was sampled last */
    int cpu_file;             /* schedstat; -1: none */
    uint64_t cpu_identity;    /* of that file */
    uint64_t cpu_read, cpu_waited; /* time of the last reading, what it was, ns */
    bool off;                 /* the last record says that recording was switched off */
    struct sl_team *team, *ended; /* OpenMP: the team it works in, one whose end it has not seen */
    uint32_t times_on;        /* how often recording had been on when it was found to be off */
    struct sl_skips *skips;   /* what was not recorded since recording was switched off */
    _Atomic(struct sl_thread *) skips_holder; /* who reads or changes them: the thread that ends MPI writes those of all threads */
    struct sl_counting *counting; /* perf events; NULL: there are none */
    uint32_t count_words;     /* room for them in the record of a call */
    uint64_t *scratch;        /* where records go that are not kept */
    size_t scratch_words;
    MPI_Request *handles;     /* room for request arrays */
    MPI_Status *statuses;
    MPI_Fint *fortran;
    size_t handles_room, statuses_room, fortran_room;
    struct sl_thread *next;
    struct sl_thread *spare;  /* the next one whose thread has ended */
};

enum sl_callpath { SL_PATH_OFF, SL_PATH_CALLER, SL_PATH_FULL };

struct sl_settings {
    char directory[1024];
    uint64_t run;           /* its number */
    enum sl_callpath callpath;
    uint64_t period;        /* ns; 0: no samples */
    uint64_t max_size;      /* bytes per thread; 0: any */
    bool ring, estimate, quiet, begin_off, pings, ping_same_host;
    uint64_t window_from, window_to; /* ns after MPI_Init; 0: none */
    uint64_t ping_every;    /* ns; 0: only at both ends */
    int depth;              /* of instrumented functions; 0: any */
    int yield;              /* 0 off, 1 on, 2: if there are more ranks than CPUs */
    int64_t clock_offset;   /* tests: ns added to the clock, per rank */
    double clock_drift;     /* tests: relative, per rank */
};

extern struct sl_settings sl_settings;
extern _Atomic bool sl_active;          /* between MPI_Init and MPI_Finalize */
extern _Atomic bool sl_over;            /* after MPI_Finalize: nothing is written any more */
extern _Atomic bool sl_bounded;         /* recording may be switched off and on */
extern _Atomic bool sl_switched_off;    /* by MPI_Pcontrol */
extern _Atomic uint32_t sl_switched_on; /* how often MPI_Pcontrol did */
extern _Atomic bool sl_full;            /* a thread had no room for more: all stop */
extern bool sl_threaded;                /* MPI_THREAD_MULTIPLE */
extern int sl_rank, sl_ranks;
extern uint64_t sl_loaded, sl_initialized;
extern __thread struct sl_thread *sl_self __attribute__((tls_model("initial-exec")));
extern __thread int sl_in_mpi __attribute__((tls_model("initial-exec"))); /* also without a thread's record */

uint64_t sl_shifted_clock(uint64_t now);
SL_INLINE uint64_t sl_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    if (SL_UNLIKELY(sl_settings.clock_offset != 0 || sl_settings.clock_drift != 0)) return sl_shifted_clock(now);
    return now;
}

/* stream.c */
bool sl_stream_open(struct sl_stream *s, struct sl_thread *t, bool definitions, int *failed);
void sl_stream_close(struct sl_stream *s, uint64_t how, const struct sl_record *open);
void sl_stream_reopen(struct sl_stream *s);
struct sl_record *sl_stream_room(struct sl_thread *t, struct sl_stream *s, uint32_t words);
uint64_t sl_checksum(const uint64_t *words, size_t n, uint64_t from);
struct sl_record *sl_scratch(struct sl_thread *t, uint32_t words);

/* thread.c */
struct sl_thread *sl_attach(void);
void sl_each_thread(void (*act)(struct sl_thread *));
void sl_drop(struct sl_thread *t, int rank, int why);
extern __thread int sl_failed;
void sl_detach(struct sl_thread *t);
void sl_detach_all(void);
void sl_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *sl_memory(size_t bytes);
void *sl_map(size_t bytes, int protection, int flags, int fd, off_t offset);
void sl_unmap(void *p, size_t bytes);
int sl_open(const char *path, int flags);
void sl_close(int fd);
ssize_t sl_pread(int fd, void *p, size_t n, off_t offset);
ssize_t sl_pwrite(int fd, const void *p, size_t n, off_t offset);
int sl_reserve(int fd, off_t offset, off_t size);
void sl_check_window(struct sl_thread *t, uint64_t now);
static inline bool sl_is_bounded(void) { return SL_UNLIKELY(atomic_load_explicit(&sl_bounded, memory_order_relaxed)); }

/* unwind.c */
struct sl_frame { uintptr_t pc, sp, bp; };
void sl_modules_load(void);
void sl_modules_forget(void);
extern _Atomic bool sl_modules_stale;
void sl_look_again(void);
uintptr_t sl_caller(struct sl_frame f, const struct sl_stack *stack);
bool sl_runs(struct sl_frame f, const struct sl_stack *stack, uintptr_t place);
int sl_unwind(struct sl_frame f, const struct sl_stack *stack, uintptr_t *addresses, int most);

/* A frame of a call stack, and the words of the stack from which its caller was found; lowest: of these and those of outer frames. */
struct sl_level { struct sl_frame frame; uint32_t reads, node; uintptr_t at[3], value[3], lowest; };
int sl_unwind_again(struct sl_frame f, const struct sl_stack *stack, struct sl_level *levels, int *count);

bool sl_in_python(uintptr_t address);

/* Addresses in call paths: what was sampled is exact, all others are return addresses; a function of Python has a number. */
#define SL_EXACT ((uintptr_t)1 << 63)
#define SL_CODE ((uintptr_t)1 << 62)
enum { SL_MOST_DEPTH = 256 };

/* python.c */
uintptr_t sl_python_find(void);
bool sl_python_known(void);
int sl_python(struct sl_thread *t, uintptr_t *addresses, int n, int most, bool exact);
uintptr_t sl_python_caller(struct sl_thread *t);

/* paths.c */
struct sl_paths *sl_paths_new(void);
uint32_t sl_path_of(struct sl_thread *t, struct sl_frame f, bool exact);
uint32_t sl_path_caller(struct sl_thread *t, uintptr_t address);
void sl_define(struct sl_thread *t, uint16_t kind, uint32_t number, const void *data, size_t words);
uint32_t sl_name(struct sl_thread *t, const char *text);

/* sampling.c */
void sl_sampling_start(void);
void sl_sampling_again(void);
void sl_sampling_thread(struct sl_thread *t);
void sl_sampling_end(struct sl_thread *t);
bool sl_slept(struct sl_thread *t);
int sl_high_descriptor(int fd);
void sl_sampling_forked(struct sl_thread *t);

/* cpu.c */
void sl_cpu_thread(struct sl_thread *t);
void sl_cpu_check(struct sl_thread *t, uint64_t now);
struct sl_record *sl_cpu_before(struct sl_thread *t, struct sl_record *r, uint64_t now);
#define SL_CPU_EVERY 250000 /* ns between readings */
SL_INLINE bool sl_cpu_is_due(const struct sl_thread *t, uint64_t now) {
    return now >= t->cpu_read + SL_CPU_EVERY && t->cpu_file >= 0;
}
void sl_cpu_end(struct sl_thread *t, uint64_t now);

/* yield.c */
void sl_yield_decide(void);
bool sl_yield_forced(void);

/* clocks.c */
void sl_clocks(struct sl_thread *t);
void sl_clocks_end(void);

/* hooks.c */
void sl_filter_load(void);
void sl_hooks_attach(struct sl_thread *t);

/* ns; who does more between two unsuccessful calls computes. If it took longer, the CPU time decides: the thread may have
 * slept, or had no CPU. */
#define SL_POLL_GAP 5000
#define SL_AGAIN ((uint32_t)1 << 31) /* in the count of a test: it follows an unsuccessful one, and nothing was done since */

/* skips.c */
#define SL_SKIP_WORDS 3
void sl_unkept(struct sl_thread *t, const struct sl_record *r, uint32_t words);

/* counters.c */
void sl_counters_append(struct sl_thread *t, struct sl_record *r, bool call, const uint64_t *values);

/* openmp.c */
void sl_omp_close(struct sl_thread *t);

/* The frame of the function that calls this macro's user: every wrapper keeps a frame pointer. */
#define SL_CALLER ((struct sl_frame){(uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0) + 16, \
    *(uintptr_t *)__builtin_frame_address(0)})

static inline uint32_t sl_path(struct sl_thread *t, struct sl_frame f) {
    if (sl_settings.callpath == SL_PATH_FULL) return sl_path_of(t, f, false);
    if (sl_settings.callpath == SL_PATH_CALLER) return sl_path_caller(t, sl_caller(f, &t->stack));
    return 0;
}

/* sl_room_off gives a place for a record that becomes valid with sl_keep, also while recording is off. */
static inline struct sl_record *sl_room_off(struct sl_thread *t, uint32_t words) {
    struct sl_stream *s = &t->events;
    words += t->count_words;
    if (SL_LIKELY(s->next + words * 8u + 8 <= s->end)) return (struct sl_record *)(void *)s->next;
    return sl_stream_room(t, s, words);
}

/* sl_room does so while recording is on; else the record will be counted only. */
static inline struct sl_record *sl_room(struct sl_thread *t, uint32_t words) {
    return SL_UNLIKELY(!t->on) ? sl_scratch(t, words) : sl_room_off(t, words);
}

static inline void sl_keep(struct sl_thread *t, struct sl_record *r, uint32_t words) {
    struct sl_stream *s = &t->events;
    if (SL_UNLIKELY((uint8_t *)r != s->next)) {
        sl_unkept(t, r, words);
        return;
    }
    s->next += words * 8u;
    *(uint64_t *)(void *)s->next = 0; /* no record behind this one */
    atomic_store_explicit(&((struct sl_chunk *)(void *)s->chunk)->used, (uint64_t)(s->next - s->chunk), memory_order_release);
}

static inline struct sl_record *sl_head(struct sl_record *r, uint16_t kind, uint16_t function, uint32_t words, uint32_t path, uint64_t enter) {
    r->words = words;
    r->path = path;
    r->count = 0;
    r->enter = enter;
    r->leave = 0;
    r->function = function;
    atomic_signal_fence(memory_order_seq_cst);
    r->kind = kind;
    return r;
}

bool sl_left(struct sl_thread *t, uintptr_t place);

/* sl_busy reports whether a thread is in an MPI call of the program, or in the recorder. */
SL_INLINE bool sl_busy(struct sl_thread *t) {
    return SL_UNLIKELY(t->depth > 0) && !sl_left(t, (uintptr_t)__builtin_frame_address(0));
}

/* sl_small_from keeps a record without an end. */
static inline void sl_small_from(struct sl_thread *t, uint16_t kind, uint16_t function, uint32_t path, uint64_t time, uint64_t data) {
    if (sl_is_bounded() && t->depth == 0) sl_check_window(t, time);
    t->depth++;
    struct sl_record *r = sl_head(sl_room(t, SL_HEAD + 1), kind, function, SL_HEAD + 1, path, time);
    r->data[0] = data;
    r->leave = time;
    if (SL_UNLIKELY(t->count_words > 0) && kind >= SL_ENTER && kind <= SL_OMP) sl_counters_append(t, r, false, NULL);
    sl_keep(t, r, sl_words(r));
    t->poll = NULL;
    t->depth--;
}

static inline void sl_small(struct sl_thread *t, uint16_t kind, uint16_t function, uint64_t time, uint64_t data) {
    sl_small_from(t, kind, function, 0, time, data);
}

#endif
