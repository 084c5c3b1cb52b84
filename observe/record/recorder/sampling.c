/* Samples of the call stack between MPI calls, taken by a signal that the program can neither see nor touch, and that comes
 * only while the thread computes.
 *
 * The signal is the last of those below SIGRTMIN, which the C library keeps for itself (SIGSETXID of glibc): it refuses handlers
 * for it and leaves it out of every mask. What the C library sends by it is handed on. What sends ours is a clock of the CPU time of
 * each thread:
 *
 *   perf events, where they are permitted: with exclude_kernel they count time but only act in user mode, so that the signal
 *   is delivered before the next instruction of the program, and no system call ever sees it;
 *
 *   else a timer of CPU time, which acts with the ticks of the system. Since Linux 5.9 its signal is sent on the way back to user
 *   mode, when the result of an interrupted system call is already known.
 *
 * A signal by the wall clock would be simpler, but ends what sleeps: nanosleep, sem_timedwait, epoll_wait and many others return EINTR
 * whatever the flags of the handler, and not all can be wrapped. How long a thread slept is known otherwise, see system.c.
 *
 * The time to the next sample varies by half of the period in both directions, so that samples do not keep step with
 * what the program does periodically. */
#include "counters.h"
#include "signals.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* The kernel's struct sigaction: the C library's functions refuse its own signals. */
struct action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static int sample_signal;      /* 0: there are no samples */
static _Atomic bool ticks_only; /* perf events are not to be used */
static struct action library;  /* the handler of the C library */

#if defined(__x86_64__)
enum { RESTORER = 0x04000000 };
void sl_restorer(void) __attribute__((visibility("hidden")));
/* Debuggers and unwinders know the frame of a signal by exactly these instructions. */
__asm__(".text\n.p2align 4\n.byte 0x90\n.globl sl_restorer\n.hidden sl_restorer\n.type sl_restorer,@function\n"
        "sl_restorer:\n mov $15, %rax\n syscall\n.size sl_restorer, .-sl_restorer\n");
#else
enum { RESTORER = 0 };
#define sl_restorer NULL
#endif

static struct sl_frame interrupted(const ucontext_t *c) {
#if defined(__x86_64__)
    const greg_t *g = c->uc_mcontext.gregs;
    return (struct sl_frame){(uintptr_t)g[REG_RIP], (uintptr_t)g[REG_RSP], (uintptr_t)g[REG_RBP]};
#elif defined(__aarch64__)
    return (struct sl_frame){(uintptr_t)c->uc_mcontext.pc, (uintptr_t)c->uc_mcontext.sp, (uintptr_t)c->uc_mcontext.regs[29]};
#else
    (void)c;
    return (struct sl_frame){0, 0, 0};
#endif
}

static uint64_t next_distance(struct sl_thread *t) {
    uint64_t x = t->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    t->random = x;
    return sl_settings.period / 2 + x % (sl_settings.period + 1);
}

/* --- ticks --- */

static void set_timer(const struct sl_thread *t, uint64_t distance) {
    struct itimerspec when = {.it_value = {(time_t)(distance / 1000000000u), (long)(distance % 1000000000u)}};
    syscall(SYS_timer_settime, t->timer, 0, &when, NULL);
}

static bool start_ticks(struct sl_thread *t) {
    struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sample_signal};
    e.sigev_notify_thread_id = gettid();
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &e, &t->timer) != 0) return false;
    struct timespec tick = {0, 0};
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    if (t->events.head->period < (uint64_t)tick.tv_nsec) t->events.head->period = (uint64_t)tick.tv_nsec;
    t->sampled_by = SL_BY_TICKS;
    set_timer(t, next_distance(t));
    return true;
}

/* --- perf events --- */

/* sl_high_descriptor moves a descriptor out of the way of the program's, and takes at most an eighth of what there may be. */
int sl_high_descriptor(int fd) {
    enum { MOST = 4096 };
    struct rlimit r = {MOST, MOST};
    getrlimit(RLIMIT_NOFILE, &r);
    int limit = r.rlim_cur < MOST ? (int)r.rlim_cur : MOST;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, limit - limit / 8);
    sl_close(fd);
    if (high < limit) return high;
    sl_close(high);
    return -1;
}

static bool ours(const struct sl_thread *t) {
    uint64_t id = 0;
    return ioctl(t->perf, PERF_EVENT_IOC_ID, &id) == 0 && id == t->perf_id;
}

static void end_perf(struct sl_thread *t) {
    if (t->perf >= 0 && ours(t)) sl_close(t->perf); /* the program may have closed it and opened something else */
    if (t->page != NULL) sl_unmap(t->page, SL_PAGE);
    t->perf = -1;
    t->page = NULL;
}

static bool start_perf(struct sl_thread *t) {
    t->perf = -1;
    if (ticks_only) return false;
    struct perf_event_attr a = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof a, .config = PERF_COUNT_SW_TASK_CLOCK, .sample_period = next_distance(t),
        .exclude_kernel = 1, .exclude_hv = 1, .disabled = 1, .wakeup_events = 1,
    };
    int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return false;
    t->perf = sl_high_descriptor(fd);
    if (t->perf < 0 || ioctl(t->perf, PERF_EVENT_IOC_ID, &t->perf_id) != 0) return false;
    struct f_owner_ex owner = {F_OWNER_TID, gettid()};
    /* The mapping keeps the event alive if the program closes all descriptors. */
    t->page = sl_map(SL_PAGE, PROT_READ, MAP_SHARED, t->perf, 0);
    if (t->page == NULL || fcntl(t->perf, F_SETOWN_EX, &owner) != 0 || fcntl(t->perf, F_SETSIG, sample_signal) != 0 ||
        fcntl(t->perf, F_SETFL, O_ASYNC | O_NONBLOCK) != 0 || ioctl(t->perf, PERF_EVENT_IOC_ENABLE, 0) != 0) {
        end_perf(t);
        return false;
    }
    t->sampled_by = SL_BY_PERF;
    return true;
}

/* queue_is_long reports whether many signals can be queued: where there is no room for one of a perf event, the kernel sends
 * SIGIO instead, which ends programs. */
enum { LONG_QUEUE = 1024 };
static bool queue_is_long(void) {
    struct rlimit r;
    return getrlimit(RLIMIT_SIGPENDING, &r) == 0 && r.rlim_cur >= LONG_QUEUE;
}

static void to_ticks(struct sl_thread *t) {
    t->sampled_by = SL_BY_NOTHING;
    end_perf(t);
    start_ticks(t);
}

/* --- the handler --- */

/* sl_slept reports whether the thread gave up the CPU of its own will since this was asked last. */
bool sl_slept(struct sl_thread *t) {
    struct rusage u;
    if (getrusage(RUSAGE_THREAD, &u) != 0 || u.ru_nvcsw == t->sleeps) return false;
    t->sleeps = u.ru_nvcsw;
    return true;
}

static void take_sample(struct sl_thread *t, const ucontext_t *context) {
    if (t->depth == 0 && sl_is_bounded()) sl_check_window(t, sl_now());
    if (t->depth == 0 && t->on) {
        t->depth = 1;
        uint64_t now = sl_now(), counted[SL_MOST_COUNTERS];
        bool counts = SL_UNLIKELY(t->count_words > 0) && sl_counters_read(t, counted);
        sl_cpu_check(t, now);
        uint32_t path = sl_path_of(t, interrupted(context), true);
        struct sl_record *r = sl_head(sl_room(t, SL_HEAD), SL_SAMPLE, sl_slept(t), SL_HEAD, path, now);
        r->leave = now;
        if (counts) sl_counters_append(t, r, false, counted);
        sl_keep(t, r, sl_words(r));
        if (counts) sl_counters_exclude(t, counted);
        atomic_fetch_add_explicit(&t->events.head->samples, 1, memory_order_relaxed);
        t->depth = 0;
    }
    uint64_t distance = next_distance(t);
    if (t->sampled_by == SL_BY_TICKS) {
        set_timer(t, distance);
    } else if (ticks_only || ioctl(t->perf, PERF_EVENT_IOC_PERIOD, &distance) != 0) { /* the program has closed it */
        to_ticks(t);
    }
}

static void on_sample(int number, siginfo_t *info, void *context) {
    if (info->si_code != SI_TIMER && info->si_code != POLL_IN && info->si_code != POLL_HUP) {
        if ((uintptr_t)library.handler > (uintptr_t)SIG_IGN) library.handler(number, info, context);
        return;
    }
    struct sl_thread *t = sl_self;
    int saved = errno;
    if (t != NULL && t->sampled_by != SL_BY_NOTHING && atomic_load(&sl_active)) take_sample(t, context);
    if (leave_to_main(number, context) && t != NULL) sl_slept(t); /* not by the program's own will */
    errno = saved;
}

/* install puts our handler before that of the C library, which sets its own with the first thread. */
static bool install(void) {
    struct action now, own = {on_sample, SA_SIGINFO | SA_RESTART | SA_ONSTACK | RESTORER, sl_restorer, ~(uint64_t)0};
    if (syscall(SYS_rt_sigaction, sample_signal, NULL, &now, sizeof own.mask) != 0) return false;
    if (now.handler == on_sample) return true;
    library = now;
    return syscall(SYS_rt_sigaction, sample_signal, &own, NULL, sizeof own.mask) == 0;
}

void sl_sampling_start(void) {
    if (sl_settings.period == 0) return;
    const char *ticks = getenv("SLACKLINE_RECORD_TICKS"); /* tests: no perf events */
    /* A real-time kernel sends signals of perf events from a thread of its own, which is too late. */
    ticks_only = ticks != NULL || !queue_is_long() || access("/sys/kernel/realtime", F_OK) == 0;
    sample_signal = SIGRTMIN - 1;
    if (sample_signal < 32 || !install()) { /* the kernel's first real-time signal */
        sample_signal = 0;
        sl_say("rank %d: the C library keeps no signal for itself; there are no samples", sl_rank);
    }
}

/* sl_sampling_again is called after a thread was started. */
void sl_sampling_again(void) {
    if (sample_signal != 0 && atomic_load(&sl_active)) install();
}

void sl_sampling_thread(struct sl_thread *t) {
    if (sample_signal == 0 || sl_settings.estimate) return;
    t->random = 0x9e3779b97f4a7c15u * (uint64_t)(sl_rank + 1) + (uint64_t)t->number + 1;
    sl_slept(t);
    install();
    if (!start_perf(t) && !start_ticks(t)) sl_say("rank %d: no timer: %s; there are no samples", sl_rank, strerror(errno));
}

void sl_sampling_end(struct sl_thread *t) {
    enum sl_sampled_by by = t->sampled_by;
    t->sampled_by = SL_BY_NOTHING;
    if (by == SL_BY_TICKS) syscall(SYS_timer_delete, t->timer);
    if (by == SL_BY_PERF) end_perf(t);
}

/* sl_sampling_forked closes what a child process has of its parent's clocks. */
void sl_sampling_forked(struct sl_thread *t) {
    if (t != NULL && t->sampled_by == SL_BY_PERF && ours(t)) sl_close(t->perf);
}

/* A program that queues signals may fill the queue, see queue_is_long: from then on ticks are used, whose signals have their place. */
static void queues(void) {
    int saved = errno;
    ticks_only = true;
    if (sl_self != NULL && sl_self->sampled_by == SL_BY_PERF) to_ticks(sl_self);
    errno = saved;
}

SL_EXPORT int sigqueue(pid_t process, int number, const union sigval value) {
    static int (*real)(pid_t, int, const union sigval);
    if (real == NULL) real = (int (*)(pid_t, int, const union sigval))dlsym(RTLD_NEXT, "sigqueue");
    queues();
    return real(process, number, value);
}

SL_EXPORT int pthread_sigqueue(pthread_t thread, int number, const union sigval value) {
    static int (*real)(pthread_t, int, const union sigval);
    if (real == NULL) real = (int (*)(pthread_t, int, const union sigval))dlsym(RTLD_NEXT, "pthread_sigqueue");
    queues();
    return real(thread, number, value);
}

static void end_samples(struct sl_thread *t) {
    if (t != sl_self && t->sampled_by == SL_BY_PERF && ours(t)) ioctl(t->perf, PERF_EVENT_IOC_DISABLE, 0);
}

/* The same if the program shortens the queue: at once, and without further samples of the other threads, which cannot be waited for. */
static int limit(pid_t process, int resource, const struct rlimit *now, struct rlimit *before) {
    bool here = process == 0 || process == getpid();
    if (here && resource == RLIMIT_SIGPENDING && now != NULL && now->rlim_cur < LONG_QUEUE && sample_signal != 0) {
        queues();
        sl_each_thread(end_samples);
    }
    return (int)syscall(SYS_prlimit64, process, resource, now, before);
}

SL_EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *now) { return limit(0, (int)resource, now, NULL); }

SL_EXPORT int prlimit(pid_t process, enum __rlimit_resource resource, const struct rlimit *now, struct rlimit *before) {
    return limit(process, (int)resource, now, before);
}

#if __WORDSIZE == 64 /* where both forms are one */
SL_EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *now) {
    return limit(0, (int)resource, (const struct rlimit *)now, NULL);
}

SL_EXPORT int prlimit64(pid_t process, enum __rlimit_resource resource, const struct rlimit64 *now, struct rlimit64 *before) {
    return limit(process, (int)resource, (const struct rlimit *)now, (struct rlimit *)before);
}
#endif
