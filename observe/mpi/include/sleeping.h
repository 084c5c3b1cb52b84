/* System calls that a signal would cut short, although the program has not asked for signals. Who includes this defines
 * WAITING(type, name, parameters, arguments, blocks), QUICK(type, name, parameters, arguments) for those that mostly do not wait,
 * MASKED(type, name, parameters, arguments) for those that take a signal mask of their own, called mask, and
 * FOR_SIGNALS(name, parameters, arguments) for those that wait for the signals in set. */
#include <dlfcn.h>
#include <mqueue.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

/* NEXT finds the next function of that name when this library is loaded, or before, if another library calls it first. Later is too
 * late: the call may be in a signal handler, where dlsym must not be used, or between dlopen and dlerror. */
#define NEXT(type, name, params, found) \
    static type(*next_##name) params; \
    static __attribute__((constructor)) void find_##name(void) { next_##name = (type(*) params)found; }

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
WAITING(ssize_t, mq_receive, (mqd_t queue, char *message, size_t size, unsigned *priority), (queue, message, size, priority), true)
WAITING(ssize_t, mq_timedreceive, (mqd_t queue, char *restrict message, size_t size, unsigned *restrict priority, const struct timespec *restrict until),
        (queue, message, size, priority, until), true)
WAITING(int, sem_wait, (sem_t *s), (s), true)
WAITING(int, sem_timedwait, (sem_t *s, const struct timespec *until), (s, until), true)
WAITING(pid_t, wait, (int *status), (status), true)
WAITING(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options), (options & WNOHANG) == 0)
WAITING(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage), (pid, status, options, usage), (options & WNOHANG) == 0)
WAITING(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options), (options & WNOHANG) == 0)
WAITING(int, accept, (int fd, __SOCKADDR_ARG from, socklen_t *length), (fd, from, length), true)
WAITING(int, accept4, (int fd, __SOCKADDR_ARG from, socklen_t *length, int flags), (fd, from, length, flags), true)
WAITING(int, connect, (int fd, __CONST_SOCKADDR_ARG to, socklen_t length), (fd, to, length), true)
WAITING(int, flock, (int fd, int how), (fd, how), (how & LOCK_NB) == 0)
WAITING(ssize_t, recv, (int fd, void *data, size_t n, int flags), (fd, data, n, flags), (flags & MSG_DONTWAIT) == 0)
WAITING(ssize_t, __recv_chk, (int fd, void *data, size_t n, size_t size, int flags), (fd, data, n, size, flags), (flags & MSG_DONTWAIT) == 0)
WAITING(ssize_t, recvfrom, (int fd, void *restrict data, size_t n, int flags, __SOCKADDR_ARG from, socklen_t *restrict length),
        (fd, data, n, flags, from, length), (flags & MSG_DONTWAIT) == 0)
WAITING(ssize_t, __recvfrom_chk, (int fd, void *restrict data, size_t n, size_t size, int flags, __SOCKADDR_ARG from, socklen_t *restrict length),
        (fd, data, n, size, flags, from, length), (flags & MSG_DONTWAIT) == 0)
WAITING(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), (flags & MSG_DONTWAIT) == 0)
WAITING(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *timeout), (fd, messages, n, flags, timeout),
        (flags & MSG_DONTWAIT) == 0)

QUICK(ssize_t, read, (int fd, void *data, size_t n), (fd, data, n))
QUICK(ssize_t, __read_chk, (int fd, void *data, size_t n, size_t size), (fd, data, n, size))
QUICK(ssize_t, write, (int fd, const void *data, size_t n), (fd, data, n))
QUICK(ssize_t, readv, (int fd, const struct iovec *parts, int n), (fd, parts, n))
QUICK(ssize_t, writev, (int fd, const struct iovec *parts, int n), (fd, parts, n))
QUICK(ssize_t, pread, (int fd, void *data, size_t n, off_t at), (fd, data, n, at))
QUICK(ssize_t, pwrite, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at))
QUICK(ssize_t, pread64, (int fd, void *data, size_t n, off64_t at), (fd, data, n, at))
QUICK(ssize_t, pwrite64, (int fd, const void *data, size_t n, off64_t at), (fd, data, n, at))
QUICK(ssize_t, send, (int fd, const void *data, size_t n, int flags), (fd, data, n, flags))
QUICK(ssize_t, sendto, (int fd, const void *data, size_t n, int flags, __CONST_SOCKADDR_ARG to, socklen_t length), (fd, data, n, flags, to, length))
QUICK(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
QUICK(int, fsync, (int fd), (fd))
QUICK(int, fdatasync, (int fd), (fd))

#if defined(__GLIBC_PREREQ) && __GLIBC_PREREQ(2, 30)
WAITING(int, sem_clockwait, (sem_t *s, clockid_t clock, const struct timespec *until), (s, clock, until), true)
#endif
#if defined(__GLIBC_PREREQ) && __GLIBC_PREREQ(2, 35)
MASKED(int, epoll_pwait2, (int fd, struct epoll_event *events, int n, const struct timespec *timeout, const sigset_t *mask), (fd, events, n, timeout, mask))
#endif
MASKED(int, ppoll, (struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask), (fds, n, timeout, mask))
MASKED(int, __ppoll_chk, (struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t size), (fds, n, timeout, mask, size))
MASKED(int, pselect, (int n, fd_set *in, fd_set *out, fd_set *except, const struct timespec *timeout, const sigset_t *mask), (n, in, out, except, timeout, mask))
MASKED(int, epoll_pwait, (int fd, struct epoll_event *events, int n, int timeout, const sigset_t *mask), (fd, events, n, timeout, mask))
MASKED(int, sigsuspend, (const sigset_t *mask), (mask))

FOR_SIGNALS(sigwait, (const sigset_t *set, int *number), (set, number))
FOR_SIGNALS(sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))
FOR_SIGNALS(sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *timeout), (set, info, timeout))
