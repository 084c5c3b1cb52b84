/* Beginning and end of a program: MPI_Init, MPI_Init_thread, MPI_Finalize, MPI_Abort, and what switches recording. */
#include "calls.h"
#include "children.h"
#include "counters.h"
#include "displaced.h"
#include "functions.h"
#include "fortran.h"
#include "lifecycle.h"
#include "skips.h"
#include "worlds.h"
#include "stack.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* define_modules keeps what is loaded where, for the symbols. */
static void define_modules(struct sl_thread *t) {
    enum { MOST = 100000 };
    char *text = calloc(1, MOST + 8);
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    if (text != NULL && fd >= 0) {
        ssize_t got;
        while (n < MOST && (got = read(fd, text + n, MOST - n)) > 0) n += (size_t)got;
        sl_define(t, SL_DEF_MODULES, 0, text, n / 8 + 1);
    }
    if (fd >= 0) close(fd);
    free(text);
}

/* keep_skips records what a thread has skipped that lives, but will do nothing any more: it numbers what others recorded since then. */
static void keep_skips(struct sl_thread *t) { sl_skips_keep(t, sl_now()); }

static int users;  /* MPI_Init and sessions that have not ended */
static bool ended;

bool sl_wanted(void) { return sl_settings.directory[0] != 0 && !ended; }
bool sl_begun(void) { return users > 0; }

/* plain records a call that neither begins nor ends the recording. */
static void plain(uint16_t fn, struct sl_frame frame, uint64_t enter) {
    struct sl_thread *t = sl_self;
    uint64_t leave = sl_now();
    if (t == NULL || t->depth > 0) return;
    t->depth = 1;
    struct sl_record *r = sl_call(t, SL_CALL, fn, SL_HEAD, frame);
    r->enter = enter;
    sl_done(t, r, leave);
}

/* all_record says whether every rank of this world has files to record to. If one has not, none records: clocks and communicators are
 * compared among all. */
static bool all_record(struct sl_thread *t) {
    struct { int why, rank; } own = {t == NULL ? sl_failed : 0, sl_rank}, worst = own;
    PMPI_Allreduce(&own, &worst, 1, MPI_2INT, MPI_MAXLOC, sl_world);
    if (worst.why == 0) return true;
    if (t != NULL) sl_drop(t, worst.rank, worst.why);
    sl_session_world_end();
    return false;
}

/* report_displaced says whether calls of a rank may pass the recorder by: one rank names the object that takes them. */
static void report_displaced(void) {
    static const char *const names[] = {SL_FN_NAMES};
    const char *file = NULL, *name = sl_displaced(names, sizeof names / sizeof *names, dlsym(RTLD_DEFAULT, "slackline_injects"), &file);
    int own = name != NULL ? sl_rank : INT_MAX, first = own;
    PMPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, sl_world);
    if (name == NULL || first != sl_rank) return;
    sl_say("warning: rank %d: %s has MPI functions of its own, such as MPI_%s: calls that it passes on to PMPI are not in the trace",
        sl_rank, file, name);
}

/* sl_begin starts recording; the call of MPI_Init or MPI_Session_init becomes the first record. */
void sl_begin(uint16_t fn, struct sl_frame frame, uint64_t enter, int provided) {
    MPI_Comm parent = MPI_COMM_NULL;
    if (!sl_wanted()) return;
    if (users++ > 0) {
        plain(fn, frame, enter);
        return;
    }
    if (!sl_session_owned()) PMPI_Comm_get_parent(&parent);
    if (!sl_worlds_number(parent)) {
        sl_say("%s: no room for the processes that MPI_Comm_spawn has started; they are not recorded", sl_settings.directory);
        return;
    }
    sl_threaded = provided == MPI_THREAD_MULTIPLE;
    sl_modules_load();
    sl_filter_load();
    sl_sampling_start();
    sl_counters_load();
    sl_yield_decide();
    sl_free_children("SLACKLINE_RECORD_"); /* all of them are read */
    atomic_store(&sl_active, true);
    struct sl_thread *t = sl_attach();
    if (!all_record(t)) {
        atomic_store(&sl_active, false);
        return;
    }
    report_displaced();
    t->depth++;
    sl_comms_start(t);
    bool on = t->on;
    t->on = true; /* these records are there, whatever the window */
    sl_small(t, SL_PROGRAM_BEGIN, 0, sl_loaded, 0);
    if (!on) sl_small(t, SL_OFF, 0, sl_loaded, 0);
    define_modules(t);
    if (sl_settings.pings) sl_clocks(t);
    uint32_t path = sl_path(t, frame);
    sl_initialized = sl_now();
    struct sl_record *r = sl_head(sl_room(t, SL_HEAD + 1), SL_CALL, fn, SL_HEAD, path, enter);
    if (parent != MPI_COMM_NULL) { /* the communicator with those that started this world */
        r->kind = SL_NEWCOMM;
        r->words = SL_HEAD + 1;
        r->data[0] = sl_pair(-2, (int32_t)sl_comm_new(t, parent, &(struct sl_birth){.how = SL_FROM_START, .name = sl_spawner(), .enter = sl_loaded})->id);
    }
    sl_done(t, r, sl_initialized);
    t->on = on;
    t->depth = 0;
}

/* sl_end begins a call that may stop recording: it is the last record. Without MPI_COMM_WORLD, it stops with the last session. */
struct sl_ending sl_end(uint16_t fn, struct sl_frame frame) {
    struct sl_ending e = {.t = sl_in_mpi == 0 ? sl_self : NULL};
    if (e.t == NULL || !atomic_load(&sl_active)) return (struct sl_ending){.t = NULL};
    uint64_t enter = sl_now();
    sl_left(e.t, frame.sp);
    users--;
    e.last = sl_session_owned() ? users == 0 : fn == SL_FN_Finalize;
    e.t->depth = 1;
    if (e.last) {
        ended = true;
        sl_sampling_end(e.t);
        if (sl_is_bounded()) sl_check_window(e.t, enter); /* the call before this one may have gone on when the window began or ended */
        atomic_store(&sl_bounded, false);
        if (!e.t->events.closed) { /* the end is there, whatever the window; what was off stays so */
            e.t->on = true;
            sl_skips_keep(e.t, enter);
        }
        sl_each_thread(keep_skips);
    }
    e.r = sl_call(e.t, SL_CALL, fn, SL_HEAD, frame);
    e.r->enter = enter;
    if (e.last) { /* that it ends is known while it waits for the others; from here on there are only definitions */
        if (sl_settings.pings) sl_clocks(e.t);
        sl_clocks_end();
        define_modules(e.t);
        sl_session_world_end();
    }
    return e;
}

void sl_ended(const struct sl_ending *e) {
    if (e->t == NULL) return;
    uint64_t leave = sl_now();
    sl_done(e->t, e->r, leave);
    if (!e->last) return;
    sl_cpu_end(e->t, leave);
    sl_small(e->t, SL_PROGRAM_END, 0, leave, 0);
    if (e->t->events.closed) sl_define(e->t, SL_PROGRAM_END, 0, &leave, 1); /* there was no room */
    atomic_store(&sl_active, false);
    sl_detach_all();
    sl_self = NULL;
}

SL_EXPORT int MPI_Init(int *argc, char ***argv) {
    struct sl_frame frame = SL_CALLER;
    uint64_t enter = sl_now();
    SL_REAL(MPI_Init);
    sl_in_mpi++;
    int result = real(argc, argv);
    if (result == MPI_SUCCESS && sl_in_mpi == 1) {
        int provided = MPI_THREAD_SINGLE;
        PMPI_Query_thread(&provided);
        sl_begin(SL_FN_Init, frame, enter, provided);
    }
    sl_in_mpi--;
    return result;
}

SL_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    struct sl_frame frame = SL_CALLER;
    uint64_t enter = sl_now();
    SL_REAL(MPI_Init_thread);
    sl_in_mpi++;
    int result = real(argc, argv, required, provided);
    if (result == MPI_SUCCESS && sl_in_mpi == 1) sl_begin(SL_FN_Init_thread, frame, enter, *provided);
    sl_in_mpi--;
    return result;
}

SL_EXPORT int MPI_Finalize(void) {
    struct sl_ending e = sl_end(SL_FN_Finalize, SL_CALLER);
    SL_REAL(MPI_Finalize);
    sl_in_mpi++;
    int result = real();
    sl_in_mpi--;
    sl_ended(&e);
    return result;
}

/* aborting marks the end; the call does not return. */
static void aborting(struct sl_frame frame) {
    struct sl_thread *t = sl_self;
    if (t == NULL || t->depth > 0) return;
    t->depth = 1;
    define_modules(t);
    sl_entered(t, sl_call(t, SL_CALL, SL_FN_Abort, SL_HEAD, frame));
}

SL_EXPORT int MPI_Abort(MPI_Comm comm, int code) {
    aborting(SL_CALLER);
    return PMPI_Abort(comm, code);
}

/* Fortran */

void pmpi_init_(MPI_Fint *ierror) __attribute__((weak));
void pmpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror) __attribute__((weak));
void pmpi_finalize_(MPI_Fint *ierror) __attribute__((weak));
void pmpi_abort_(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierror) __attribute__((weak));

typedef void init_f(MPI_Fint *);
typedef void init_thread_f(MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef void abort_f(MPI_Fint *, MPI_Fint *, MPI_Fint *);

static void fortran_init(init_f *real, struct sl_frame frame, MPI_Fint *ierror) {
    MPI_Fint own;
    uint64_t enter = sl_now();
    sl_in_mpi++;
    if (ierror == NULL) ierror = &own;
    real(ierror);
    if (*ierror == MPI_SUCCESS && sl_in_mpi == 1) {
        int provided = MPI_THREAD_SINGLE;
        PMPI_Query_thread(&provided);
        sl_begin(SL_FN_Init, frame, enter, provided);
    }
    sl_in_mpi--;
}

static void fortran_init_thread(init_thread_f *real, struct sl_frame frame, MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror) {
    MPI_Fint own;
    uint64_t enter = sl_now();
    sl_in_mpi++;
    if (ierror == NULL) ierror = &own;
    real(required, provided, ierror);
    if (*ierror == MPI_SUCCESS && sl_in_mpi == 1) sl_begin(SL_FN_Init_thread, frame, enter, *provided);
    sl_in_mpi--;
}

static void fortran_finalize(init_f *real, struct sl_frame frame, MPI_Fint *ierror) {
    struct sl_ending e = sl_end(SL_FN_Finalize, frame);
    sl_in_mpi++;
    real(ierror);
    sl_in_mpi--;
    sl_ended(&e);
}

SL_EXPORT void mpi_init_(MPI_Fint *ierror) { fortran_init(SL_REAL_FORTRAN(init_f, mpi_init_), SL_CALLER, ierror); }
SL_EXPORT void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror) {
    fortran_init_thread(SL_REAL_FORTRAN(init_thread_f, mpi_init_thread_), SL_CALLER, required, provided, ierror);
}
SL_EXPORT void mpi_finalize_(MPI_Fint *ierror) { fortran_finalize(SL_REAL_FORTRAN(init_f, mpi_finalize_), SL_CALLER, ierror); }
SL_EXPORT void mpi_abort_(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierror) { aborting(SL_CALLER); pmpi_abort_(comm, code, ierror); }
SL_FORTRAN_NAMES(mpi_init, MPI_INIT)
SL_FORTRAN_NAMES(mpi_init_thread, MPI_INIT_THREAD)
SL_FORTRAN_NAMES(mpi_finalize, MPI_FINALIZE)
SL_FORTRAN_NAMES(mpi_abort, MPI_ABORT)
#ifdef OPEN_MPI
SL_EXPORT void ompi_init_f(MPI_Fint *ierror) { fortran_init(SL_REAL_FORTRAN(init_f, mpi_init_), SL_CALLER, ierror); }
SL_EXPORT void ompi_init_thread_f(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror) {
    fortran_init_thread(SL_REAL_FORTRAN(init_thread_f, mpi_init_thread_), SL_CALLER, required, provided, ierror);
}
SL_EXPORT void ompi_finalize_f(MPI_Fint *ierror) { fortran_finalize(SL_REAL_FORTRAN(init_f, mpi_finalize_), SL_CALLER, ierror); }
SL_EXPORT void ompi_abort_f(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierror) { aborting(SL_CALLER); pmpi_abort_(comm, code, ierror); }
#else
SL_EXPORT void mpi_init_f08_(MPI_Fint *ierror) { fortran_init((init_f *)dlsym(RTLD_NEXT, "mpi_init_f08_"), SL_CALLER, ierror); }
SL_EXPORT void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror) {
    fortran_init_thread((init_thread_f *)dlsym(RTLD_NEXT, "mpi_init_thread_f08_"), SL_CALLER, required, provided, ierror);
}
SL_EXPORT void mpi_finalize_f08_(MPI_Fint *ierror) { fortran_finalize((init_f *)dlsym(RTLD_NEXT, "mpi_finalize_f08_"), SL_CALLER, ierror); }
SL_EXPORT void mpi_abort_f08_(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierror) {
    aborting(SL_CALLER);
    ((abort_f *)dlsym(RTLD_NEXT, "mpi_abort_f08_"))(comm, code, ierror);
}
#endif
