#ifndef SL_WORLDS_H
#define SL_WORLDS_H
#include "core.h"

extern int sl_base; /* the rank of rank 0 of MPI_COMM_WORLD among those of all worlds */
extern MPI_Comm sl_world; /* of all processes of this world: MPI_COMM_WORLD, or that of a session */
void sl_worlds_start(void);
uint32_t sl_members(MPI_Group group, int n, uint64_t *words, bool remote);
uint64_t sl_spawner_own(void);
uint64_t sl_spawner(void);
bool sl_worlds_number(MPI_Comm parent);
#endif
