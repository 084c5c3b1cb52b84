#ifndef SL_LIFECYCLE_H
#define SL_LIFECYCLE_H
#include "core.h"

/* How a call that may be the last one ends. */
struct sl_ending {
    struct sl_thread *t; /* NULL: nothing is recorded */
    struct sl_record *r;
    bool last;
};

bool sl_wanted(void); /* recording was asked for and has not ended */
bool sl_begun(void);
void sl_begin(uint16_t fn, struct sl_frame frame, uint64_t enter, int provided);
struct sl_ending sl_end(uint16_t fn, struct sl_frame frame);
void sl_ended(const struct sl_ending *e);

/* sessions.c */
void sl_session_world_end(void);
bool sl_session_owned(void); /* the program began with a session */
#endif
