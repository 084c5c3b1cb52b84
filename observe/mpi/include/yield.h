/* MPICH over UCX spins while it waits and never gives up the CPU: with more ranks than CPUs every message takes a time
 * slice. A yield whenever there was nothing to do cures that. The library finds this function before that of UCX. */
#ifndef SL_YIELD_H
#define SL_YIELD_H
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

/* SL_YIELD is in one file of a program or preloaded library. */
#define SL_YIELD(condition) \
    unsigned ucp_worker_progress(void *worker); \
    __attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker) { \
        static unsigned (*real)(void *); \
        if (real == NULL) real = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress"); \
        if (real == NULL) return 0; \
        int yields = (condition); \
        unsigned n = real(worker); \
        if (n == 0 && yields) sched_yield(); \
        return n; \
    }

#endif
