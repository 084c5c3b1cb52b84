/* A program under "slackline inject" and "slackline record" has both libraries, this one in front: what it records goes on to the
 * library that injects, not past it to MPI. */
#ifndef SL_STACK_H
#define SL_STACK_H

#include "core.h"

extern void *sl_injector; /* handle of the library that injects; NULL: there is none */

/* sl_below is the function of that name in the library that injects, kept from the first time on; otherwise: it has none. */
void *sl_below(void **kept, const char *name, void *otherwise);

/* SL_REAL declares real: what a wrapper calls. */
#define SL_REAL(name) \
    static void *below; \
    __typeof__(&P##name) real = P##name; \
    if (SL_UNLIKELY(sl_injector != NULL)) real = (__typeof__(real))sl_below(&below, #name, (void *)real)

/* SL_REAL_FORTRAN is the same for a name of Fortran. */
#define SL_REAL_FORTRAN(type, name) ({ \
    static void *below; \
    SL_UNLIKELY(sl_injector != NULL) ? (type *)sl_below(&below, #name, (void *)p##name) : p##name; })

#endif
