/* GCC's OpenMP runtime has no interface for tools: its entry points are wrapped. */
#include "openmp.h"
#include <dlfcn.h>

struct body { void (*function)(void *); void *data; struct sl_team *team; pthread_t master; };

static void run(void *pointer) {
    struct body b = *(struct body *)pointer;
    bool master = pthread_equal(pthread_self(), b.master) != 0;
    sl_omp_begin(b.team, master);
    b.function(b.data);
    sl_omp_end(b.team, master);
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (real == NULL) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);

/* PARALLEL wraps an entry point that carries out fn(data) by a team. */
#define PARALLEL(name, params, args, plain) \
    void name params; \
    SL_EXPORT void name params { \
        REAL(name) \
        struct sl_team *team = sl_ompt ? NULL : sl_omp_fork(threads, *(void **)&fn, SL_CALLER); \
        if (team == NULL) { \
            real plain; \
            return; \
        } \
        struct body body = {fn, data, team, pthread_self()}; \
        real args; \
        sl_omp_join(team); \
    }

#define FN void (*fn)(void *), void *data, unsigned threads
PARALLEL(GOMP_parallel, (FN, unsigned flags), (run, &body, threads, flags), (fn, data, threads, flags))
PARALLEL(GOMP_parallel_sections, (FN, unsigned count, unsigned flags), (run, &body, threads, count, flags), (fn, data, threads, count, flags))

#define LOOP(name) PARALLEL(GOMP_parallel_loop_##name, (FN, long start, long end, long step, long chunk, unsigned flags), \
    (run, &body, threads, start, end, step, chunk, flags), (fn, data, threads, start, end, step, chunk, flags))
#define RUNTIME_LOOP(name) PARALLEL(GOMP_parallel_loop_##name, (FN, long start, long end, long step, unsigned flags), \
    (run, &body, threads, start, end, step, flags), (fn, data, threads, start, end, step, flags))
LOOP(static)
LOOP(dynamic)
LOOP(guided)
LOOP(nonmonotonic_dynamic)
LOOP(nonmonotonic_guided)
RUNTIME_LOOP(runtime)
RUNTIME_LOOP(nonmonotonic_runtime)
RUNTIME_LOOP(maybe_nonmonotonic_runtime)

unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned threads, unsigned flags);
SL_EXPORT unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned threads, unsigned flags) {
    REAL(GOMP_parallel_reductions)
    struct sl_team *team = sl_ompt ? NULL : sl_omp_fork(threads, *(void **)&fn, SL_CALLER);
    if (team == NULL) return real(fn, data, threads, flags);
    struct body body = {fn, data, team, pthread_self()};
    unsigned result = real(run, &body, threads, flags);
    sl_omp_join(team);
    return result;
}

/* BETWEEN wraps an entry point in which a thread waits. */
#define BETWEEN(name, params, args, what) \
    void name params; \
    SL_EXPORT void name params { \
        REAL(name) \
        if (!sl_ompt) sl_omp_mark(SL_OMP_##what##_ENTER); \
        real args; \
        if (!sl_ompt) sl_omp_mark(SL_OMP_##what##_LEAVE); \
    }

BETWEEN(GOMP_barrier, (void), (), BARRIER)
BETWEEN(GOMP_loop_end, (void), (), IMPLICIT)
BETWEEN(GOMP_sections_end, (void), (), IMPLICIT)
BETWEEN(GOMP_critical_start, (void), (), CRITICAL)
BETWEEN(GOMP_critical_name_start, (void **name), (name), CRITICAL)
BETWEEN(GOMP_taskwait, (void), (), TASKWAIT)
