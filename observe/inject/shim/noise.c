/* Noise: a timer of the thread that called MPI_Init interrupts it when a detour starts; the handler spins until the detour
 * ends. It does so wherever the thread is, in the program or in MPI. Detours lie on the wall clock: what a thread sleeps
 * through costs it nothing. */
#include "inject.h"
#include "signals.h"
#include "slackline_mpi.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static int noise_signal; /* 0: there is no noise */
static timer_t timer;
static volatile sig_atomic_t running;
static struct sigaction theirs; /* what the program has asked for the signal */
static _Thread_local bool noisy;  /* this thread has the noise */
static _Thread_local bool hidden; /* the program has blocked the signal in this thread: it does not stay blocked, but looks so */

/* The C library's functions, found before any signal comes. */
static int (*real_action)(int, const struct sigaction *, struct sigaction *);
static int (*real_mask)(int, const sigset_t *, sigset_t *);
static int (*real_pending)(sigset_t *);
static __attribute__((constructor)) void find_real(void) {
    if (real_action != NULL) return;
    real_mask = (__typeof__(real_mask))dlsym(RTLD_NEXT, "pthread_sigmask");
    real_pending = (__typeof__(real_pending))dlsym(RTLD_NEXT, "sigpending");
    real_action = (__typeof__(real_action))dlsym(RTLD_NEXT, "sigaction");
}

/* The trace of the noise, in nanoseconds, as Go wrote it: period, number of detours, number of ranks, then start and length
 * of each detour, ascending, then the place of each rank in the trace. */
static const int64_t *trace;
static int64_t period, n_detours, origin; /* origin: when the trace began for this rank, on the clock */
static int64_t turn, next;                /* the detour that comes next: number in its period, which period */

static int64_t start_of(int64_t t, int64_t i) { return origin + t * period + trace[3 + 2 * i]; }
static int64_t length_of(int64_t i) { return trace[4 + 2 * i]; }

static void advance(void) {
    if (++next == n_detours) {
        next = 0;
        turn++;
    }
}

static void set_timer(void) {
    int64_t when = start_of(turn, next);
    struct itimerspec t = {.it_value = {when / 1000000000, when % 1000000000}};
    timer_settime(timer, TIMER_ABSTIME, &t, NULL);
}

/* hand_on does with a signal of the program what it has asked for. */
static void hand_on(int number, siginfo_t *info, void *context) {
    if (theirs.sa_handler == SIG_IGN) return;
    if (theirs.sa_handler == SIG_DFL) {
        real_action(number, &theirs, NULL);
        raise(number);
    } else if (theirs.sa_flags & SA_SIGINFO) {
        theirs.sa_sigaction(number, info, context);
    } else {
        theirs.sa_handler(number);
    }
}

static void on_detour(int number, siginfo_t *info, void *context) {
    if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &timer) {
        hand_on(number, info, context);
        return;
    }
    int saved = errno;
    int64_t now;
    while (running && (now = inj_now()) >= start_of(turn, next)) {
        int64_t from = now, until = start_of(turn, next) + length_of(next);
        if (now >= until) {
            inj_report->skipped++;
        } else {
            while ((now = inj_now()) < until) {}
            inj_report->detours++;
            inj_report->detour_ns += now - from;
        }
        advance();
    }
    if (running) set_timer();
    leave_to_main(number, context);
    errno = saved;
}

static bool load(void) {
    int fd = open(inj_settings.noise, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size >= 24) {
        const void *m = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
        if (m != MAP_FAILED) trace = m;
    }
    if (fd >= 0) close(fd);
    if (trace == NULL) {
        inj_say("rank %d: %s: %s; there is no noise", inj_rank, inj_settings.noise, strerror(errno));
        return false;
    }
    period = trace[0];
    n_detours = trace[1];
    return n_detours > 0;
}

/* free_signal takes a real-time signal without a handler. */
static int free_signal(void) {
    for (int s = SIGRTMAX - 2; s > SIGRTMIN; s--) {
        struct sigaction old;
        if (real_action(s, NULL, &old) == 0 && old.sa_handler == SIG_DFL) return s;
    }
    return 0;
}

void inj_noise_start(int64_t start) {
    if (inj_settings.noise == NULL || !load()) return;
    int s = free_signal();
    struct sigaction a = {.sa_sigaction = on_detour, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&a.sa_mask);
    struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = s, .sigev_value.sival_ptr = &timer};
    e.sigev_notify_thread_id = (int)syscall(SYS_gettid);
    if (s == 0 || real_action(s, &a, NULL) != 0 || timer_create(CLOCK_MONOTONIC, &e, &timer) != 0) {
        inj_say("rank %d: no signal or no timer: %s; there is no noise", inj_rank, strerror(errno));
        return;
    }
    int64_t ranks = trace[2], offset = trace[3 + 2 * n_detours + inj_rank % ranks];
    int64_t now = inj_now();
    inj_report->noise_ns = -now;
    origin = start - offset;
    turn = next = 0;
    while (start_of(turn, next) + length_of(next) <= now) advance();
    noise_signal = s;
    noisy = true;
    running = 1;
    set_timer();
    sigset_t ours, before;
    sigemptyset(&ours);
    sigaddset(&ours, s);
    if (real_mask(SIG_UNBLOCK, &ours, &before) == 0) hidden = sigismember(&before, s);
}

void inj_noise_end(void) {
    if (!running) return;
    running = 0;
    timer_delete(timer);
    inj_report->noise_ns += inj_now();
}

/* A signal would cut these calls short, or begin them again after one of the program that is to end them: it waits until they are done. */
static bool change(int how) {
    int saved = errno;
    sigset_t ours, before;
    sigemptyset(&ours);
    sigaddset(&ours, noise_signal);
    bool changed = real_mask(how, &ours, &before) == 0 && sigismember(&before, noise_signal) == (how == SIG_UNBLOCK);
    errno = saved;
    return changed;
}

static bool block(void) { return running && noisy && change(SIG_BLOCK); }

static void unblock(bool blocked) {
    if (blocked) change(SIG_UNBLOCK);
}

static const sigset_t *with_ours(const sigset_t *mask, sigset_t *room) {
    if (mask == NULL || noise_signal == 0) return mask;
    *room = *mask;
    sigaddset(room, noise_signal);
    return room;
}

/* The program may handle, reset, block and look for all signals, as programs do; the one of the noise stays what it is. */
INJ_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    find_real();
    if (noise_signal == 0 || number != noise_signal) return real_action(number, action, old);
    struct sigaction before = theirs;
    if (action != NULL) theirs = *action;
    if (old != NULL) *old = before;
    return 0;
}

INJ_EXPORT __sighandler_t signal(int number, __sighandler_t handler) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

static int mask_others(int how, const sigset_t *set, sigset_t *old) {
    find_real();
    if (noise_signal == 0) return real_mask(how, set, old);
    sigset_t others;
    bool was = hidden, named = set != NULL && sigismember(set, noise_signal);
    if (set != NULL) {
        others = *set;
        sigdelset(&others, noise_signal);
    }
    int error = real_mask(how, set != NULL ? &others : NULL, old);
    if (error != 0) return error;
    if (set != NULL && (named || how == SIG_SETMASK)) hidden = named && how != SIG_UNBLOCK;
    if (old != NULL && was) sigaddset(old, noise_signal);
    return 0;
}

INJ_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) { return mask_others(how, set, old); }

INJ_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    int error = mask_others(how, set, old);
    if (error == 0) return 0;
    errno = error;
    return -1;
}

INJ_EXPORT int sigpending(sigset_t *set) {
    find_real();
    int result = real_pending(set);
    if (result == 0 && noise_signal != 0) sigdelset(set, noise_signal);
    return result;
}

#define CALL(type, name, args) \
    bool blocked = block(); \
    type result = next_##name args; \
    unblock(blocked); \
    return result;

#define WAITING(type, name, params, args, blocks) \
    NEXT(type, name, params, dlsym(RTLD_NEXT, #name)) \
    INJ_EXPORT type name params { \
        if (next_##name == NULL) find_##name(); \
        if (!(blocks)) return next_##name args; \
        CALL(type, name, args) \
    }
#define QUICK(type, name, params, args) WAITING(type, name, params, args, true)

#define MASKED(type, name, params, args) \
    NEXT(type, name, params, dlsym(RTLD_NEXT, #name)) \
    INJ_EXPORT type name params { \
        if (next_##name == NULL) find_##name(); \
        sigset_t room; \
        mask = with_ours(mask, &room); \
        CALL(type, name, args) \
    }

#define FOR_SIGNALS(name, params, args) \
    NEXT(int, name, params, dlsym(RTLD_NEXT, #name)) \
    INJ_EXPORT int name params { \
        if (next_##name == NULL) find_##name(); \
        sigset_t others = *set; \
        if (noise_signal != 0) sigdelset(&others, noise_signal); \
        set = &others; \
        CALL(int, name, args) \
    }

#include "sleeping.h"

/* The same for calls that the program makes by their numbers. */
static bool waits(long number) {
    static const long numbers[] = {
        SYS_nanosleep, SYS_clock_nanosleep, SYS_futex, SYS_ppoll, SYS_pselect6, SYS_epoll_pwait, SYS_semtimedop, SYS_msgsnd, SYS_msgrcv,
        SYS_io_getevents, SYS_read, SYS_readv, SYS_write, SYS_writev, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_sendto, SYS_sendmsg,
        SYS_accept, SYS_accept4, SYS_connect, SYS_wait4, SYS_waitid, SYS_flock, SYS_mq_timedreceive,
#ifdef SYS_epoll_pwait2
        SYS_epoll_pwait2,
#endif
#ifdef SYS_io_uring_enter
        SYS_io_uring_enter,
#endif
#ifdef SYS_poll
        SYS_poll, SYS_select, SYS_epoll_wait, SYS_pause,
#endif
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] == number) return true;
    return false;
}

NEXT(long, syscall, (long, ...), dlsym(RTLD_NEXT, "syscall"))
INJ_EXPORT long syscall(long number, ...) {
    if (next_syscall == NULL) find_syscall();
    va_list list;
    va_start(list, number);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long), d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
    va_end(list);
    bool blocked = running && waits(number) && block();
    long result = next_syscall(number, a, b, c, d, e, f);
    unblock(blocked);
    return result;
}
