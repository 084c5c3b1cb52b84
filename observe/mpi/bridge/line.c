/* The line to process 0: a connection past MPI, for what must be reported when MPI cannot, because the
 * bridge of a process is gone or MPI itself has failed. It is opened only then. Process 0 listens and
 * believes who knows the secret, which MPI has spread. */
#define _GNU_SOURCE
#include "bridge.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

static int listener = -1;

static socklen_t size_of(const struct sockaddr_storage *a)
{
	return a->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static void set_port(struct sockaddr_storage *a, in_port_t port)
{
	if (a->ss_family == AF_INET)
		((struct sockaddr_in *)a)->sin_port = port;
	else
		((struct sockaddr_in6 *)a)->sin6_port = port;
}

/* list writes down where process 0 can be reached: its addresses, that of the host itself last. */
static void list(struct line *l, int family, in_port_t port)
{
	struct ifaddrs *all, *i;
	if (getifaddrs(&all) != 0)
		return;
	for (int loop = 0; loop < 2; loop++) {
		for (i = all; i != NULL; i = i->ifa_next) {
			if (i->ifa_addr == NULL || i->ifa_addr->sa_family != family || !(i->ifa_flags & IFF_UP))
				continue;
			if (((i->ifa_flags & IFF_LOOPBACK) != 0) != loop || l->n == MOST_ADDRESSES)
				continue;
			struct sockaddr_storage *a = &l->address[l->n++];
			memset(a, 0, sizeof *a);
			memcpy(a, i->ifa_addr, family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
			set_port(a, port);
			l->loop += loop;
		}
	}
	freeifaddrs(all);
}

/* listen_at opens the line for a family of addresses. */
static int listen_at(struct line *l, int family)
{
	struct sockaddr_storage here = {.ss_family = (sa_family_t)family}; /* any address, any port */
	socklen_t n = sizeof here;
	int s = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s < 0)
		return -1;
	if (bind(s, (struct sockaddr *)&here, size_of(&here)) || listen(s, 64) || getsockname(s, (struct sockaddr *)&here, &n)) {
		close(s);
		return -1;
	}
	list(l, family, family == AF_INET ? ((struct sockaddr_in *)&here)->sin_port : ((struct sockaddr_in6 *)&here)->sin6_port);
	return s;
}

void bridge_open_line(void)
{
	struct line l;
	memset(&l, 0, sizeof l);
	if (bridge_rank == 0 && getrandom(l.secret, sizeof l.secret, 0) == sizeof l.secret) {
		strncpy(l.host, bridge_host(), sizeof l.host - 1);
		listener = listen_at(&l, AF_INET);
		if (listener < 0)
			listener = listen_at(&l, AF_INET6);
	}
	MPI_Bcast(&l, sizeof l, MPI_BYTE, 0, bridge_failures);
	bridge_life->line = l;
}

int bridge_listener(void) { return listener; }

/* move moves all bytes over the line within so many ms. */
static int move(int s, int write, void *data, size_t bytes, int ms)
{
	char *at = data;
	int64_t until = bridge_now() + ms * INT64_C(1000000);
	while (bytes > 0) {
		ssize_t n = write ? send(s, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) : recv(s, at, bytes, MSG_DONTWAIT);
		if (n > 0) {
			at += n;
			bytes -= (size_t)n;
			continue;
		}
		int64_t left = (until - bridge_now()) / 1000000;
		if (n == 0 || (errno != EAGAIN && errno != EINTR && errno != ENOTCONN) || left <= 0)
			return 0;
		struct pollfd p = {.fd = s, .events = write ? POLLOUT : POLLIN};
		poll(&p, 1, (int)left);
	}
	return 1;
}

/* report_at reports a failure to one address, and waits until it is understood. */
static int report_at(struct sockaddr_storage *a, struct failure *f)
{
	enum { PATIENCE = 1000 }; /* ms */
	unsigned char yes = 0;
	int s = socket(a->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s < 0)
		return 0;
	int there = connect(s, (struct sockaddr *)a, size_of(a)) == 0 || errno == EINPROGRESS;
	there = there && move(s, 1, bridge_life->line.secret, sizeof bridge_life->line.secret, PATIENCE) && move(s, 1, f, sizeof *f, PATIENCE) &&
		move(s, 0, &yes, 1, PATIENCE);
	close(s);
	return there && yes == 1;
}

int bridge_tell(struct failure *f)
{
	struct line *l = &bridge_life->line;
	int here = strcmp(l->host, bridge_host()) == 0;
	int from = here ? l->n - l->loop : 0, to = here ? l->n : l->n - l->loop;
	for (int i = from; i < to; i++)
		if (report_at(&l->address[i], f))
			return 1;
	return 0;
}

int bridge_listen(struct failure *f)
{
	enum { PATIENCE = 100 };
	unsigned char secret[SECRET], yes = 1;
	int s = listener < 0 ? -1 : accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (s < 0)
		return 0;
	int known = move(s, 0, secret, sizeof secret, PATIENCE) && memcmp(secret, bridge_life->line.secret, sizeof secret) == 0 &&
		move(s, 0, f, sizeof *f, PATIENCE);
	if (known) {
		f->text[sizeof f->text - 1] = 0;
		move(s, 1, &yes, 1, PATIENCE);
	}
	close(s);
	return known;
}
