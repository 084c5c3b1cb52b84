#ifndef SL_OPENMP_H
#define SL_OPENMP_H
#include "core.h"

/* A team of threads that carries out a parallel region. */
struct sl_team {
    _Atomic int users;      /* threads that will still look at it */
    _Atomic uint64_t join;  /* when the master went on; 0: not yet */
    pthread_t master;
    uint64_t code;          /* address that tells which parallel region it is */
    uint32_t path;          /* where the master called it */
    struct sl_team *outer;  /* team that the master of this one works in */
};

struct sl_team *sl_omp_fork(unsigned threads, const void *code, struct sl_frame frame);
void sl_omp_join(struct sl_team *team);
void sl_omp_begin(struct sl_team *team, bool master);
void sl_omp_end(struct sl_team *team, bool master);
void sl_omp_mark(enum sl_omp what);
extern bool sl_ompt; /* the runtime tells by itself */
#endif
