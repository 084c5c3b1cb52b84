/* Beginning and end of a program. */
#include "calls.h"
#include "children.h"
#include "displaced.h"
#include "signals.h"
#include "slackline_mpi.h"
#include "yield.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static _Thread_local int depth; /* Fortran's MPI_Init may call that of C */
static bool begun;

void inj_count_replaced(int function) { inj_add(&inj_report->replaced[function], 1); }

/* inj_count_left counts a collective that is left to MPI, unless this is the only rank that takes part. */
void inj_count_left(int function, MPI_Comm comm) {
    struct comm *c = inj_comm(comm);
    if (c == NULL || c->size > 1 || c->inter) inj_add(&inj_report->unhandled[function], 1);
    inj_drain();
}

/* look_around finds out how many hosts there are, and whether this one has more ranks than CPUs. */
static void look_around(void) {
    MPI_Comm host;
    int ranks = 1, rank = 0, hosts = 0;
    if (PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host) == MPI_SUCCESS) {
        PMPI_Comm_size(host, &ranks);
        PMPI_Comm_rank(host, &rank);
    } else {
        PMPI_Comm_dup(MPI_COMM_SELF, &host);
    }
    int first = rank == 0;
    PMPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    inj_report->hosts = hosts;
    inj_crowded = inj_settings.crowded == 2 ? ranks > sysconf(_SC_NPROCESSORS_ONLN) : inj_settings.crowded == 1;
    inj_report->crowded = inj_crowded;
    if (inj_crowded) prctl(PR_SET_TIMERSLACK, 1000);
    if (hosts > 1) inj_clocks_start(host);
    PMPI_Comm_free(&host);
}

/* waited_for_cpu is how long this thread could have run, but others had the CPU; -1: the kernel does not report it. */
static int64_t waited_for_cpu(void) {
    long long ran, waited = -1;
    FILE *f = fopen("/proc/thread-self/schedstat", "re");
    if (f == NULL) return -1;
    if (fscanf(f, "%lld %lld", &ran, &waited) != 2) waited = -1;
    fclose(f);
    return waited;
}

static int64_t begun_at, begun_waited;

/* displaced is a function that the program, or a library before this one, has itself: it calls PMPI, and messages and requests would be
 * made here and taken elsewhere. NULL if there is none. The recorder calls what comes next. */
static const char *displaced(void) {
    static const char *const names[] = {"Send", "Ssend", "Rsend", "Bsend", "Isend", "Issend", "Irsend", "Ibsend", "Recv", "Irecv",
        "Sendrecv", "Sendrecv_replace", "Mrecv", "Imrecv", "Probe", "Iprobe", "Mprobe", "Improbe", "Wait", "Waitall", "Waitany",
        "Waitsome", "Test", "Testall", "Testany", "Testsome", "Send_init", "Recv_init", "Start", "Startall", "Request_free"};
    const char *file;
    return sl_displaced(names, sizeof names / sizeof *names, dlsym(RTLD_DEFAULT, "slackline_region_begin"), &file);
}

/* is_displaced reports whether one rank has such a function; the ranks agree on it. */
static bool is_displaced(void) {
    const char *name = displaced();
    int own = name != NULL ? inj_rank : inj_ranks, first = own;
    PMPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == inj_rank) {
        char path[4096];
        snprintf(path, sizeof path, "%s/displaced", inj_settings.directory);
        FILE *f = fopen(path, "we");
        if (f != NULL) {
            fprintf(f, "MPI_%s", name);
            fclose(f);
        }
    }
    return first < inj_ranks;
}

static void start_injection(void) {
    MPI_Comm parent = MPI_COMM_NULL;
    if (begun) return;
    if (inj_settings.directory == NULL) return;
    begun = true;
    sl_free_children("SLACKLINE_INJECT_");
    PMPI_Comm_rank(MPI_COMM_WORLD, &inj_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &inj_ranks);
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        if (inj_rank == 0) inj_say("nothing is injected into processes started by MPI_Comm_spawn");
        return;
    }
    if (inj_settings.latency && is_displaced()) return;
    inj_report_open();
    look_around();
    if (inj_settings.latency) {
        inj_comms_start();
        inj_windows_start();
        inj_measure();
        atomic_store(&inj_active, true);
    }
    /* Noise starts at one time for all ranks: their places in it are those of a simulation. */
    int64_t now = inj_common(inj_now());
    begun_at = now;
    PMPI_Allreduce(&now, &begun_at, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    begun_at = inj_own_time(begun_at);
    begun_waited = waited_for_cpu(); /* not before: it is a part of the time since then */
    inj_noise_start(begun_at);
}

static void end(void) {
    inj_noise_end();
    int64_t waited = waited_for_cpu();
    inj_report->run_ns = inj_now() - begun_at;
    if (begun_waited >= 0 && waited >= begun_waited) inj_report->waited_ns = waited - begun_waited;
    if (atomic_load(&inj_active)) {
        inj_drain();
        inj_orphans_end();
        inj_clocks_end();
        atomic_store(&inj_active, false);
        inj_windows_end();
        inj_comms_end();
    }
    inj_report->finalized = 1;
}

/* Base: half of the shortest round-trip time of messages with heads, between two ranks. */
static void measure_base(int a, int b, int64_t *base) {
    enum { SIZES = 24, LARGEST = 1 << 22, MOST_NS = 20000000 };
    MPI_Comm comm = inj_comm(MPI_COMM_WORLD)->shadow;
    struct comm *c = inj_comm(comm);
    int64_t latency = inj_settings.latency_ns, *delay = c->delay;
    double gap = inj_settings.gap_ns;
    int panel = inj_settings.panel;
    bool crowded = inj_crowded;
    char *data = calloc(1, LARGEST);
    inj_settings.latency_ns = -1; /* heads, but nothing to wait for */
    inj_settings.gap_ns = 0;
    inj_settings.panel = 'd';
    c->delay = NULL;
    for (int k = 0; k < SIZES && (inj_rank == a || inj_rank == b) && data != NULL; k++) {
        int bytes = k == 0 ? 0 : 1 << (k - 1), rounds = bytes <= 65536 ? 60 : 12;
        int64_t shortest = INT64_MAX, size_start = inj_now();
        for (int i = 0; i < rounds; i++) {
            inj_crowded = i % 2 == 1; /* on a busy machine MPICH needs to give up the CPU to be as fast as on a quiet one */
            char again = i + 1 < rounds && inj_now() - size_start < MOST_NS;
            int64_t from = inj_now();
            if (inj_rank == a) {
                inj_send(STANDARD, data, bytes, MPI_BYTE, b, 0, comm);
                inj_Recv(data, bytes, MPI_BYTE, b, 0, comm, MPI_STATUS_IGNORE);
                int64_t time = inj_now() - from;
                if (time < shortest) shortest = time;
                PMPI_Send(&again, 1, MPI_CHAR, b, 1, comm);
            } else {
                inj_Recv(data, bytes, MPI_BYTE, a, 0, comm, MPI_STATUS_IGNORE);
                inj_send(STANDARD, data, bytes, MPI_BYTE, a, 0, comm);
                PMPI_Recv(&again, 1, MPI_CHAR, a, 1, comm, MPI_STATUS_IGNORE);
            }
            if (!again) break;
        }
        base[k] = shortest / 2;
        if (base == inj_report->base[0] && inj_settings.bases[k] > 0 && inj_settings.bases[k] < shortest / 2) base[k] = inj_settings.bases[k];
    }
    for (int k = SIZES - 2; k >= 0; k--) /* no message is faster than a smaller one: that one was disturbed */
        if (base[k] > base[k + 1]) base[k] = base[k + 1];
    inj_crowded = crowded;
    inj_settings.latency_ns = latency;
    inj_settings.gap_ns = gap;
    inj_settings.panel = panel;
    c->delay = delay;
    free(data);
    PMPI_Bcast(base, SIZES, MPI_INT64_T, a, comm);
    inj_report->sent = inj_report->received = inj_report->passed = inj_report->held = 0;
    inj_report->held_ns = inj_report->held_most_ns = inj_report->over_ns = inj_report->over_most_ns = 0;
}

/* is_eager lets two ranks know whether a send of so many bytes is complete before its receive. When an answer has come
 * to a message that was sent after it, the receiver has seen it: if it is not complete then, it never will be. */
static bool is_eager(MPI_Comm comm, int a, int b, char *data, int64_t bytes) {
    char ping = 0;
    int flag = 0;
    if (inj_rank == b) {
        PMPI_Recv(&ping, 1, MPI_CHAR, a, 1, comm, MPI_STATUS_IGNORE);
        PMPI_Send(&ping, 1, MPI_CHAR, a, 1, comm);
        PMPI_Recv(&flag, 1, MPI_INT, a, 2, comm, MPI_STATUS_IGNORE);
        PMPI_Recv(data, (int)bytes + HEAD, MPI_BYTE, a, 0, comm, MPI_STATUS_IGNORE);
        return flag;
    }
    MPI_Request request;
    PMPI_Isend(data, (int)bytes + HEAD, MPI_BYTE, b, 0, comm, &request);
    PMPI_Send(&ping, 1, MPI_CHAR, b, 1, comm);
    PMPI_Recv(&ping, 1, MPI_CHAR, b, 1, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < 10 && !flag; i++) PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    PMPI_Send(&flag, 1, MPI_INT, b, 2, comm);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    return flag;
}

/* measure_eager finds the size up to which messages need no handshake, between two ranks. */
static void measure_eager(int a, int b, int64_t *eager) {
    enum { LARGEST = 1 << 22 };
    MPI_Comm comm = inj_comm(MPI_COMM_WORLD)->shadow;
    char *data = NULL;
    bool crowded = inj_crowded;
    int64_t low = 0, high = 1; /* low is eager, high is not */
    inj_crowded = true; /* bears a busy machine */
    if ((inj_rank == a || inj_rank == b) && (data = malloc(LARGEST + HEAD)) != NULL) {
        memset(data, 0, LARGEST + HEAD);
        while (high <= LARGEST && is_eager(comm, a, b, data, high)) {
            low = high;
            high *= 2;
        }
        while (high <= LARGEST && high - low > 1) {
            int64_t middle = (low + high) / 2;
            if (is_eager(comm, a, b, data, middle)) low = middle;
            else high = middle;
        }
    }
    free(data);
    inj_crowded = crowded;
    *eager = high > LARGEST ? INT64_MAX : low;
    PMPI_Bcast(eager, 1, MPI_INT64_T, a, comm);
}

/* inj_measure finds out how the MPI sends messages by itself, on a host and between hosts, each with the first two ranks of that kind. */
void inj_measure(void) {
    for (int far = 0; far < 2; far++) {
        int a = 0, b = 1;
        bool found = false;
        for (int i = 0; i < inj_ranks && !found; i++)
            for (int k = i + 1; k < inj_ranks && !found; k++) {
                found = (inj_report->hosts > 1 && inj_hosts[i] != inj_hosts[k]) == far;
                a = i;
                b = k;
            }
        inj_report->eager[far] = inj_settings.eager;
        if (found && inj_settings.base_ns < 0) measure_base(a, b, inj_report->base[far]);
        if (found && inj_settings.eager < 0) measure_eager(a, b, &inj_report->eager[far]);
    }
}

/* slackline_injects marks this library for the recorder, which hands the program's calls on to it. */
INJ_EXPORT const char slackline_injects = 1;

INJ_EXPORT int MPI_Init(int *argc, char ***argv) {
    depth++;
    int result = PMPI_Init(argc, argv);
    if (--depth == 0 && result == MPI_SUCCESS) start_injection();
    return result;
}

INJ_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    depth++;
    int result = PMPI_Init_thread(argc, argv, required, provided);
    if (--depth == 0 && result == MPI_SUCCESS) start_injection();
    return result;
}

INJ_EXPORT int pthread_create(pthread_t *t, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (real == NULL) real = (__typeof__(real))dlsym(RTLD_NEXT, "pthread_create");
    sigset_t before;
    if (depth > 0) block_signals(&before);
    int result = real(t, attributes, function, argument);
    if (depth > 0) pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

INJ_EXPORT int MPI_Finalize(void) {
    if (begun && depth == 0) end();
    begun = false;
    depth++;
    int result = PMPI_Finalize();
    depth--;
    return result;
}

/* The same for Fortran, in its families of names. */
typedef void init_f(MPI_Fint *);
typedef void init_thread_f(MPI_Fint *, MPI_Fint *, MPI_Fint *);
void pmpi_init_(MPI_Fint *ierror) __attribute__((weak));
void pmpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror) __attribute__((weak));
void pmpi_finalize_(MPI_Fint *ierror) __attribute__((weak));

static void fortran_init(init_f *real, MPI_Fint *ierror) {
    MPI_Fint own;
    if (ierror == NULL) ierror = &own;
    depth++;
    real(ierror);
    if (--depth == 0 && *ierror == MPI_SUCCESS) start_injection();
}

static void fortran_init_thread(init_thread_f *real, MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror) {
    MPI_Fint own;
    if (ierror == NULL) ierror = &own;
    depth++;
    real(required, provided, ierror);
    if (--depth == 0 && *ierror == MPI_SUCCESS) start_injection();
}

static void fortran_finalize(init_f *real, MPI_Fint *ierror) {
    if (begun && depth == 0) end();
    begun = false;
    depth++;
    real(ierror);
    depth--;
}

INJ_EXPORT void mpi_init_(MPI_Fint *ierror) { fortran_init(pmpi_init_, ierror); }
INJ_EXPORT void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror) { fortran_init_thread(pmpi_init_thread_, required, provided, ierror); }
INJ_EXPORT void mpi_finalize_(MPI_Fint *ierror) { fortran_finalize(pmpi_finalize_, ierror); }
SL_FORTRAN_NAMES(mpi_init, MPI_INIT)
SL_FORTRAN_NAMES(mpi_init_thread, MPI_INIT_THREAD)
SL_FORTRAN_NAMES(mpi_finalize, MPI_FINALIZE)
#ifdef OPEN_MPI
INJ_EXPORT void ompi_init_f(MPI_Fint *ierror) { fortran_init(pmpi_init_, ierror); }
INJ_EXPORT void ompi_init_thread_f(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror) { fortran_init_thread(pmpi_init_thread_, required, provided, ierror); }
INJ_EXPORT void ompi_finalize_f(MPI_Fint *ierror) { fortran_finalize(pmpi_finalize_, ierror); }
#else
INJ_EXPORT void mpi_init_f08_(MPI_Fint *ierror) { fortran_init((init_f *)dlsym(RTLD_NEXT, "mpi_init_f08_"), ierror); }
INJ_EXPORT void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror) {
    fortran_init_thread((init_thread_f *)dlsym(RTLD_NEXT, "mpi_init_thread_f08_"), required, provided, ierror);
}
INJ_EXPORT void mpi_finalize_f08_(MPI_Fint *ierror) { fortran_finalize((init_f *)dlsym(RTLD_NEXT, "mpi_finalize_f08_"), ierror); }
#endif

#ifdef MPICH_NAME
SL_YIELD(inj_crowded)
#endif
