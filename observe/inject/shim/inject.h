/* The library that slackline preloads to put latency and noise on an MPI program: what its parts share.
 *
 * Every message of the program carries a head of 16 bytes in front of its data, with the time before which it must not be
 * delivered. The sender is not held up; the receive, or the call that completes it, returns no earlier than that. The head
 * travels in the message itself, so that matching stays MPI's own: wildcards, order, probes, cancelling. */
#ifndef INJ_H
#define INJ_H

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
#include <time.h>

#define INJ_EXPORT __attribute__((visibility("default")))
#define INJ_LIKELY(x) __builtin_expect(!!(x), 1)

/* The form of MPI's functions with the largest counts that there is. */
#if MPI_VERSION >= 4
#define RAW(name) PMPI_##name##_c
#define RAW_COUNT(n) (n)
#else
#define RAW(name) PMPI_##name
#define RAW_COUNT(n) ((int)(n))
#endif

enum { SPIN_NS = 3000, SLEEP_NS = 60000 };

struct head {
    int64_t release; /* it is not delivered before; 0: at once; odd: in the time of rank 0's clock, for another host */
    int64_t after;   /* a message with a handshake: nor earlier than this after its receive was posted */
};
enum { HEAD = sizeof(struct head), BOUNCE = 32768 };

/* What Go reads after the run, in this order (report.go), from a file that is mapped and shared: it is there however the
 * process ends. */
enum { FUNCTIONS = 512 };
struct report {
    int64_t magic, version;
    int64_t rank, ranks, hosts, crowded, finalized;
    int64_t sent, received;              /* messages with a head */
    int64_t held, held_ns, held_most_ns; /* receives that waited for their release, and how long */
    int64_t over_ns, over_most_ns;       /* by how much they returned later than that */
    int64_t passed, early_probes;        /* arrived after the release; probes whose first look found a message */
    int64_t detours, detour_ns, skipped; /* noise; detours that passed while the rank slept */
    int64_t noise_ns;                    /* how long there was noise, from MPI_Init to MPI_Finalize */
    int64_t run_ns, waited_ns;           /* of the thread that called MPI_Init, until MPI_Finalize: all its time, and that in
                                          * which it could have run, but others had the CPU; -1: unknown */
    int64_t other_clock;                 /* its clock is not that of rank 0 */
    int64_t clock_answers, clock_off_ns; /* good comparisons with that after MPI_Init, and by how much they surprised */
    int64_t eager[2];                    /* larger messages have a handshake; on one host and between hosts */
    int64_t base[2][24];                 /* ns for 0, 1, 2, 4 ... 2^22 bytes; the same */
    int64_t replaced[FUNCTIONS], unhandled[FUNCTIONS];
};

struct rule { int from_low, from_high, to_low, to_high; int64_t ns; };

struct settings {
    const char *directory;
    bool latency;        /* messages carry heads */
    int64_t latency_ns;  /* of all messages, if there are no rules */
    struct rule *rules;  /* later ones come before earlier ones */
    int n_rules;
    double gap_ns;       /* per byte */
    int64_t base_ns;     /* given by the user; -1: measured */
    int64_t bases[24];   /* the shortest of earlier runs; 0: unknown */
    int64_t eager;       /* larger messages have a handshake; -1: measured */
    const char *noise;   /* file; NULL: none */
    int crowded;         /* 0, 1, 2: find out */
    int panel;           /* which panel of the figure: 'd', or for comparison 'b' or 'c' */
};
extern struct settings inj_settings;
extern struct report *inj_report;
extern atomic_bool inj_active; /* messages carry heads */
extern bool inj_crowded;
extern int inj_rank, inj_ranks;

static inline int64_t inj_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void inj_add(int64_t *counter, int64_t n) {
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

void inj_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void inj_report_open(void);

/* comms.c: what is known of a communicator */
struct comm {
    bool raw;       /* reaches processes without this library: messages carry no heads */
    bool inter;
    int rank, size; /* size: of the group that messages go to */
    bool *far;      /* by rank: it is on another host; NULL: all are on one */
    MPI_Comm shadow; /* for the messages of replaced collectives; MPI_COMM_NULL: they are not replaced */
    bool late;       /* made without our knowing, as by MPI_Comm_idup: its shadow is made by the first collective that may block */
    int64_t *delay, *incoming; /* of messages to and from a peer; NULL: the same for all */
    atomic_int references, sequence, kept; /* kept: persistent collectives */
};
extern MPI_Comm inj_own; /* of this rank alone */
struct comm *inj_comm(MPI_Comm comm);
void inj_comm_made(MPI_Comm parent, MPI_Comm made);
void inj_group_made(MPI_Comm parent, MPI_Group group, int tag, MPI_Comm made);
void inj_shadow_late(MPI_Comm comm, struct comm *c);
extern _Thread_local int inj_making; /* calls that make communicators, one inside of the other */
void inj_comm_release(struct comm *c);
void inj_comms_start(void);
void inj_comms_end(void);

/* types.c */
bool inj_plain(MPI_Datatype type, int64_t *size); /* without gaps and never freed */
int inj_joined(struct head *h, const void *buffer, MPI_Count count, MPI_Datatype type, MPI_Datatype *joined);
int64_t inj_size(MPI_Count count, MPI_Datatype type);
bool inj_bad(MPI_Count count, MPI_Datatype type);
extern bool inj_no_aliases; /* MPI refuses them */
bool inj_aliased(const void *from, MPI_Count count, MPI_Datatype type, const void *to, MPI_Count to_count, MPI_Datatype to_type);
int inj_copy(const void *from, MPI_Count count, MPI_Datatype type, void *to, MPI_Count to_count, MPI_Datatype to_type);

/* requests.c: what is known of a request */
enum kind { SENDS = 1, RECEIVES, RUNS, FOREIGN, ANSWERED /* of a one-sided call */, COLLECTIVE /* persistent */ };
/* A handshake, as its sender sees it: the request has to reach the receiver, and the grant to come back. */
struct handshake {
    int64_t until;  /* the sender is not done before; 0: there is none */
    int64_t back;   /* what the grant takes */
    int64_t open;   /* when the send was last seen incomplete; 0: never */
    int64_t closed; /* when it was complete, as far as is known; 0: earlier than anybody looked */
    bool seen;      /* complete */
};
struct entry {
    struct entry *next;
    MPI_Request handle;
    enum kind kind;
    bool persistent, active, buffered;
    struct head head;
    struct handshake handshake; /* of a send */
    int64_t posted;             /* a receive; of a one-sided call: when its answer is there */
    char *bounce; /* holds head and data; NULL: head above, data in its place */
    size_t room;
    void *user;   /* where data from bounce goes */
    int64_t bytes;
    MPI_Datatype joined; /* of persistent requests */
    struct comm *comm;   /* of persistent sends */
    int dest, tag;
    MPI_Comm to;         /* of buffered persistent sends */
    MPI_Count count;
    MPI_Datatype type;
    struct schedule *schedule; /* of a persistent collective */
    MPI_Request running;       /* the same, started */
    struct entry *sending;     /* of MPI_Isendrecv */
};
struct entry *inj_entry(enum kind kind);
void inj_keep(struct entry *e, MPI_Request handle);
void inj_moved(struct entry *e, MPI_Request handle);
struct entry *inj_find(MPI_Request handle);
struct entry *inj_take(MPI_Request handle); /* finds, and forgets unless persistent */
void inj_drop(struct entry *e);
void *inj_room(size_t size, size_t *room);
void inj_give_back(void *memory, size_t room);
void inj_orphan(struct entry *e);
void inj_orphans_poll(void);
void inj_orphans_end(void);
void inj_buffered_end(void);

/* messages.c */
void inj_stamp(struct head *h, struct comm *c, int dest, int64_t bytes, struct handshake *hand);
int64_t inj_release(const struct head *h, int64_t posted);
void inj_look_at(struct handshake *h, bool complete);
int64_t inj_granted(struct handshake *h);
int inj_sending_mode(int mode, int64_t bytes);
int64_t inj_delay(const struct comm *c, int dest); /* -1: nothing is injected */
int64_t inj_delay_back(const struct comm *c, int source);
int64_t inj_arrival(const struct comm *c, int dest, int64_t bytes);
int64_t inj_answer(const struct comm *c, int source, int64_t bytes);
void inj_stamp_late(struct head *h, struct comm *c, int dest, int64_t due);
int64_t inj_due(const struct comm *c, int source, int64_t before);
void inj_hold(int64_t release);
void inj_relax(int64_t left);
int inj_isend(int mode, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, struct comm *c, struct entry **e, MPI_Request *request);
int inj_irecv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, struct entry **e, MPI_Request *request);
int64_t inj_finish(struct entry *e, MPI_Status *status, int result);
int64_t inj_second_half(struct entry *e);
void inj_less_head(MPI_Status *status);
int64_t inj_status_bytes(const MPI_Status *status);
int64_t inj_base(int64_t bytes, bool far);
enum { STANDARD, SYNCHRONOUS, READY, BUFFERED };

/* clocks.c: the clocks of several hosts */
extern int *inj_hosts; /* by rank of MPI_COMM_WORLD: the first rank of its host */
void inj_clocks_start(MPI_Comm host);
void inj_clocks_end(void);
int64_t inj_common(int64_t own);
int64_t inj_own_time(int64_t common);

/* schedule.c: collectives as rounds of messages */
extern atomic_int inj_running;
static inline bool inj_busy(void) { return atomic_load_explicit(&inj_running, memory_order_relaxed) > 0; }
void inj_progress(void);
void inj_drain(void);
bool inj_op_needed(MPI_Op op);
void inj_forget(struct schedule *s);
int inj_start_collective(struct entry *e);

/* Tags of the messages of a shadow: collectives, persistent ones, windows. */
enum { INJ_TAGS = 16384, INJ_WINDOW_TAGS = 32766 };
enum { INJ_NEVER = 1 }; /* on inj_own: nothing is sent with this tag */
void inj_windows_start(void);
void inj_windows_end(void);

int inj_own_request(int *outcome, MPI_Request *request);
int inj_done_request(MPI_Request *request);

/* what the generated wrappers count */
void inj_count_replaced(int function);
void inj_count_left(int function, MPI_Comm comm);

/* lifecycle.c and noise.c */
void inj_noise_start(int64_t start); /* when the ranks' places in the noise hold */
void inj_noise_end(void);
void inj_measure(void);

#endif
