/* Latency of one-sided communication. Operations on the memory of another rank are MPI's own; what completes them returns no
 * earlier than they, and the answers to them, would have arrived. */
#ifndef INJ_ONESIDED_H
#define INJ_ONESIDED_H
#include "inject.h"

struct window;

extern _Thread_local int inj_inside; /* one-sided calls, one inside of the other: a binding may call another one */

struct window *inj_window(MPI_Win win); /* NULL: nothing is known of it */
void inj_window_made(MPI_Comm comm, MPI_Win win);
void inj_window_ends(struct window *w);
void inj_window_freed(struct window *w);

/* Operations; what is got, and an answer to a request, returns when it is there. */
void inj_put(struct window *w, int target, int64_t bytes);
int64_t inj_get(struct window *w, int target, int64_t sent, int64_t received);
void inj_answered(MPI_Request request, int64_t due);

void inj_fence(struct window *w);
void inj_lock(struct window *w, int target, int assertion);
void inj_locked(struct window *w, int target, int assertion);
void inj_unlock(struct window *w, int target);
void inj_unlocked(struct window *w, int target);
enum { INJ_ALL = -1 };
void inj_flushed(struct window *w, int target, int64_t enter);
void inj_flushed_local(struct window *w, int target);
void inj_post(struct window *w, MPI_Group origins);
void inj_start(struct window *w, MPI_Group targets);
void inj_complete(struct window *w);
void inj_completed(struct window *w);
bool inj_exposed(struct window *w, bool wait); /* whether all origins have completed */

#endif
