/* LLVM's OpenMP runtime tells a tool what it does (OMPT). The few declarations that are needed stand here, because
 * the compiler of the site's MPI seldom comes with their header. */
#include "openmp.h"

union ompt_data { uint64_t value; void *pointer; };
typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);
struct ompt_start_tool_result {
    int (*initialize)(ompt_lookup, int, union ompt_data *);
    void (*finalize)(union ompt_data *);
    union ompt_data data;
};

enum { THREAD_END = 2, PARALLEL_BEGIN = 3, PARALLEL_END = 4, IMPLICIT_TASK = 7, SYNC_REGION = 23 };
enum { SCOPE_BEGIN = 1, SCOPE_END = 2 };
enum { BARRIER = 1, BARRIER_IMPLICIT = 2, BARRIER_EXPLICIT = 3, TASKWAIT = 5, IMPLICIT_WORKSHARE = 8 };

static void parallel_begin(union ompt_data *task, const void *frame, union ompt_data *parallel, unsigned threads, int flags, const void *code) {
    (void)task, (void)frame, (void)flags;
    struct sl_frame caller = SL_CALLER; /* in the runtime, which the program has called */
    if (sl_settings.callpath == SL_PATH_CALLER) caller.pc = (uintptr_t)code;
    parallel->pointer = sl_omp_fork(threads, code, caller);
}

static void parallel_end(union ompt_data *parallel, union ompt_data *task, int flags, const void *code) {
    (void)task, (void)flags, (void)code;
    sl_omp_join(parallel->pointer);
}

enum { TASK_INITIAL = 1 };

static void implicit_task(int endpoint, union ompt_data *parallel, union ompt_data *task, unsigned threads, unsigned number, int flags) {
    (void)threads;
    if ((flags & TASK_INITIAL) != 0) return;
    if (endpoint == SCOPE_BEGIN) {
        task->pointer = parallel == NULL ? NULL : parallel->pointer;
        sl_omp_begin(task->pointer, number == 0);
    } else if (task->pointer != NULL) {
        /* The end of the thread's part was seen at the barrier before. */
        task->pointer = NULL;
    }
}

static void sync_region(int kind, int endpoint, union ompt_data *parallel, union ompt_data *task, const void *code) {
    (void)code;
    switch (kind) {
    case BARRIER_EXPLICIT:
        sl_omp_mark(endpoint == SCOPE_BEGIN ? SL_OMP_BARRIER_ENTER : SL_OMP_BARRIER_LEAVE);
        break;
    case TASKWAIT:
        sl_omp_mark(endpoint == SCOPE_BEGIN ? SL_OMP_TASKWAIT_ENTER : SL_OMP_TASKWAIT_LEAVE);
        break;
    case IMPLICIT_WORKSHARE:
        sl_omp_mark(endpoint == SCOPE_BEGIN ? SL_OMP_IMPLICIT_ENTER : SL_OMP_IMPLICIT_LEAVE);
        break;
    case BARRIER: case BARRIER_IMPLICIT: case IMPLICIT_WORKSHARE + 1:
        /* The one at the end of a parallel region: a worker hears of its end only when it works again. The runtime
         * uses the same kind for barriers of worksharing; code is NULL only at the end of a region. */
        if (code != NULL && parallel != NULL && task != NULL && task->pointer != NULL && sl_self != NULL && sl_self->team == task->pointer && kind != IMPLICIT_WORKSHARE + 1) {
            sl_omp_mark(endpoint == SCOPE_BEGIN ? SL_OMP_IMPLICIT_ENTER : SL_OMP_IMPLICIT_LEAVE);
        } else if (endpoint == SCOPE_BEGIN && task != NULL && sl_self != NULL) {
            struct sl_team *team = task->pointer;
            if (team != NULL) sl_omp_end(team, pthread_equal(pthread_self(), team->master) != 0);
        }
        break;
    default: break;
    }
}

static void thread_end(union ompt_data *thread) {
    (void)thread;
    if (sl_self != NULL) sl_omp_close(sl_self);
}

static int initialize(ompt_lookup lookup, int device, union ompt_data *data) {
    (void)device, (void)data;
    int (*set)(int, ompt_function) = (int (*)(int, ompt_function))lookup("ompt_set_callback");
    if (set == NULL) return 0;
    set(PARALLEL_BEGIN, (ompt_function)parallel_begin);
    set(PARALLEL_END, (ompt_function)parallel_end);
    set(IMPLICIT_TASK, (ompt_function)implicit_task);
    set(SYNC_REGION, (ompt_function)sync_region);
    set(THREAD_END, (ompt_function)thread_end);
    sl_ompt = true;
    return 1;
}

static void finalize(union ompt_data *data) { (void)data; }

struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime);
SL_EXPORT struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime) {
    static struct ompt_start_tool_result result = {initialize, finalize, {0}};
    (void)version, (void)runtime;
    return sl_settings.directory[0] == 0 ? NULL : &result;
}
