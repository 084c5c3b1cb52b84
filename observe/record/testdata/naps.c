/* Waits in many ways, each in a function of its own between others that compute, and prints how long each took, in ms. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static sem_t flag;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static int pair[2], woken;
static atomic_int napping;
static char byte;
static pthread_t waker;

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

__attribute__((noinline)) void busy(void) {
    for (double end = now(CLOCK_THREAD_CPUTIME_ID) + 5; now(CLOCK_THREAD_CPUTIME_ID) < end;) {}
}

/* asleep waits until the first thread, which is about to wait, sleeps: it may have to wait for a CPU before. */
static void asleep(void) {
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    while (state != 'S') {
        usleep(1000);
        if (!napping) continue;
        FILE *f = fopen(path, "r");
        if (f == NULL || fscanf(f, "%*d (%*[^)]) %c", &state) != 1) return;
        fclose(f);
    }
}

/* wake ends all of the waits below, a while after they began. */
static void *wake(void *unused) {
    asleep();
    usleep(100000);
    sem_post(&flag);
    pthread_mutex_lock(&mutex);
    woken = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    if (write(pair[1], "m", 1) != 1) return NULL;
    if (unused != NULL) pthread_barrier_wait(&barrier);
    return NULL;
}

#define NAP(name, body) __attribute__((noinline)) int nap_##name(void) { int got = 1; body; return got; }
NAP(usleep, usleep(100000))
NAP(sem_wait, sem_wait(&flag))
NAP(cond_wait, pthread_mutex_lock(&mutex); while (!woken) pthread_cond_wait(&condition, &mutex); pthread_mutex_unlock(&mutex))
NAP(barrier_wait, pthread_barrier_wait(&barrier))
NAP(join, pthread_join(waker, NULL); waker = 0)
NAP(read, got = (int)read(pair[0], &byte, 1))
NAP(recv, got = (int)recv(pair[0], &byte, 1, 0))

#define TIME(name) do { \
        woken = 0; \
        socketpair(AF_UNIX, SOCK_STREAM, 0, pair); \
        sem_init(&flag, 0, 0); \
        pthread_create(&waker, NULL, wake, nap_##name == nap_barrier_wait ? &barrier : NULL); \
        busy(); \
        double begin = now(CLOCK_MONOTONIC); \
        napping = 1; \
        int got = nap_##name(); \
        printf("nap_%s %d %.1f\n", #name, got, now(CLOCK_MONOTONIC) - begin); \
        napping = 0; \
        busy(); \
        if (waker != 0) pthread_join(waker, NULL); \
    } while (0)

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    pthread_barrier_init(&barrier, NULL, 2);
    TIME(usleep);
    TIME(sem_wait);
    TIME(cond_wait);
    TIME(barrier_wait);
    TIME(join);
    TIME(read);
    TIME(recv);
    MPI_Finalize();
    return 0;
}
