/* Which threads take signals to the process: the same as without slackline. */
#ifndef SLACKLINE_SIGNALS_H
#define SLACKLINE_SIGNALS_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* block_signals blocks all signals of the calling thread that are not of its own instructions, for threads that MPI starts for itself.
 * A signal to the process goes to any thread that does not block it. Without slackline that is the program's own, which waits for it;
 * while that takes a sample or a detour it would be one of MPI's, and a handler that jumps back into the program ends both. */
static inline void block_signals(sigset_t *before) {
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t all;
    sigfillset(&all);
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

/* bits_of is a set of signals as the kernel writes it: 16 hexadecimal digits. */
static inline uint64_t bits_of(const char *digits) {
    uint64_t bits = 0;
    for (int i = 0; i < 16; i++) bits = bits << 4 | (uint64_t)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
    return bits;
}

/* signals_of_main are the signals to the process that are pending and that its main thread takes as soon as it runs. */
static __attribute__((noinline, unused)) uint64_t signals_of_main(void) {
    enum { LINE = 24 }; /* a name of six letters, a colon, a tab, and a set */
    char part[256], line[LINE];
    size_t length = 0;
    uint64_t pending = 0, blocked = ~(uint64_t)0;
    bool gone = false;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    for (long n; (n = syscall(SYS_read, fd, part, sizeof part)) > 0;) {
        for (long i = 0; i < n; i++) {
            if (part[i] != '\n') {
                if (length < LINE) line[length++] = part[i];
                continue;
            }
            if (length == LINE && memcmp(line, "ShdPnd:\t", 8) == 0) pending = bits_of(line + 8);
            if (length == LINE && memcmp(line, "SigBlk:\t", 8) == 0) blocked = bits_of(line + 8);
            if (length > 7 && memcmp(line, "State:\tZ", 8) == 0) gone = true;
            length = 0;
        }
    }
    syscall(SYS_close, fd);
    return gone ? 0 : pending & ~blocked;
}

/* leave_to_main is called at the end of a handler of slackline that blocks all signals. Linux gives a signal to the process to its main
 * thread, unless that blocks it. But while main waits for a CPU, any other thread takes it that looks for signals, as all do at the end of
 * a handler: this one sleeps until main has it, for a limited time. It reports whether it slept. */
static inline bool leave_to_main(int handled, const void *context) {
    enum { FIRST = 20000, MOST = 1000000, PATIENCE = 50000000 }; /* ns */
    uint64_t mask, pending, of_main;
    memcpy(&mask, &((const ucontext_t *)context)->uc_sigmask, sizeof mask);
    mask |= (uint64_t)1 << (handled - 1);
    if (syscall(SYS_rt_sigpending, &pending, sizeof pending) != 0 || (pending & ~mask) == 0) return false;
    if (syscall(SYS_gettid) == getpid() || (of_main = signals_of_main() & ~mask) == 0) return false;
    long slept = 0;
    for (long next = FIRST; slept < PATIENCE && (pending & of_main) != 0; next = next * 2 < MOST ? next * 2 : MOST) {
        struct timespec t = {0, next};
        syscall(SYS_nanosleep, &t, NULL);
        slept += next;
        if (syscall(SYS_rt_sigpending, &pending, sizeof pending) != 0) break;
    }
    return true;
}

#endif
