/* System calls that a signal would cut short, although the program has not asked for signals. Who includes this defines
 * WAITING(type, name, parameters, arguments, blocks), MASKED(type, name, parameters, arguments) for those that take a
 * signal mask of their own, called mask, and FOR_SIGNALS(name, parameters, arguments) for those that wait for the signals
 * in set. */
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <threads.h>
#include <unistd.h>

WAITING(unsigned int, sleep, (unsigned int seconds), (seconds), seconds > 0)
WAITING(int, usleep, (useconds_t time), (time), time > 0)
WAITING(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left), true)
WAITING(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *left), (clock, flags, time, left), true)
WAITING(int, thrd_sleep, (const struct timespec *time, struct timespec *left), (time, left), true)
WAITING(int, poll, (struct pollfd *fds, nfds_t n, int timeout), (fds, n, timeout), timeout != 0)
WAITING(int, __poll_chk, (struct pollfd *fds, nfds_t n, int timeout, size_t size), (fds, n, timeout, size), timeout != 0)
WAITING(int, select, (int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout), (n, in, out, except, timeout),
        timeout == NULL || timeout->tv_sec != 0 || timeout->tv_usec != 0)
WAITING(int, epoll_wait, (int fd, struct epoll_event *events, int n, int timeout), (fd, events, n, timeout), timeout != 0)
WAITING(int, pause, (void), (), true)
WAITING(int, semop, (int id, struct sembuf *ops, size_t n), (id, ops, n), true)
WAITING(int, semtimedop, (int id, struct sembuf *ops, size_t n, const struct timespec *timeout), (id, ops, n, timeout), true)
WAITING(int, msgsnd, (int id, const void *message, size_t size, int flags), (id, message, size, flags), (flags & IPC_NOWAIT) == 0)
WAITING(ssize_t, msgrcv, (int id, void *message, size_t size, long type, int flags), (id, message, size, type, flags), (flags & IPC_NOWAIT) == 0)

MASKED(int, ppoll, (struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask), (fds, n, timeout, mask))
MASKED(int, __ppoll_chk, (struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t size), (fds, n, timeout, mask, size))
MASKED(int, pselect, (int n, fd_set *in, fd_set *out, fd_set *except, const struct timespec *timeout, const sigset_t *mask), (n, in, out, except, timeout, mask))
MASKED(int, epoll_pwait, (int fd, struct epoll_event *events, int n, int timeout, const sigset_t *mask), (fd, events, n, timeout, mask))
MASKED(int, sigsuspend, (const sigset_t *mask), (mask))

FOR_SIGNALS(sigwait, (const sigset_t *set, int *number), (set, number))
FOR_SIGNALS(sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))
FOR_SIGNALS(sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *timeout), (set, info, timeout))
