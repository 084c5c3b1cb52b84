/* What the processor and the kernel count for each thread: instructions, cycles, page faults (perf events). */
#ifndef SL_COUNTERS_H
#define SL_COUNTERS_H
#include "core.h"

/* sl_counters_load reads which ones are wanted; sl_counters_thread begins to count for this thread, sl_counters_end ends that. */
void sl_counters_load(void);
void sl_counters_thread(struct sl_thread *t);
void sl_counters_end(struct sl_thread *t);
void sl_counters_leave(struct sl_thread *t);
void sl_counters_forked(struct sl_thread *t);

bool sl_counters_read(struct sl_thread *t, uint64_t *values);
void sl_counters_exclude(struct sl_thread *t, const uint64_t *since);
void sl_counters_again(struct sl_thread *t, struct sl_record *r);

/* sl_counters_enter keeps what is counted when a call begins, until its record ends. */
void sl_counters_enter(struct sl_thread *t);
#endif
