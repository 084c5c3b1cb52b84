#ifndef SL_SKIPS_H
#define SL_SKIPS_H
#include "core.h"

/* What an entry of a SL_SKIPS record, or of a file of dropped records, says. raw.go has the same list. */
enum sl_skip {
    SL_SKIP_SENDS = 1,   /* count sends to peer with tag on comm */
    SL_SKIP_RECEIVES,    /* count receives */
    SL_SKIP_COLLECTIVES, /* count collectives on comm */
    SL_SKIP_POST,        /* a receive was posted that this thread has not completed: its request */
    SL_SKIP_FRAME,       /* a function or region was entered and not left: kind of its record, data */
    SL_SKIP_LEFT,        /* count functions and regions were left that had been entered before */
    SL_SKIP_OFF,         /* of dropped records: recording was off at their end */
    SL_SKIP_WINDOW,      /* count calls on the window comm by which its epochs are counted */
    SL_SKIP_FILE,        /* count collective operations on the file comm */
};

struct sl_skips *sl_skips_file(struct sl_thread *t);
void sl_skips_drop(struct sl_skips *s, const struct sl_chunk *chunk);
void sl_skips_seal(struct sl_skips *s);
void sl_skips_take(struct sl_thread *t, struct sl_thread *owner, const uint64_t *d);
void sl_skips_keep(struct sl_thread *t, uint64_t now);
#endif
