/* Sleeps in many ways and prints how long each took, in ms, and what it returned. */
#define _GNU_SOURCE
#include <mpi.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

#define TIME(name, call) do { \
        double begin = now(); \
        errno = 0; \
        long result = (long)(call); \
        printf("%s %ld %d %.1f\n", name, result, errno, now() - begin); \
    } while (0)

static void on_alarm(int number) { (void)number; }

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    struct timespec ms100 = {0, 100000000}, left;
    struct timeval tv = {0, 100000};
    int ep = epoll_create1(0);
    struct epoll_event e;
    sigset_t none;
    sigemptyset(&none);
    TIME("sleep", sleep(1));
    TIME("usleep", usleep(100000));
    TIME("nanosleep", nanosleep(&ms100, &left));
    TIME("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &ms100, NULL));
    TIME("poll", poll(NULL, 0, 100));
    TIME("ppoll", ppoll(NULL, 0, &ms100, &none));
    TIME("select", select(0, NULL, NULL, NULL, &tv));
    TIME("pselect", pselect(0, NULL, NULL, NULL, &ms100, &none));
    TIME("epoll_wait", epoll_wait(ep, &e, 1, 100));
    /* A signal that the program has asked for still interrupts. */
    struct sigaction a = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &a, NULL);
    ualarm(50000, 0);
    TIME("interrupted", usleep(1000000));
    MPI_Finalize();
    return 0;
}
