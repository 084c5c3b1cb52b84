#ifndef SL_OBJECTS_H
#define SL_OBJECTS_H
#include "core.h"

enum sl_object_kind { SL_A_WINDOW, SL_A_FILE };

/* A window or a file, by its handle. */
struct sl_object {
    uintptr_t key;
    uint32_t id;
    MPI_Group group; /* of a window, if it was asked for; else MPI_GROUP_NULL */
    struct sl_object *next;
};

#define SL_NO_OBJECT UINT32_MAX

uint32_t sl_object_add(struct sl_thread *t, enum sl_object_kind kind, uintptr_t handle, uint32_t comm, uint16_t function,
                       const char *name, size_t length);
struct sl_object *sl_object(enum sl_object_kind kind, uintptr_t handle); /* NULL if it is not known */
void sl_object_forget(enum sl_object_kind kind, uintptr_t handle);

static inline uint32_t sl_object_id(enum sl_object_kind kind, uintptr_t handle) {
    struct sl_object *o = sl_object(kind, handle);
    return SL_LIKELY(o != NULL) ? o->id : SL_NO_OBJECT;
}
#endif
