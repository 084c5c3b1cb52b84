/* What MPI objects and the library take in memory: bytes that stay allocated by a call, counted by functions in the place of
 * malloc and its relatives, and what the kernel counts for the process. */
#include "bench.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As in memory.go. */
enum kind { COMM_CREATE, COMM_DUP, COMM_SPLIT, CART_CREATE, GRAPH_CREATE, WIN_CREATE };
enum { USAGE = 3, WINDOW_BYTES = 1024 };

static int counting; /* between the beginning and the end of a call that is looked at */
static long long live;

#ifdef __GLIBC__
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static void *born(void *p)
{
	if (__builtin_expect(counting, 0) && p != NULL)
		__atomic_fetch_add(&live, (long long)malloc_usable_size(p), __ATOMIC_RELAXED);
	return p;
}

static void dies(void *p)
{
	if (__builtin_expect(counting, 0) && p != NULL)
		__atomic_fetch_sub(&live, (long long)malloc_usable_size(p), __ATOMIC_RELAXED);
}

void *malloc(size_t n) { return born(__libc_malloc(n)); }
void *calloc(size_t n, size_t size) { return born(__libc_calloc(n, size)); }
void *memalign(size_t alignment, size_t n) { return born(__libc_memalign(alignment, n)); }
void *aligned_alloc(size_t alignment, size_t n) { return born(__libc_memalign(alignment, n)); }

void free(void *p)
{
	dies(p);
	__libc_free(p);
}

void *realloc(void *p, size_t n)
{
	long long before = counting && p != NULL ? (long long)malloc_usable_size(p) : 0;
	void *q = __libc_realloc(p, n);
	if (__builtin_expect(counting, 0) && (q != NULL || n == 0)) /* without room the old one stays */
		__atomic_fetch_sub(&live, before, __ATOMIC_RELAXED);
	return born(q);
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
	if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
		return EINVAL;
	void *q = memalign(alignment, n);
	if (q == NULL)
		return ENOMEM;
	*p = q;
	return 0;
}
static const int counts = 1;
#else
static const int counts = 0; /* other libraries have no second names for these functions */
#endif

/* Proportional, resident and private kB of this process; -1: the kernel does not report it. */
static void usage(long long *kb)
{
	char line[256];
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	kb[0] = kb[1] = kb[2] = -1;
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		long long n;
		if (sscanf(line, "Pss: %lld", &n) == 1)
			kb[0] = n;
		else if (sscanf(line, "Rss: %lld", &n) == 1)
			kb[1] = n;
		else if (sscanf(line, "Private_Clean: %lld", &n) == 1 || sscanf(line, "Private_Dirty: %lld", &n) == 1)
			kb[2] = (kb[2] < 0 ? 0 : kb[2]) + n;
	}
	if (f != NULL)
		fclose(f);
}

static long long at_start[USAGE];

__attribute__((constructor)) static void before_init(void) { usage(at_start); }

/* One object, kept in the list. */
struct object {
	MPI_Comm comm;
	MPI_Win window;
};

static void create(long kind, MPI_Group group, void *memory, struct object *x)
{
	int ranks = bench_ranks, periodic = 0, left = (bench_rank + bench_ranks - 1) % bench_ranks, right = (bench_rank + 1) % bench_ranks;
	switch (kind) {
	case COMM_CREATE: MPI_Comm_create(MPI_COMM_WORLD, group, &x->comm); break;
	case COMM_DUP: MPI_Comm_dup(MPI_COMM_WORLD, &x->comm); break;
	case COMM_SPLIT: MPI_Comm_split(MPI_COMM_WORLD, 0, bench_rank, &x->comm); break;
	case CART_CREATE: MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &x->comm); break;
	case GRAPH_CREATE:
		MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &x->comm);
		break;
	case WIN_CREATE: MPI_Win_create(memory, WINDOW_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &x->window); break;
	}
}

/* Creates repeat objects of kind n, which all live until the end; prints what each took on rank 0, 1, ... */
static void objects(const struct bench_order *o)
{
	static char memory[WINDOW_BYTES];
	MPI_Group group;
	struct object *list = malloc((size_t)o->repeat * sizeof *list);
	long long *bytes = bench_array(o->repeat), *all = bench_array(o->repeat * bench_ranks);
	if (list == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	for (long i = 0; i < o->repeat; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		live = 0;
		counting = 1;
		create(o->n, group, memory, &list[i]);
		counting = 0;
		bytes[i] = counts ? live : -1;
	}
	for (long i = 0; i < o->repeat; i++) {
		if (o->n == WIN_CREATE)
			MPI_Win_free(&list[i].window);
		else
			MPI_Comm_free(&list[i].comm);
	}
	MPI_Group_free(&group);
	MPI_Gather(bytes, (int)o->repeat, MPI_LONG_LONG, all, (int)o->repeat, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
	if (bench_rank == 0)
		bench_print(all, o->repeat * bench_ranks);
	free(all);
	free(bytes);
	free(list);
}

/* What every rank takes, before MPI_Init and now. */
static void usages(void)
{
	long long mine[2 * USAGE], *all = bench_array(2L * USAGE * bench_ranks);
	memcpy(mine, at_start, sizeof at_start);
	MPI_Barrier(MPI_COMM_WORLD);
	usage(mine + USAGE);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Gather(mine, 2 * USAGE, MPI_LONG_LONG, all, 2 * USAGE, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
	if (bench_rank == 0)
		bench_print(all, 2L * USAGE * bench_ranks);
	free(all);
}

int bench_memory(const struct bench_order *o)
{
	if (strcmp(o->what, "objects") == 0)
		objects(o);
	else if (strcmp(o->what, "usage") == 0)
		usages();
	else
		return 0;
	return 1;
}
