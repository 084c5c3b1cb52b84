/* Does with signals what programs do, and prints what came of it: the same with and without noise, which is made by a signal. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t seen, elsewhere;

static void where(int number) {
    (void)number;
    if (syscall(SYS_gettid) == getpid()) seen++;
    else elsewhere++;
}

static void compute(double seconds) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    do clock_gettime(CLOCK_MONOTONIC, &b);
    while ((double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec) < seconds);
}

static int members(const sigset_t *set) {
    int n = 0;
    for (int s = 1; s <= SIGRTMAX; s++) n += sigismember(set, s) == 1;
    return n;
}

int main(int argc, char **argv) {
    sigset_t all, before, pending, blocked;
    sigfillset(&all);
    bool first = argc > 1 && strcmp(argv[1], "first") == 0;
    if (first) sigprocmask(SIG_BLOCK, &all, NULL);
    MPI_Init(&argc, &argv);
    if (first) {
        compute(0.3);
        sigpending(&pending);
        sigprocmask(SIG_UNBLOCK, &all, &blocked);
        sigprocmask(SIG_SETMASK, NULL, &before);
        printf("pending %d, blocked before MPI_Init %d, then %d\n", members(&pending), members(&blocked), members(&before));
        MPI_Finalize();
        return 0;
    }
    struct sigaction always = {.sa_handler = where, .sa_flags = SA_NODEFER | SA_RESTART};
    struct itimerval often = {{0, 200}, {0, 200}}, off = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &always, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    compute(0.5);
    setitimer(ITIMER_REAL, &off, NULL);
    printf("signals to another thread %d\n", (int)elsewhere);

    seen = 0;
    for (int s = SIGRTMIN; s <= SIGRTMAX; s++) signal(s, where);
    for (int s = SIGRTMIN; s <= SIGRTMAX; s++) raise(s);
    compute(0.1);
    printf("own signals %d of %d\n", (int)seen, SIGRTMAX - SIGRTMIN + 1);
    int handled = 0;
    for (int s = SIGRTMIN; s <= SIGRTMAX; s++) handled += signal(s, SIG_DFL) == where;
    compute(0.1);
    printf("reset %d\n", handled);

    sigprocmask(SIG_BLOCK, &all, &before);
    compute(0.1);
    sigpending(&pending);
    sigprocmask(SIG_SETMASK, &before, &blocked);
    sigprocmask(SIG_SETMASK, NULL, &before);
    printf("pending %d, blocked %d, then %d\n", members(&pending), members(&blocked), members(&before));
    MPI_Finalize();
    return 0;
}
