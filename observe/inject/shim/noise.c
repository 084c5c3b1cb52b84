/* Noise: a timer of the thread that called MPI_Init interrupts it when a detour starts; the handler spins until the detour
 * ends. It does so wherever the thread is, in the program or in MPI. Detours lie on the wall clock: what a thread sleeps
 * through costs it nothing. */
#include "inject.h"
#include "slackline_mpi.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

static void on_detour(int number, siginfo_t *info, void *context) {
    (void)number; (void)info; (void)context;
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
        if (sigaction(s, NULL, &old) == 0 && old.sa_handler == SIG_DFL) return s;
    }
    return 0;
}

void inj_noise_start(int64_t start) {
    if (inj_settings.noise == NULL || !load()) return;
    int s = free_signal();
    struct sigaction a = {.sa_sigaction = on_detour, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&a.sa_mask);
    struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = s};
    e.sigev_notify_thread_id = (int)syscall(SYS_gettid);
    if (s == 0 || sigaction(s, &a, NULL) != 0 || timer_create(CLOCK_MONOTONIC, &e, &timer) != 0) {
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
    running = 1;
    set_timer();
}

void inj_noise_end(void) {
    if (!running) return;
    running = 0;
    timer_delete(timer);
    inj_report->noise_ns += inj_now();
}

/* A signal would cut these calls short, although the program has not asked for signals: it waits until they are done. */
static bool block(sigset_t *before) {
    if (!running) return false;
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, noise_signal);
    return pthread_sigmask(SIG_BLOCK, &ours, before) == 0;
}

static void unblock(bool blocked, const sigset_t *before) {
    int saved = errno;
    if (blocked) pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = saved;
}

static const sigset_t *with_ours(const sigset_t *mask, sigset_t *room) {
    if (mask == NULL || noise_signal == 0) return mask;
    *room = *mask;
    sigaddset(room, noise_signal);
    return room;
}

#define CALL(type, name, params, args) \
    sigset_t before; \
    bool blocked = block(&before); \
    type result = real args; \
    unblock(blocked, &before); \
    return result;

#define WAITING(type, name, params, args, blocks) \
    INJ_EXPORT type name params { \
        static type(*real) params; \
        if (real == NULL) real = (type(*) params)dlsym(RTLD_NEXT, #name); \
        if (!(blocks)) return real args; \
        CALL(type, name, params, args) \
    }

#define MASKED(type, name, params, args) \
    INJ_EXPORT type name params { \
        static type(*real) params; \
        if (real == NULL) real = (type(*) params)dlsym(RTLD_NEXT, #name); \
        sigset_t room; \
        mask = with_ours(mask, &room); \
        CALL(type, name, params, args) \
    }

#define FOR_SIGNALS(name, params, args) \
    INJ_EXPORT int name params { \
        static int(*real) params; \
        if (real == NULL) real = (int(*) params)dlsym(RTLD_NEXT, #name); \
        sigset_t others = *set; \
        if (noise_signal != 0) sigdelset(&others, noise_signal); \
        set = &others; \
        CALL(int, name, params, args) \
    }

#include "sleeping.h"
