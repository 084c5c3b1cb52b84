/* Forwards Ethernet frames between interfaces, each of them later by a fixed time, in order, and as many as come:
 *
 *     delay MICROSECONDS INTERFACE INTERFACE...
 *
 * It replaces a bridge: a frame goes to the interface where its destination has been seen as a source, or to all others. The time counts
 * from the moment when the kernel got the frame. At its end (SIGTERM) it prints how late frames were on average. Frames may be larger than the medium allows (segmentation offload); what is known of
 * that goes with them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PORTS = 16, QUEUE = 1 << 14, LARGEST = 70000, KNOWN = 256, SPIN_NS = 40000 };

struct frame {
    int64_t due;
    int from;
    size_t size;
    char *data; /* virtio header and frame */
};

static struct frame queue[QUEUE]; /* all are late by the same time, so that they leave in the order in which they came */
static unsigned head, tail;
static int ports, sockets[PORTS];
static struct { unsigned char address[6]; int port; } known[KNOWN];
static int n_known;
static volatile sig_atomic_t ends;
static int64_t forwarded, late; /* frames, and how late they were all together */

static void end(int signal) { ends = signal; }

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t); /* as the kernel's stamps */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int open_port(const char *name) {
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0), yes = 1, room = 64 << 20;
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(name)};
    if (fd < 0 || at.sll_ifindex == 0) fail(name);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
    if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes) != 0 || setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &yes, sizeof yes) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes) != 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0)
        fail(name);
    struct packet_mreq all = {.mr_ifindex = at.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all);
    return fd;
}

static struct ether_header *ethernet(struct frame *f) { return (struct ether_header *)(void *)(f->data + sizeof(struct virtio_net_hdr)); }

static int port_of(const unsigned char *address) {
    for (int i = 0; i < n_known; i++)
        if (memcmp(known[i].address, address, 6) == 0) return known[i].port;
    return -1;
}

/* take takes a frame that has come to a port; false: there is none. */
static int take(int port, int64_t delay) {
    if (head - tail == QUEUE) return 0; /* the rest waits in the kernel */
    struct frame *f = &queue[head % QUEUE];
    char control[256];
    if (f->data == NULL && (f->data = malloc(LARGEST)) == NULL) fail("memory");
    struct iovec part = {f->data, LARGEST};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(sockets[port], &m, 0);
    if (n < (ssize_t)(sizeof(struct virtio_net_hdr) + sizeof(struct ether_header))) return n > 0;
    f->due = now() + delay;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c != NULL; c = CMSG_NXTHDR(&m, c)) {
        struct timespec t;
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPNS) continue;
        memcpy(&t, CMSG_DATA(c), sizeof t);
        f->due = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + delay;
    }
    f->from = port;
    f->size = (size_t)n;
    const unsigned char *source = ethernet(f)->ether_shost;
    if (port_of(source) < 0 && n_known < KNOWN) {
        memcpy(known[n_known].address, source, 6);
        known[n_known++].port = port;
    }
    head++;
    return 1;
}

static void forward(struct frame *f, int64_t delay) {
    forwarded++;
    late += now() - f->due + delay;
    int to = port_of(ethernet(f)->ether_dhost);
    for (int i = 0; i < ports; i++)
        if (i != f->from && (to < 0 || i == to))
            while (write(sockets[i], f->data, f->size) < 0 && now() < f->due + 1000000000) sched_yield(); /* the port is full */
}

int main(int argc, char **argv) {
    struct sched_param first = {.sched_priority = 10};
    if (argc < 4 || argc - 2 > PORTS) {
        fprintf(stderr, "usage: delay MICROSECONDS INTERFACE INTERFACE...\n");
        return 2;
    }
    int64_t delay = atoll(argv[1]) * 1000;
    sched_setscheduler(0, SCHED_FIFO, &first);
    prctl(PR_SET_TIMERSLACK, 1000);
    struct pollfd wait[PORTS];
    for (ports = 0; ports < argc - 2; ports++) wait[ports] = (struct pollfd){.fd = sockets[ports] = open_port(argv[2 + ports]), .events = POLLIN};
    printf("ready\n");
    fflush(stdout);
    signal(SIGTERM, end);
    while (!ends) {
        int64_t left = head == tail ? 1000000000 : queue[tail % QUEUE].due - now();
        if (left <= 0) {
            forward(&queue[tail++ % QUEUE], delay);
            continue;
        }
        if (left > SPIN_NS) { /* a timer is not that precise */
            struct timespec t = {(left - SPIN_NS) / 1000000000, (left - SPIN_NS) % 1000000000};
            if (ppoll(wait, (nfds_t)ports, &t, NULL) <= 0) continue;
        }
        for (int i = 0; i < ports; i++)
            for (int n = 0; n < 32 && take(i, delay); n++) {}
    }
    printf("%.1f us late on average\n", forwarded > 0 ? (double)late / (double)forwarded / 1e3 : 0);
    return 0;
}
