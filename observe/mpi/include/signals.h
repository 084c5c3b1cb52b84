/* Which signals the threads take that MPI starts for itself: none of the program's. A signal to the process goes to any thread that does
 * not block it. Without slackline that is the program's own, which waits for it; while that takes a sample or a detour it would be one of
 * MPI's, and a handler that jumps back into the program ends both. */
#ifndef SLACKLINE_SIGNALS_H
#define SLACKLINE_SIGNALS_H

#include <signal.h>

/* block_signals blocks all signals of the calling thread that are not of its own instructions. */
static inline void block_signals(sigset_t *before) {
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t all;
    sigfillset(&all);
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

#endif
