/* Windows and files: numbers for their handles.
 *
 * Nothing is communicated: the collector finds that two ranks mean the same one from the communicator that it was made on and from
 * the order in which they were made on it. */
#include "objects.h"
#include <sched.h>
#include <stdlib.h>

enum { SLOTS = 256 };
static struct sl_object *slots[SLOTS];
static uint32_t count;
static atomic_flag lock = ATOMIC_FLAG_INIT;

static void acquire(void) {
    if (!sl_threaded) return;
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) sched_yield();
}

static void release(void) {
    if (sl_threaded) atomic_flag_clear_explicit(&lock, memory_order_release);
}

/* key_of tells windows from files. */
static uintptr_t key_of(enum sl_object_kind kind, uintptr_t handle) { return handle << 1 | kind; }

static struct sl_object **slot_of(uintptr_t key) { return &slots[(key * 0x9e3779b97f4a7c15u) >> 56]; }

/* sl_object_add numbers a new window or file and defines it; a name has a length. */
uint32_t sl_object_add(struct sl_thread *t, enum sl_object_kind kind, uintptr_t handle, uint32_t comm, uint16_t function,
                       const char *name, size_t length) {
    enum { MOST = 1023 };
    uint64_t data[2 + (MOST + 8) / 8] = {comm, function};
    struct sl_object *o = calloc(1, sizeof *o);
    if (o == NULL) return SL_NO_OBJECT;
    if (length > MOST) length = MOST;
    if (length > 0) memcpy(data + 2, name, length);
    o->key = key_of(kind, handle);
    o->group = MPI_GROUP_NULL;
    acquire();
    o->id = count++;
    o->next = *slot_of(o->key);
    *slot_of(o->key) = o;
    release();
    sl_define(t, kind == SL_A_WINDOW ? SL_DEF_WINDOW : SL_DEF_FILE, o->id, data, 2 + (length + 8) / 8);
    return o->id;
}

struct sl_object *sl_object(enum sl_object_kind kind, uintptr_t handle) {
    uintptr_t key = key_of(kind, handle);
    acquire();
    struct sl_object *o = *slot_of(key);
    while (o != NULL && o->key != key) o = o->next;
    release();
    return o;
}

/* sl_object_forget ends the use of a handle; another window or file may get it. */
void sl_object_forget(enum sl_object_kind kind, uintptr_t handle) {
    uintptr_t key = key_of(kind, handle);
    acquire();
    struct sl_object **p = slot_of(key);
    while (*p != NULL && (*p)->key != key) p = &(*p)->next;
    struct sl_object *o = *p;
    if (o != NULL) *p = o->next;
    release();
    if (o == NULL) return;
    if (o->group != MPI_GROUP_NULL) PMPI_Group_free(&o->group);
    free(o);
}
