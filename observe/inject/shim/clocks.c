/* The clocks of several hosts. A head carries when its message may be delivered; between hosts in the time of rank 0's clock,
 * which each rank with another clock follows. Clocks run apart by up to 100 us in a second, and not evenly, so that one
 * comparison would not do: each rank asks rank 0 for its time in MPI_Init, through MPI, and then again and again as long as the program
 * runs. That is done by threads of their own and UDP, since both ends must answer at once, whatever the program does.
 *
 * An answer is right to half of what its round trip took longer than the shortest one, as far as is known; a Kalman filter of
 * two states, offset and drift, makes of all answers what is most probable. */
#include "inject.h"
#include "clockid.h"
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { FIRST = 100, BURST = 8, ADDRESSES = 16, ANSWER_MS = 50, LEAST_NS = 10000000, MOST_NS = 100000000, RANK_NS = 200000 };

int *inj_hosts;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool other; /* this rank's clock is not that of rank 0 */

/* What rank 0's clock shows more than this one: whole + offset + drift * (time - at). */
static struct {
    int64_t whole, at;
    double offset, drift;         /* ns; ns per ns */
    double offset2, both, drift2; /* their covariances */
} filter;

static int64_t ahead(int64_t now) {
    return filter.whole + (int64_t)(filter.offset + filter.drift * (double)(now - filter.at));
}

/* inj_common is the time of rank 0's clock at a time of this one; inj_own_time is the reverse. */
int64_t inj_common(int64_t own) {
    if (!other) return own;
    pthread_mutex_lock(&lock);
    int64_t t = own + ahead(own);
    pthread_mutex_unlock(&lock);
    return t;
}

int64_t inj_own_time(int64_t common) {
    if (!other) return common;
    pthread_mutex_lock(&lock);
    int64_t t = common - ahead(common - filter.whole); /* by what that is wrong, ahead changes by nothing */
    pthread_mutex_unlock(&lock);
    return t;
}

/* An answer: rank 0's clock showed a time between two of this one. */
struct answer { int64_t sent, there, back; };

static int64_t trip(const struct answer *a) { return a->back - a->sent; }

/* learn takes an answer into account; shortest is that of the earlier round trips of its kind. It returns by how much the filter was wrong. */
static double learn(const struct answer *a, int64_t shortest) {
    const double unknown_drift = 1e-4, wander2 = 1e-21, grain = 500; /* drift at first; its change^2 per ns: 1 ppm in a second; ns */
    int64_t middle = a->sent + trip(a) / 2;
    if (filter.at == 0) {
        filter.whole = a->there - middle;
        filter.at = middle;
        filter.offset2 = (double)trip(a) * (double)trip(a) / 4;
        filter.drift2 = unknown_drift * unknown_drift;
        return 0;
    }
    double dt = (double)(middle - filter.at), wrong = grain, better = (double)(shortest - trip(a)) / 2;
    if (better < 0) wrong -= better;
    else filter.offset2 += better * better; /* what was known came from answers that were as late as this */
    filter.at = middle;
    filter.offset += filter.drift * dt;
    filter.offset2 += dt * (2 * filter.both + dt * filter.drift2);
    filter.both += dt * filter.drift2;
    filter.drift2 += wander2 * (dt > 0 ? dt : 0);
    double surprise = (double)(a->there - middle - filter.whole) - filter.offset, sum = filter.offset2 + wrong * wrong;
    double to_offset = filter.offset2 / sum, to_drift = filter.both / sum;
    filter.offset += to_offset * surprise;
    filter.drift += to_drift * surprise;
    filter.drift2 -= to_drift * filter.both;
    filter.both -= to_offset * filter.both;
    filter.offset2 -= to_offset * filter.offset2;
    return surprise < 0 ? -surprise : surprise;
}

/* The first comparison: of all answers the one with the shortest round trip. */
static void first_answers(bool differs) {
    MPI_Comm comm = MPI_COMM_WORLD; /* the program has sent nothing yet */
    int64_t t;
    for (int i = 1; i < inj_ranks; i++) { /* one after the other: questions do not wait for each other */
        if (inj_rank != 0 && inj_rank != i) continue;
        int ask = differs;
        if (inj_rank == i) PMPI_Send(&ask, 1, MPI_INT, 0, 0, comm);
        else PMPI_Recv(&ask, 1, MPI_INT, i, 0, comm, MPI_STATUS_IGNORE);
        struct answer best = {0, 0, INT64_MAX};
        for (int k = 0; ask && k < FIRST; k++) {
            struct answer a = {inj_now(), 0, 0};
            if (inj_rank == 0) {
                PMPI_Recv(&t, 1, MPI_INT64_T, i, 0, comm, MPI_STATUS_IGNORE);
                t = inj_now();
                PMPI_Send(&t, 1, MPI_INT64_T, i, 0, comm);
                continue;
            }
            PMPI_Send(&a.sent, 1, MPI_INT64_T, 0, 0, comm);
            PMPI_Recv(&a.there, 1, MPI_INT64_T, 0, 0, comm, MPI_STATUS_IGNORE);
            a.back = inj_now();
            if (trip(&a) < trip(&best)) best = a;
        }
        if (ask && inj_rank == i) learn(&best, trip(&best));
    }
}

/* The thread that goes on: on rank 0 it answers, on the others it asks. */
static pthread_t thread;
static bool has_thread;
static atomic_bool ends;
static int udp = -1;
static struct { int64_t key, count; struct sockaddr_in to[ADDRESSES]; } zero; /* where rank 0 may be reached */
struct packet { int64_t key, number, time; };

static void *answering(void *none) {
    struct packet p;
    struct sockaddr_in from;
    while (!atomic_load(&ends)) {
        struct pollfd wait = {.fd = udp, .events = POLLIN};
        socklen_t size = sizeof from;
        if (poll(&wait, 1, ANSWER_MS) <= 0 || recvfrom(udp, &p, sizeof p, 0, (struct sockaddr *)&from, &size) != sizeof p || p.key != zero.key) continue;
        p.time = inj_now();
        sendto(udp, &p, sizeof p, 0, (struct sockaddr *)&from, size);
    }
    return none;
}

/* question asks once; false: no answer. Before the first one all addresses are asked, then the one that answered. */
static bool question(int64_t number, struct answer *a) {
    struct packet p = {zero.key, number, 0};
    struct sockaddr_in from;
    a->sent = inj_now();
    for (int i = 0; i < zero.count; i++) sendto(udp, &p, sizeof p, 0, (struct sockaddr *)&zero.to[i], sizeof zero.to[i]);
    for (;;) {
        struct pollfd wait = {.fd = udp, .events = POLLIN};
        socklen_t size = sizeof from;
        if (poll(&wait, 1, ANSWER_MS) <= 0) return false;
        ssize_t n = recvfrom(udp, &p, sizeof p, 0, (struct sockaddr *)&from, &size);
        a->back = inj_now();
        a->there = p.time;
        if (n != sizeof p || p.key != zero.key || p.number != number) continue; /* a late answer */
        zero.to[0] = from;
        zero.count = 1;
        return true;
    }
}

static void *asking(void *none) {
    int64_t number = 0, shortest = 0, began = inj_now();
    while (!atomic_load(&ends)) {
        struct answer best = {0, 0, INT64_MAX}, a;
        for (int k = 0; k < BURST && !atomic_load(&ends); k++)
            if (question(++number, &a) && trip(&a) < trip(&best)) best = a;
        if (best.there != 0) {
            bool good = shortest != 0 && trip(&best) < 2 * shortest;
            pthread_mutex_lock(&lock);
            double wrong = learn(&best, shortest != 0 ? shortest : trip(&best));
            pthread_mutex_unlock(&lock);
            if (shortest == 0 || trip(&best) < shortest) shortest = trip(&best);
            if (good) { /* it shows how good the filter is */
                inj_add(&inj_report->clock_answers, 1);
                inj_add(&inj_report->clock_off_ns, (int64_t)wrong);
            }
        }
        int64_t most = MOST_NS > inj_ranks * (int64_t)RANK_NS ? MOST_NS : inj_ranks * (int64_t)RANK_NS, pause = (inj_now() - began) / 10;
        pause = pause < LEAST_NS ? LEAST_NS : pause > most ? most : pause;
        for (int64_t until = inj_now() + pause, left; !atomic_load(&ends) && (left = until - inj_now()) > 0;) {
            struct timespec t = {0, left < LEAST_NS ? left : LEAST_NS};
            clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
        }
    }
    return none;
}

/* own_addresses are those of this host that others may reach. */
static void own_addresses(void) {
    struct sockaddr_in bound;
    socklen_t size = sizeof bound;
    struct ifaddrs *list;
    if (getsockname(udp, (struct sockaddr *)&bound, &size) != 0 || getifaddrs(&list) != 0) return;
    for (struct ifaddrs *i = list; i != NULL && zero.count < ADDRESSES; i = i->ifa_next) {
        if (i->ifa_addr == NULL || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_LOOPBACK)) continue;
        struct sockaddr_in *to = &zero.to[zero.count++];
        *to = *(struct sockaddr_in *)(void *)i->ifa_addr;
        to->sin_port = bound.sin_port;
    }
    freeifaddrs(list);
}

static void start_thread(void) {
    struct sockaddr_in any = {.sin_family = AF_INET};
    udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (udp >= 0 && inj_rank == 0 && bind(udp, (struct sockaddr *)&any, sizeof any) == 0) {
        FILE *random = fopen("/dev/urandom", "re");
        if (random != NULL && fread(&zero.key, sizeof zero.key, 1, random) == 1) own_addresses();
        if (random != NULL) fclose(random);
    }
    PMPI_Bcast(&zero, sizeof zero, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (udp < 0 || zero.count == 0 || (inj_rank != 0 && !other)) return;
    sigset_t all, before;
    sigfillset(&all); /* the program's signals are not for this thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    has_thread = pthread_create(&thread, NULL, inj_rank == 0 ? answering : asking, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    struct sched_param first = {.sched_priority = 1};
    if (has_thread) pthread_setschedparam(thread, SCHED_FIFO, &first); /* if that is allowed, it does not wait for the ranks' CPU */
}

/* inj_clocks_start finds out which ranks share a host, and follows the clock of rank 0 where it is another one. */
void inj_clocks_start(MPI_Comm host) {
    int leader = inj_rank, differs, any;
    PMPI_Bcast(&leader, 1, MPI_INT, 0, host);
    inj_hosts = malloc(sizeof(int) * (size_t)inj_ranks);
    if (inj_hosts == NULL) {
        inj_say("rank %d: no memory", inj_rank);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    PMPI_Allgather(&leader, 1, MPI_INT, inj_hosts, 1, MPI_INT, MPI_COMM_WORLD);
    uint64_t own = sl_clock_id(), first = own;
    PMPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    differs = own != first;
    PMPI_Allreduce(&differs, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (!any) return;
    first_answers(differs);
    other = differs;
    inj_report->other_clock = other;
    if (inj_settings.latency) start_thread();
}

void inj_clocks_end(void) {
    atomic_store(&ends, true);
    if (has_thread) pthread_join(thread, NULL);
    has_thread = false;
    if (udp >= 0) close(udp);
    udp = -1;
}
