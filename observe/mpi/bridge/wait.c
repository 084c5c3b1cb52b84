/* How the bridge waits: for other processes, and for its child. */
#define _GNU_SOURCE
#include "bridge.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <time.h>

int64_t bridge_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* sleep_for sleeps for so many us. */
static void sleep_for(long us) { nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL); }

long bridge_nap(unsigned times) { return times < 4 ? 50 : times < 20 ? 250 : 1000; }

void bridge_doze(unsigned *times) { sleep_for(bridge_nap((*times)++)); }

int bridge_done(int n, MPI_Request *requests, int *at)
{
	for (; *at < n; ++*at) {
		int done;
		MPI_Test(&requests[*at], &done, MPI_STATUS_IGNORE);
		if (!done)
			return 0;
	}
	return 1;
}

enum { SPIN = 50 * 1000 }; /* how long to poll without sleeping, in ns */

/* rest is how long to sleep, in us, after so many us of waiting: longer if others need the core. */
static long rest(long waited)
{
	long shortest = bridge_crowded() ? 20 : 5, longest = bridge_crowded() ? 1000 : 250;
	long us = waited / (bridge_crowded() ? 4 : 16);
	return waited > 50000 ? 1000 : us < shortest ? shortest : us > longest ? longest : us;
}

/* spin polls without sleeping: for a moment if the core is not needed by another process of the job, and as long as
 * so many bytes that are under way may take, since MPI moves them only inside its calls. */
static int spin(int n, MPI_Request *requests, int *at, int64_t start, uint64_t bytes)
{
	const int64_t slow = 4; /* ns per byte */
	int64_t limit = (bridge_crowded() ? 0 : SPIN) + (int64_t)bytes * slow;
	do {
		for (int i = 0; i < (bridge_crowded() ? 1 : 16); i++)
			if (bridge_done(n, requests, at))
				return 1;
		if (bridge_crowded() && bytes > 0)
			sched_yield();
	} while (bridge_now() - start < limit);
	return 0;
}

/* After that it sleeps between two polls, each time for a small part of the time that it has waited: so it
 * is late by that part at most, polls seldom, and the core is free for processes that work. */
int bridge_wait(int n, MPI_Request *requests, uint64_t bytes)
{
	int at = 0;
	if (bridge_done(n, requests, &at))
		return 1;
	int64_t start = bridge_now();
	if (spin(n, requests, &at, start, bytes))
		return 1;
	while (!bridge_done(n, requests, &at)) {
		long waited = (long)((bridge_now() - start) / 1000);
		if (waited > 500) {
			if (!bridge_tick())
				return 0;
			bridge_mail_progress();
		}
		sleep_for(rest(waited));
	}
	return 1;
}

/* settle waits until a socket can be used, and looks after the child meanwhile. */
static int settle(int socket, short events)
{
	struct pollfd p = {.fd = socket, .events = events};
	if (poll(&p, 1, 100) > 0 && (p.revents & events))
		return 1;
	if (p.revents & (POLLHUP | POLLERR))
		return 0;
	return bridge_child_is_here();
}

int bridge_read(int socket, void *to, size_t bytes)
{
	char *at = to;
	while (bytes > 0) {
		ssize_t n = recv(socket, at, bytes, MSG_DONTWAIT);
		if (n > 0) {
			at += n;
			bytes -= (size_t)n;
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR) || !settle(socket, POLLIN)) {
			return 0;
		}
	}
	return 1;
}

int bridge_write(int socket, const void *from, size_t bytes)
{
	const char *at = from;
	while (bytes > 0) {
		ssize_t n = send(socket, at, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0) {
			at += n;
			bytes -= (size_t)n;
		} else if ((errno != EAGAIN && errno != EINTR) || !settle(socket, POLLOUT)) {
			return 0;
		}
	}
	return 1;
}

int bridge_answer(int socket, uint32_t what, int32_t number, uint64_t bytes)
{
	struct head h = {what, number, bytes};
	return bridge_write(socket, &h, sizeof h);
}
