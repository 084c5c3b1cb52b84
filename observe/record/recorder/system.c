/* How long threads wait in calls of the system and of the C library: samples come only while they compute. The calls are made as the
 * program makes them. */
#include "core.h"
#include "signals.h"
#include <errno.h>
#include <stdlib.h>

enum { SHORT = 20000 }; /* ns; what is shorter is left to the samples before and after */

struct wait { struct sl_thread *t; uint64_t enter; uint32_t path; };

/* Nothing is changed that must be changed back: a signal handler of the program may jump out of the call. */
static struct wait begin(void) {
    struct sl_thread *t = sl_self;
    if (t == NULL || t->depth > 0 || !t->on || t->sampled_by == SL_BY_NOTHING) return (struct wait){NULL, 0, 0};
    return (struct wait){t, sl_now(), 0};
}

static struct sl_record *span(const struct wait *w) {
    return sl_head(sl_room(w->t, SL_HEAD), SL_SPAN, 0, SL_HEAD, w->path, w->enter);
}

/* wait_from begins a record that stays open if the thread never comes back. */
static struct wait wait_from(struct sl_frame frame) {
    struct wait w = begin();
    if (w.t == NULL) return w;
    int saved = errno;
    w.t->depth++;
    w.path = sl_path_of(w.t, frame, false);
    span(&w);
    w.t->depth--;
    errno = saved;
    return w;
}

/* end keeps the record if it took long. */
static void end(struct wait *w, struct sl_frame frame) {
    struct sl_thread *t = w->t;
    if (t == NULL || t->depth > 0 || !t->on) return;
    int saved = errno;
    uint64_t leave = sl_now();
    bool is_long = leave - w->enter >= SHORT;
    t->depth++;
    if (is_long && w->path == 0) w->path = sl_path_of(t, frame, false);
    struct sl_record *r = span(w);
    if (is_long) {
        r->leave = leave;
        sl_keep(t, r, SL_HEAD);
        t->poll = NULL;
        sl_slept(t);
    } else {
        r->kind = 0; /* not a record */
    }
    t->depth--;
    errno = saved;
}

/* TIMED defines the function name, which calls the next one of that name. */
#define TIMED(type, name, params, args, started, found) \
    NEXT(type, name, params, found) \
    SL_EXPORT type name params { \
        if (SL_UNLIKELY(next_##name == NULL)) find_##name(); \
        struct wait w = started; \
        type result = next_##name args; \
        end(&w, SL_CALLER); \
        return result; \
    }

/* WAITING is for calls that wait, QUICK for those that mostly do not, and in which nobody stays for ever. */
#define WAITING(type, name, params, args, blocks) \
    TIMED(type, name, params, args, (blocks) ? wait_from(SL_CALLER) : (struct wait){0}, dlsym(RTLD_NEXT, #name))
#define QUICK(type, name, params, args) TIMED(type, name, params, args, begin(), dlsym(RTLD_NEXT, #name))
#define MASKED(type, name, params, args) WAITING(type, name, params, args, true)
#define FOR_SIGNALS(name, params, args) WAITING(int, name, params, args, true)

#include "sleeping.h"

WAITING(int, pthread_join, (pthread_t thread, void **value), (thread, value), true)
WAITING(int, pthread_barrier_wait, (pthread_barrier_t *b), (b), true)
#if defined(__GLIBC_PREREQ) && __GLIBC_PREREQ(2, 30)
WAITING(int, pthread_cond_clockwait, (pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until), (c, m, clock, until), true)
#endif

/* Before glibc 2.36 (bug 14932), dlsym with RTLD_NEXT finds an older version of these that old programs have, and which does not go with
 * the other functions of conditions. */
static void *condition(const char *name) {
    Dl_info next, versioned;
    void *f = dlsym(RTLD_NEXT, name), *v = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    bool passed_over = f != NULL && v != NULL && dladdr(f, &next) != 0 && dladdr(v, &versioned) != 0 && next.dli_fbase != versioned.dli_fbase;
    return v != NULL && !passed_over ? v : f; /* another library may be before glibc, such as that of a sanitizer */
}
TIMED(int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m), wait_from(SL_CALLER), condition("pthread_cond_wait"))
TIMED(int, pthread_cond_timedwait, (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until), (c, m, until), wait_from(SL_CALLER), condition("pthread_cond_timedwait"))

/* Threads that the program starts are recorded from their beginning; those that MPI starts for itself are not. */
struct start { void *(*function)(void *); void *argument; };

static void *started(void *pointer) {
    struct start s = *(struct start *)pointer;
    free(pointer);
    sl_attach();
    return s.function(s.argument);
}

NEXT(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *), dlsym(RTLD_NEXT, "pthread_create"))
SL_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
    if (next_pthread_create == NULL) find_pthread_create();
    bool of_mpi = sl_in_mpi > 0 || (sl_self != NULL && sl_self->depth > 0);
    if (of_mpi || sl_self == NULL || !atomic_load(&sl_active)) {
        /* While a sample is taken, signals to the process would go to a thread of MPI instead of the one that expects them. */
        sigset_t before;
        if (of_mpi) block_signals(&before);
        int result = next_pthread_create(thread, attributes, function, argument);
        if (of_mpi) pthread_sigmask(SIG_SETMASK, &before, NULL);
        sl_sampling_again();
        return result;
    }
    struct start *s = malloc(sizeof *s);
    if (s == NULL) return EAGAIN;
    *s = (struct start){function, argument};
    int result = next_pthread_create(thread, attributes, started, s);
    if (result != 0) free(s);
    sl_sampling_again();
    return result;
}

NEXT(int, dlclose, (void *), dlsym(RTLD_NEXT, "dlclose"))
SL_EXPORT int dlclose(void *handle) {
    if (next_dlclose == NULL) find_dlclose();
    int result = next_dlclose(handle);
    if (atomic_load(&sl_active)) sl_modules_forget();
    return result;
}
