/* Programs that stand still, each for another reason, and some that are only slow: the case is the first argument. All end by a
 * signal after a while: that is the second argument, in seconds. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 1 << 20 };
static int rank, size;
static char out[LARGE], in[LARGE];
static MPI_Comm world;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void __attribute__((noinline)) compute(double seconds) {
    for (double end = now() + seconds; now() < end;) {
        for (volatile int i = 0; i < 10000; i++) {
        }
    }
}

static void __attribute__((noinline)) loop_for_ever(void) { compute(1e6); }

static void barrier(void) { MPI_Barrier(world); }
static void get(int from, int tag) { MPI_Recv(in, LARGE, MPI_CHAR, from, tag, world, MPI_STATUS_IGNORE); }
static void put(int to, int tag, int bytes) { MPI_Send(out, bytes, MPI_CHAR, to, tag, world); }

static void __attribute__((noinline)) cyclic_sends(void) {
    put((rank + 1) % size, 1, LARGE);
    get((rank + size - 1) % size, 1);
}

static void cyclic_receives(void) {
    get((rank + size - 1) % size, 1);
    put((rank + 1) % size, 1, 4);
}

static void receive_without_send(void) {
    if (rank == 0) get(1, 5);
}

static void send_without_receive(void) {
    if (rank == 2) put(3, 5, LARGE);
}

static void wrong_tag(void) {
    if (rank == 1) put(0, 6, 4);
    if (rank == 0) get(1, 5);
    barrier();
}

static void wrong_tag_large(void) {
    if (rank == 1) put(0, 6, LARGE);
    if (rank == 0) get(1, 5);
    barrier();
}

static void wrong_communicator(void) {
    MPI_Comm other;
    MPI_Comm_dup(world, &other);
    if (rank == 1) MPI_Send(out, 4, MPI_CHAR, 0, 5, other);
    if (rank == 0) get(1, 5);
    barrier();
}

static void collective_order(void) {
    int a = 1, b;
    if (rank != 3) barrier();
    MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, world);
    if (rank == 3) barrier();
}

static void different_roots(void) {
    MPI_Gather(out, 4, MPI_CHAR, in, 4, MPI_CHAR, rank == 3, world);
    barrier();
}

static void one_finished(void) {
    int a = 1, b;
    for (int i = 0; i < (rank == 2 ? 3 : 4); i++) MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, world);
}

static void endless(void) {
    if (rank == 2) loop_for_ever();
    barrier();
}

static void stopped(void) {
    if (rank == 2) raise(SIGSTOP);
    barrier();
}

static MPI_Win window(void) {
    MPI_Win win;
    char *memory;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, world, &memory, &win);
    return win;
}

static void held_lock(void) {
    MPI_Win win = window();
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(out, 1, MPI_CHAR, 1, 0, 1, MPI_CHAR, win);
        MPI_Win_flush(1, win);
    }
    barrier();
    if (rank == 0) get(2, 7);
    if (rank == 2) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(out, 1, MPI_CHAR, 1, 0, 1, MPI_CHAR, win);
        MPI_Win_unlock(1, win);
        put(0, 7, 4);
    }
    if (rank == 0) MPI_Win_unlock(1, win);
    barrier();
}

static void fence(void) {
    MPI_Win win = window();
    MPI_Win_fence(0, win);
    if (rank == 3) get(0, 7);
    MPI_Win_fence(0, win);
    if (rank == 0) put(3, 7, 4);
}

static void no_post(void) {
    MPI_Win win = window();
    MPI_Group all, target;
    int one = 1;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &one, &target);
    if (rank == 0) {
        MPI_Win_start(target, 0, win);
        MPI_Put(out, 1, MPI_CHAR, 1, 0, 1, MPI_CHAR, win);
        MPI_Win_complete(win);
        put(1, 7, 4);
    }
    if (rank == 1) get(0, 7);
    barrier();
}

static void wait_never(void) {
    MPI_Request r;
    if (rank == 0) {
        MPI_Irecv(in, 4, MPI_CHAR, 1, 9, world, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    barrier();
}

static void waitall(void) { /* the messages of the neighbours are there, that of rank 0 is not */
    MPI_Request r[4];
    int n = 0;
    if (rank == 2) {
        for (int i = 0; i < size; i++)
            if (i != rank) MPI_Irecv(in + 8 * i, 4, MPI_CHAR, i, 9, world, &r[n++]);
        MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
    } else if (rank != 0) {
        put(2, 9, 4);
    }
    barrier();
}

static void waitany(void) {
    MPI_Request r[2];
    int which;
    if (rank == 0) {
        MPI_Irecv(in, 4, MPI_CHAR, 1, 9, world, &r[0]);
        MPI_Irecv(in + 8, 4, MPI_CHAR, 2, 9, world, &r[1]);
        MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
    }
    if (rank == 1 || rank == 2) get(0, 9);
    barrier();
}

static void any_source(void) {
    if (rank == 0)
        for (int i = 0; i < size; i++) get(MPI_ANY_SOURCE, 2); /* one too many */
    else put(0, 2, 4);
}

static void probe(void) {
    if (rank == 0) MPI_Probe(1, 3, world, MPI_STATUS_IGNORE);
    if (rank == 1) get(0, 3);
    barrier();
}

static void broken_ring(void) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Sendrecv(out, 4, MPI_CHAR, right, 1, in, 4, MPI_CHAR, rank == 3 ? right : left, 1, world, MPI_STATUS_IGNORE);
    barrier();
}

static void barrier_in_branch(void) {
    if (rank % 2 == 0) barrier();
}

static void circle_of_communicators(void) { /* 0 and 1, 1 and 2, 2 and 0 */
    MPI_Comm c[3];
    for (int i = 0; i < 3; i++) MPI_Comm_split(world, rank == i || rank == (i + 1) % 3 ? 1 : MPI_UNDEFINED, rank, &c[i]);
    if (rank == 3) return;
    MPI_Barrier(c[rank]);
    MPI_Barrier(c[(rank + 2) % 3]);
}

static void other_communicator(void) {
    MPI_Comm other;
    MPI_Comm_dup(world, &other);
    MPI_Barrier(rank == 3 ? other : world);
}

static void not_started(void) {
    MPI_Request r;
    if (rank == 3) return;
    MPI_Ibarrier(world, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void blocking_with_other(void) {
    MPI_Request r;
    if (rank == 3) {
        MPI_Ibarrier(world, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else barrier();
}

static void test_loop(void) {
    MPI_Request r;
    int done = 0;
    if (rank == 0) {
        MPI_Irecv(in, 4, MPI_CHAR, 1, 9, world, &r);
        while (!done) MPI_Test(&r, &done, MPI_STATUS_IGNORE);
    }
    barrier();
}

static void from_two(MPI_Request r[2]) {
    MPI_Irecv(in, 4, MPI_CHAR, 1, 9, world, &r[0]);
    MPI_Irecv(in + 8, 4, MPI_CHAR, 2, 9, world, &r[1]);
}

static void testall_loop(void) {
    MPI_Request r[2];
    int done = 0;
    if (rank == 0) {
        from_two(r);
        while (!done) MPI_Testall(2, r, &done, MPI_STATUSES_IGNORE);
    }
    barrier();
}

static void testany_loop(void) {
    MPI_Request r[2];
    int done = 0, which;
    if (rank == 0) {
        from_two(r);
        while (!done) MPI_Testany(2, r, &which, &done, MPI_STATUS_IGNORE);
    }
    barrier();
}

static void waitsome(void) {
    MPI_Request r[2];
    int done, which[2];
    if (rank == 0) {
        from_two(r);
        MPI_Waitsome(2, r, &done, which, MPI_STATUSES_IGNORE);
    }
    barrier();
}

static void *get_in_thread(void *none) {
    get(1, 5);
    return none;
}

static void threads(void) { /* both threads of a rank wait for messages that nobody sends */
    pthread_t helper;
    if (rank == 0) {
        pthread_create(&helper, NULL, get_in_thread, NULL);
        get(2, 5);
        pthread_join(helper, NULL);
    }
    barrier();
}

static void to_self(void) {
    if (rank == 0) MPI_Ssend(out, 4, MPI_CHAR, 0, 1, world);
    barrier();
}

static void split(void) { /* one rank does not take part in making a communicator */
    MPI_Comm c;
    if (rank == 1) get(0, 4);
    MPI_Comm_split(world, 0, rank, &c);
    if (rank == 0) put(1, 4, 4);
}

static void asleep(void) {
    if (rank == 1) sleep(1000);
    barrier();
}

static void crashed(void) {
    if (rank == 2) {
        compute(0.5);
        raise(SIGSEGV);
    }
    barrier();
}

static void slow(void) { /* for a while */
    for (int i = 0; i < 40; i++) {
        if (rank == 1) compute(2);
        barrier();
    }
}

static void slow_halo(void) { /* all but one have sent to their neighbours and wait for theirs */
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < 40; i++) {
        MPI_Request r[4];
        if (rank == 1) compute(2);
        MPI_Irecv(in, 4, MPI_CHAR, left, 1, world, &r[0]);
        MPI_Irecv(in + 8, 4, MPI_CHAR, right, 1, world, &r[1]);
        MPI_Isend(out, 4, MPI_CHAR, left, 1, world, &r[2]);
        MPI_Isend(out, 4, MPI_CHAR, right, 1, world, &r[3]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    }
}

/* Rank 0 looks in turn for messages of ranks 1 and 2. Rank 1 sends its own when rank 0 has that of rank 2, which is slow. */
static void in_turn(void (*look)(void)) {
    for (int i = 0; i < 40; i++) {
        if (rank == 0) {
            look();
        } else if (rank == 1) {
            get(0, 9);
            put(0, 9, 4);
        } else if (rank == 2) {
            compute(2);
            put(0, 9, 4);
        }
        barrier();
    }
}

static void test_two(void) {
    MPI_Request r[2];
    int done = 0;
    from_two(r);
    for (int i = 0; !done; i = 1 - i) MPI_Test(&r[i], &done, MPI_STATUS_IGNORE);
    put(1, 9, 4);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void probe_two(void) {
    int found = 0;
    for (int i = 0; !found; i = 1 - i) MPI_Iprobe(1 + i, 9, world, &found, MPI_STATUS_IGNORE);
    put(1, 9, 4);
    get(2, 9);
    get(1, 9);
}

static void tests_in_turn(void) { in_turn(test_two); }
static void probes_in_turn(void) { in_turn(probe_two); }

static void *send_to_self(void *unused) {
    int x = 0;
    MPI_Sendrecv_replace(&x, 1, MPI_INT, rank, 4, rank, 4, world, MPI_STATUS_IGNORE);
    return unused;
}

static void ended_thread(void) { /* it made a call and is gone */
    pthread_t t;
    pthread_create(&t, NULL, send_to_self, NULL);
    pthread_join(t, NULL);
    get((rank + 1) % size, 5);
}

static void imbalanced(void) {
    for (int i = 0; i < 1000; i++) {
        compute(rank == 3 ? 0.03 : 0.005);
        barrier();
    }
}

static void messages(void) { /* a pipeline that moves on */
    for (int i = 0; i < 2000; i++) {
        if (rank > 0) get(rank - 1, i);
        compute(0.01);
        if (rank + 1 < size) put(rank + 1, i, i % 2 ? 4 : LARGE);
    }
}

int main(int argc, char **argv) {
    static const struct { const char *name; void (*run)(void); } cases[] = {
#define CASE(name) {#name, name}
        CASE(cyclic_sends), CASE(cyclic_receives), CASE(receive_without_send), CASE(send_without_receive), CASE(wrong_tag),
        CASE(wrong_tag_large), CASE(wrong_communicator), CASE(collective_order), CASE(different_roots), CASE(one_finished),
        CASE(endless), CASE(stopped), CASE(held_lock), CASE(fence), CASE(no_post), CASE(wait_never), CASE(waitall), CASE(waitany),
        CASE(any_source), CASE(probe), CASE(broken_ring), CASE(barrier_in_branch), CASE(circle_of_communicators),
        CASE(other_communicator), CASE(not_started), CASE(blocking_with_other), CASE(test_loop), CASE(to_self), CASE(split),
        CASE(testall_loop), CASE(testany_loop), CASE(waitsome), CASE(threads),
        CASE(asleep), CASE(crashed), CASE(slow), CASE(slow_halo), CASE(imbalanced), CASE(messages),
        CASE(tests_in_turn), CASE(probes_in_turn), CASE(ended_thread),
    };
    if (argc > 1 && strstr(argv[1], "thread") != NULL) {
        int provided;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    } else MPI_Init(&argc, &argv);
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    alarm(argc > 2 ? atoi(argv[2]) : 120);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) cases[i].run();
    MPI_Finalize();
    return 0;
}
