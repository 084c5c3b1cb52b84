/* System calls that a signal would cut short, although the program has not asked for signals: while a thread sleeps
 * in one of them it gets no samples; how long it was there, and called from where, is recorded as a whole. */
#include "core.h"
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

enum { SHORT = 20000 }; /* ns; what is shorter is left to the samples before and after */

struct wait { struct sl_thread *t; bool own; uint64_t enter; uint32_t path; sigset_t before; };

static struct wait begin(struct sl_frame frame) {
    struct wait w = {.t = sl_self};
    if (w.t == NULL || !w.t->has_timer) {
        w.t = NULL;
        return w;
    }
    w.own = w.t->depth == 0;
    w.t->depth++;
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, sl_sample_signal);
    pthread_sigmask(SIG_BLOCK, &ours, &w.before);
    if (w.own) {
        w.path = sl_path_of(w.t, frame, false);
        w.enter = sl_now();
    }
    return w;
}

static void end(struct wait *w) {
    struct sl_thread *t = w->t;
    if (t == NULL) return;
    int saved = errno;
    uint64_t leave = w->own ? sl_now() : 0;
    pthread_sigmask(SIG_SETMASK, &w->before, NULL);
    if (w->own && t->on && leave - w->enter >= SHORT) {
        struct sl_record *r = sl_head(sl_room(t, SL_HEAD), SL_SPAN, 0, SL_HEAD, w->path, w->enter);
        r->leave = leave;
        sl_keep(t, r, SL_HEAD);
        t->poll = NULL;
    }
    t->depth--;
    errno = saved;
}

/* with_ours is the mask that a system call shall use, with our signal in it. */
static const sigset_t *with_ours(const sigset_t *mask, sigset_t *room) {
    if (mask == NULL || sl_sample_signal == 0) return mask;
    *room = *mask;
    sigaddset(room, sl_sample_signal);
    return room;
}

/* WAITING defines the function name, which calls the next one of that name. */
#define WAITING(type, name, params, args, blocks) \
    SL_EXPORT type name params { \
        static type(*real) params; \
        if (real == NULL) real = (type(*) params)dlsym(RTLD_NEXT, #name); \
        if (!(blocks)) return real args; \
        struct wait w = begin(SL_CALLER); \
        type result = real args; \
        end(&w); \
        return result; \
    }

/* These take a signal mask of their own. */
#define MASKED(type, name, params, args) \
    SL_EXPORT type name params { \
        static type(*real) params; \
        if (real == NULL) real = (type(*) params)dlsym(RTLD_NEXT, #name); \
        sigset_t room; \
        mask = with_ours(mask, &room); \
        struct wait w = begin(SL_CALLER); \
        type result = real args; \
        end(&w); \
        return result; \
    }

/* These wait for signals: ours is not among them. */
#define FOR_SIGNALS(name, params, args) \
    SL_EXPORT int name params { \
        static int(*real) params; \
        if (real == NULL) real = (int(*) params)dlsym(RTLD_NEXT, #name); \
        sigset_t others = *set; \
        if (sl_sample_signal != 0) sigdelset(&others, sl_sample_signal); \
        set = &others; \
        struct wait w = begin(SL_CALLER); \
        int result = real args; \
        end(&w); \
        return result; \
    }

#include "sleeping.h"

/* Threads that the program starts are recorded from their beginning; those that MPI starts for itself are not. */
struct start { void *(*function)(void *); void *argument; };

static void *started(void *pointer) {
    struct start s = *(struct start *)pointer;
    free(pointer);
    sl_attach();
    return s.function(s.argument);
}

SL_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (real == NULL) real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    bool inside = sl_in_mpi > 0 || sl_self == NULL || sl_self->depth > 0;
    if (inside || !atomic_load(&sl_active)) return real(thread, attributes, function, argument);
    struct start *s = malloc(sizeof *s);
    if (s == NULL) return EAGAIN;
    *s = (struct start){function, argument};
    int result = real(thread, attributes, started, s);
    if (result != 0) {
        free(s);
    }
    return result;
}
