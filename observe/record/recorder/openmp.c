/* Teams of threads: who began and ended when. A thread that has done its part of a parallel region waits in a barrier
 * until the master goes on; nobody calls us then, so the end of the barrier is recorded when the thread is seen next. */
#include "openmp.h"
#include <stdlib.h>

bool sl_ompt;

static void release(struct sl_team *team) {
    if (atomic_fetch_sub(&team->users, 1) == 1) free(team);
}

static struct sl_thread *thread(void) {
    struct sl_thread *t = sl_self;
    if (t == NULL) t = sl_attach();
    return t == NULL || t->depth > 0 ? NULL : t;
}

void sl_omp_mark(enum sl_omp what) {
    struct sl_thread *t = thread();
    if (t != NULL) sl_small(t, SL_OMP, (uint16_t)what, sl_now(), 0);
}

/* path_of is the path of a call of the runtime, whose own frames may lie in between. */
static uint32_t path_of(struct sl_thread *t, struct sl_frame frame) {
    t->depth++;
    if (atomic_load_explicit(&sl_modules_stale, memory_order_relaxed)) sl_look_again();
    uint32_t path = sl_path(t, frame);
    t->depth--;
    return path;
}

struct sl_team *sl_omp_fork(unsigned threads, const void *code, struct sl_frame frame) {
    struct sl_thread *t = thread();
    struct sl_team *team = t == NULL ? NULL : calloc(1, sizeof *team);
    if (team == NULL) return NULL;
    atomic_store(&team->users, 1);
    team->outer = t->team;
    team->master = pthread_self();
    team->code = (uint64_t)(uintptr_t)code & 0xffffffffffffu;
    team->path = path_of(t, frame);
    sl_small_from(t, SL_OMP, SL_OMP_FORK, team->path, sl_now(), team->code | (uint64_t)(threads > 0xffff ? 0xffff : threads) << 48);
    return team;
}

/* sl_omp_close ends the barrier in which a worker waited. */
void sl_omp_close(struct sl_thread *t) {
    struct sl_team *team = t->ended;
    if (team == NULL) return;
    uint64_t join = atomic_load(&team->join);
    if (join == 0) join = sl_now();
    t->ended = NULL;
    sl_small(t, SL_OMP, SL_OMP_IMPLICIT_LEAVE, join, 0);
    sl_small(t, SL_OMP, SL_OMP_TEAM_END, join, 0);
    release(team);
}

void sl_omp_begin(struct sl_team *team, bool master) {
    struct sl_thread *t = thread();
    if (t == NULL || team == NULL) return;
    sl_omp_close(t);
    if (!master) atomic_fetch_add(&team->users, 1);
    t->team = team;
    sl_small_from(t, SL_OMP, SL_OMP_TEAM_BEGIN, master ? team->path : 0, sl_now(), team->code);
}

/* sl_omp_end is the end of a thread's own part. */
void sl_omp_end(struct sl_team *team, bool master) {
    struct sl_thread *t = thread();
    if (t == NULL || team == NULL || t->team != team) return;
    t->team = team->outer;
    sl_small(t, SL_OMP, SL_OMP_IMPLICIT_ENTER, sl_now(), 0);
    if (!master) {
        t->team = NULL;
        t->ended = team;
    }
}

void sl_omp_join(struct sl_team *team) {
    struct sl_thread *t = thread();
    if (t == NULL || team == NULL) return;
    uint64_t now = sl_now();
    atomic_store(&team->join, now);
    sl_small(t, SL_OMP, SL_OMP_IMPLICIT_LEAVE, now, 0);
    sl_small(t, SL_OMP, SL_OMP_TEAM_END, now, 0);
    sl_small(t, SL_OMP, SL_OMP_JOIN, now, 0);
    release(team);
}
