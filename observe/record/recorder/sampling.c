/* Samples of the call stack between MPI calls, by a timer of each thread that runs on the wall clock.
 *
 * The time to the next sample varies by half of the period in both directions, so that samples do not keep step with
 * what the program does periodically. */
#include "core.h"
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

int sl_sample_signal; /* 0: there are no samples */

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

/* set_timer sets the time of the next sample. It counts from when the last one was due, not from when it came: a signal that
 * waits for a thread without a CPU comes when the thread runs again, which in MPI is when a message has come. Counted from
 * then, the time behind each call of MPI would get too few samples. */
static void set_timer(struct sl_thread *t) {
    struct timespec clock;
    clock_gettime(CLOCK_MONOTONIC, &clock);
    uint64_t now = (uint64_t)clock.tv_sec * 1000000000u + (uint64_t)clock.tv_nsec;
    if (t->due == 0 || t->due + 1000 * sl_settings.period < now) t->due = now;
    do {
        uint64_t x = t->random;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        t->random = x;
        t->due += sl_settings.period / 2 + x % (sl_settings.period + 1);
    } while (t->due <= now);
    struct itimerspec when = {.it_value = {(time_t)(t->due / 1000000000u), (long)(t->due % 1000000000u)}};
    timer_settime(t->timer, TIMER_ABSTIME, &when, NULL);
}

static void on_sample(int number, siginfo_t *info, void *context) {
    (void)number;
    int saved = errno;
    struct sl_thread *t = sl_self;
    if (t != NULL && t->has_timer && info->si_code == SI_TIMER) {
        if (t->depth == 0 && t->on) {
            t->depth = 1;
            uint64_t now = sl_now();
            sl_cpu_check(t, now);
            uint32_t path = sl_path_of(t, interrupted(context), true);
            struct sl_record *r = sl_head(sl_room(t, SL_HEAD), SL_SAMPLE, 0, SL_HEAD, path, now);
            r->leave = now;
            sl_keep(t, r, SL_HEAD);
            atomic_fetch_add_explicit(&t->events.head->samples, 1, memory_order_relaxed);
            t->depth = 0;
        }
        set_timer(t);
    }
    errno = saved;
}

/* sl_sampling_start takes a real-time signal that nobody has a handler for. */
void sl_sampling_start(void) {
    if (sl_settings.period == 0) return;
    for (int s = SIGRTMAX - 1; s > SIGRTMIN; s--) {
        struct sigaction old;
        if (sigaction(s, NULL, &old) != 0 || old.sa_handler != SIG_DFL) continue;
        struct sigaction a = {.sa_sigaction = on_sample, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
        sigfillset(&a.sa_mask);
        if (sigaction(s, &a, NULL) == 0) {
            sl_sample_signal = s;
            return;
        }
    }
    sl_say("rank %d: no free signal; there are no samples", sl_rank);
}

void sl_sampling_thread(struct sl_thread *t) {
    if (sl_sample_signal == 0 || sl_settings.estimate) return;
    struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sl_sample_signal};
    e.sigev_notify_thread_id = gettid();
    if (timer_create(CLOCK_MONOTONIC, &e, &t->timer) != 0) {
        sl_say("rank %d: no timer: %s; there are no samples", sl_rank, strerror(errno));
        return;
    }
    t->random = 0x9e3779b97f4a7c15u * (uint64_t)(sl_rank + 1) + (uint64_t)t->number + 1;
    t->has_timer = true;
    set_timer(t);
}

void sl_sampling_end(struct sl_thread *t) {
    if (!t->has_timer) return;
    t->has_timer = false;
    timer_delete(t->timer);
}
