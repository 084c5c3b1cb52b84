/* Does what signals, timers and descriptors of a recorder would disturb, and prints for each whether all was as it should be: a
 * name and "ok", or what was wrong. All of it is the same with and without a recorder. */
#define _GNU_SOURCE
#include <mpi.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <link.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;
static volatile sig_atomic_t seen;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* compute takes CPU time, in ms: long enough for several samples. */
static void compute(double ms) {
    for (double end = cpu() + ms; cpu() < end;)
        for (int i = 0; i < 1000; i++) sink += i;
}

static void report(const char *name, int good, long result, int error) {
    if (good) printf("%s ok\n", name);
    else printf("%s result %ld, errno %d (%s)\n", name, result, error, strerror(error));
    fflush(stdout);
}

/* TIMES makes a call that must return the same each time, and last for 20 ms. One of the calls may be shorter: where the
   host takes the CPU away, the kernel's count of ticks falls behind, and a wait that counts ticks ends early when it catches up. */
enum { ROUNDS = 4, SHORTER = 1 };
#define TIMES(name, wanted, wanted_errno, call) do { \
        int good = 1, error = 0, shorter = 0; \
        long result = 0; \
        for (int round = 0; round < ROUNDS && good; round++) { \
            compute(2); \
            double begin = now(); \
            errno = 0; \
            result = (long)(call); \
            error = errno; \
            shorter += now() - begin <= 15; /* some clocks tick every 4 ms */ \
            good = result == (wanted) && error == (wanted_errno) && shorter <= SHORTER; \
        } \
        report(name, good, result, error); \
    } while (0)

static struct timespec *later(clockid_t clock) {
    static struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += 20000000;
    if (t.tv_nsec >= 1000000000) { t.tv_sec++; t.tv_nsec -= 1000000000; }
    return &t;
}

static void count(int number) { (void)number; seen++; }

static void waits(void) {
    struct timespec ms20 = {0, 20000000}, left;
    struct timeval tv;
    struct epoll_event e;
    int pair[2], ep = epoll_create1(0);
    sigset_t none, real_time;
    sigemptyset(&none);
    sigemptyset(&real_time);
    for (int i = SIGRTMIN; i <= SIGRTMAX; i++) sigaddset(&real_time, i);
    TIMES("nanosleep", 0, 0, nanosleep(&ms20, &left));
    TIMES("clock_nanosleep", 0, 0, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, later(CLOCK_MONOTONIC), NULL));
    TIMES("nanosleep by syscall()", 0, 0, syscall(SYS_nanosleep, &ms20, &left));
    int word = 0;
    TIMES("futex by syscall()", -1, ETIMEDOUT, syscall(SYS_futex, &word, FUTEX_WAIT, 0, &ms20, NULL, 0));
    sem_t sem;
    sem_init(&sem, 0, 0);
    TIMES("sem_timedwait", -1, ETIMEDOUT, sem_timedwait(&sem, later(CLOCK_REALTIME)));
    TIMES("sem_clockwait", -1, ETIMEDOUT, sem_clockwait(&sem, CLOCK_MONOTONIC, later(CLOCK_MONOTONIC)));
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    TIMES("pthread_cond_timedwait", ETIMEDOUT, 0, pthread_cond_timedwait(&condition, &mutex, later(CLOCK_REALTIME)));
    TIMES("poll", 0, 0, poll(NULL, 0, 20));
    TIMES("ppoll", 0, 0, ppoll(NULL, 0, &ms20, &none));
    TIMES("select", 0, 0, (tv = (struct timeval){0, 20000}, select(0, NULL, NULL, NULL, &tv)));
    TIMES("pselect", 0, 0, pselect(0, NULL, NULL, NULL, &ms20, &none));
    TIMES("epoll_wait", 0, 0, epoll_wait(ep, &e, 1, 20));
    TIMES("epoll_pwait", 0, 0, epoll_pwait(ep, &e, 1, 20, &none));
    TIMES("epoll_pwait2", 0, 0, epoll_pwait2(ep, &e, 1, &ms20, &none));
    TIMES("sigtimedwait", -1, EAGAIN, sigtimedwait(&real_time, NULL, &ms20));
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    tv = (struct timeval){0, 20000};
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    char byte;
    struct iovec part = {&byte, 1};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
    TIMES("read with SO_RCVTIMEO", -1, EAGAIN, read(pair[0], &byte, 1));
    TIMES("recv with SO_RCVTIMEO", -1, EAGAIN, recv(pair[0], &byte, 1, 0));
    TIMES("recvfrom with SO_RCVTIMEO", -1, EAGAIN, recvfrom(pair[0], &byte, 1, 0, NULL, NULL));
    TIMES("recvmsg with SO_RCVTIMEO", -1, EAGAIN, recvmsg(pair[0], &message.msg_hdr, 0));
    TIMES("recvmmsg with SO_RCVTIMEO", -1, EAGAIN, recvmmsg(pair[0], &message, 1, 0, NULL));
    int semaphores = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
    struct sembuf take = {0, -1, 0};
    TIMES("semtimedop", -1, EAGAIN, semtimedop(semaphores, &take, 1, &ms20));
    semctl(semaphores, 0, IPC_RMID);
    aio_context_t context = 0;
    struct io_event event;
    if (syscall(SYS_io_setup, 1, &context) == 0) TIMES("io_getevents by syscall()", 0, 0, syscall(SYS_io_getevents, context, 1, 1, &event, &ms20));
    else report("io_getevents by syscall()", 1, 0, 0);
    char name[64];
    snprintf(name, sizeof name, "/gentle-%d", (int)getpid());
    struct mq_attr one = {.mq_maxmsg = 1, .mq_msgsize = 8};
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &one);
    mq_unlink(name);
    char eight[8];
    if (queue >= 0) TIMES("mq_timedreceive", -1, ETIMEDOUT, mq_timedreceive(queue, eight, 8, NULL, later(CLOCK_REALTIME)));
    else report("mq_timedreceive", 1, 0, 0);
}

/* wakes are waits without a time: a thread ends them after 30 ms, pause after 1 s more. */
static int message_queue, waked[2];
static pthread_t waiting;
static void *wake(void *what) {
    /* Whether pause already waits cannot be seen: the signal must not come before, however busy the machine is. */
    nanosleep(&(struct timespec){what == (void *)3, 30000000}, NULL);
    struct { long type; char text[1]; } message = {1, "m"};
    if (what == (void *)1) msgsnd(message_queue, &message, 1, 0);
    else if (what == (void *)2) write(waked[1], "m", 1);
    else pthread_kill(waiting, SIGUSR1);
    return NULL;
}

#define UNTIL(name, what, wanted, wanted_errno, call) do { \
        pthread_t waker; \
        pthread_create(&waker, NULL, wake, (void *)what); \
        compute(2); \
        errno = 0; \
        long result = (long)(call); \
        int error = errno; \
        pthread_join(waker, NULL); \
        report(name, result == (wanted) && error == (wanted_errno), result, error); \
    } while (0)

static void wakes(void) {
    struct { long type; char text[8]; } message;
    char byte;
    message_queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
    pipe(waked);
    waiting = pthread_self();
    signal(SIGUSR1, count);
    UNTIL("msgrcv", 1, 1, 0, msgrcv(message_queue, &message, 8, 0, 0));
    UNTIL("read of a pipe", 2, 1, 0, read(waked[0], &byte, 1));
    UNTIL("pause", 3, -1, EINTR, pause());
    msgctl(message_queue, IPC_RMID, NULL);
    report("the program's own signal", seen == 1, seen, 0);
    /* Each read is to be ended by one signal. They come again and again, so that one without effect is counted, and not waited for. */
    enum { READS = 25 };
    struct itimerval ms4 = {{0, 4000}, {0, 4000}}, off = {{0, 0}, {0, 0}};
    struct sigaction once = {.sa_handler = count}; /* no SA_RESTART */
    long lost = 0;
    sigaction(SIGALRM, &once, NULL);
    for (int i = 0; i < READS; i++) {
        compute(1);
        seen = 0;
        setitimer(ITIMER_REAL, &ms4, NULL);
        errno = 0;
        if (read(waked[0], &byte, 1) != -1 || errno != EINTR || seen > 1) lost++;
        setitimer(ITIMER_REAL, &off, NULL);
    }
    report("read that a signal ends", lost <= 1, lost, 0); /* a signal may come before the read waits */
    signal(SIGALRM, SIG_DFL);
}

static void signals(void) {
    sigset_t before, all, after, pending;
    seen = 0;
    for (int i = SIGRTMIN; i <= SIGRTMAX; i++) signal(i, count);
    compute(20);
    report("handlers of real-time signals", seen == 0, seen, 0);
    for (int i = 1; i < NSIG; i++) if (i >= SIGRTMIN) signal(i, SIG_IGN);
    compute(20);
    for (int i = SIGRTMIN; i <= SIGRTMAX; i++) signal(i, SIG_DFL);
    compute(20);
    report("reset of real-time signals", 1, 0, 0);
    struct sigaction a;
    int defaults = 1;
    for (int i = SIGRTMIN; i <= SIGRTMAX; i++) defaults &= sigaction(i, NULL, &a) == 0 && a.sa_handler == SIG_DFL;
    report("dispositions", defaults, 0, 0);
    sigprocmask(SIG_SETMASK, NULL, &before);
    report("signal mask", sigismember(&before, SIGRTMAX - 1) == 0 && sigismember(&before, SIGPROF) == 0, 0, 0);
    memset(&all, 0xff, sizeof all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    int fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
    compute(20);
    sigpending(&pending);
    int found = 0;
    for (int i = SIGRTMIN; i <= SIGRTMAX; i++) found += sigismember(&pending, i);
    report("pending signals", found == 0, found, 0);
    struct signalfd_siginfo info;
    ssize_t n = read(fd, &info, sizeof info);
    report("signalfd", n == -1 && errno == EAGAIN, n > 0 ? (long)info.ssi_signo : n, errno);
    close(fd);
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigprocmask(SIG_SETMASK, NULL, &after);
    report("signal mask set back", memcmp(&before, &after, 8) == 0, 0, 0);
}

static void timers(void) {
    struct itimerval ms5 = {{0, 5000}, {0, 5000}}, off = {{0, 0}, {0, 0}}, old;
    static const struct { int which, number; const char *name; } list[] = {
        {ITIMER_PROF, SIGPROF, "ITIMER_PROF"}, {ITIMER_VIRTUAL, SIGVTALRM, "ITIMER_VIRTUAL"}, {ITIMER_REAL, SIGALRM, "ITIMER_REAL"}};
    for (int i = 0; i < 3; i++) {
        getitimer(list[i].which, &old);
        int unused = old.it_value.tv_sec == 0 && old.it_value.tv_usec == 0;
        seen = 0;
        signal(list[i].number, count);
        setitimer(list[i].which, &ms5, NULL);
        /* The first two count the ticks that find the program running, of which a host may take most away. */
        for (int tries = 0; tries < 100 && seen == 0; tries++) compute(60);
        setitimer(list[i].which, &off, NULL);
        report(list[i].name, unused && seen > 0, seen, 0);
        signal(list[i].number, SIG_DFL);
    }
}

static volatile sig_atomic_t elsewhere;
static void where(int number) {
    (void)number;
    if (syscall(SYS_gettid) == getpid()) seen++;
    else elsewhere++;
}

/* process: signals to the process come to the thread that waits for them, not to one of MPI's. */
static void process(void) {
    struct itimerval often = {{0, 100}, {0, 100}}, off = {{0, 0}, {0, 0}};
    struct sigaction always = {.sa_handler = where, .sa_flags = SA_NODEFER | SA_RESTART};
    seen = 0;
    sigaction(SIGALRM, &always, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (seen < 5000 && elsewhere == 0) compute(1);
    setitimer(ITIMER_REAL, &off, NULL);
    report("signals to the process", elsewhere == 0, elsewhere, 0);
    signal(SIGALRM, SIG_DFL);
}

static atomic_bool idle;
static void *busy(void *unused) {
    (void)unused;
    while (!idle) compute(1);
    return NULL;
}

/* late: signals to the process come to main although it cannot run at once, and a thread that computes could. What keeps main is a child
 * process that has its memory; so does a CPU that others have. */
static void late(void) {
    enum { SIGNALS = 20 };
    struct timespec ms5 = {0, 5000000}, ms20 = {0, 20000000};
    pthread_t thread;
    signal(SIGALRM, where);
    pthread_create(&thread, NULL, busy, NULL);
    seen = elsewhere = 0;
    for (int i = 0; i < SIGNALS; i++) {
        pid_t child = vfork();
        if (child == 0) {
            kill(getppid(), SIGALRM);
            syscall(SYS_nanosleep, &ms20, NULL);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        nanosleep(&ms5, NULL);
    }
    idle = true;
    pthread_join(thread, NULL);
    report("signals to the process while main cannot run", seen > SIGNALS / 2, elsewhere, 0);
    signal(SIGALRM, SIG_DFL);
}

static sigjmp_buf back;
static void jump(int number) { (void)number; siglongjmp(back, 1); }

static void jumps(void) {
    signal(SIGALRM, jump);
    if (sigsetjmp(back, 1) == 0) {
        ualarm(20000, 0);
        pause();
    }
    signal(SIGALRM, SIG_DFL);
    MPI_Barrier(MPI_COMM_WORLD);
    report("siglongjmp out of a wait", 1, 0, 0);
}

static void *stay(void *asynchronous) {
    if (asynchronous != NULL) pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    while (asynchronous != NULL) sink += 1;
    for (;;) nanosleep(&(struct timespec){1, 0}, NULL);
}

static void tidied_up(void *n) { ++*(int *)n; }

/* tidy is cancelled before it begins, and ends at the first point where that is possible. */
static void *tidy(void *n) {
    pthread_cleanup_push(tidied_up, n);
    for (;;) pthread_testcancel();
    pthread_cleanup_pop(0);
    return NULL;
}

/* unaware has no point where it can be cancelled. */
static void *unaware(void *begun) {
    atomic_store((atomic_int *)begun, 1);
    compute(60);
    return begun;
}

static void cancelled(void) {
    enum { TIMES = 50 };
    pthread_t thread;
    int tidied = 0, finished = 0;
    for (int i = 0; i < TIMES; i++) {
        pthread_create(&thread, NULL, tidy, &tidied);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    report("pthread_cancel before a thread begins", tidied == TIMES, tidied, 0);
    for (int i = 0; i < 4; i++) {
        atomic_int begun = 0;
        void *value = NULL;
        pthread_create(&thread, NULL, unaware, &begun);
        while (!atomic_load(&begun)) sched_yield();
        pthread_cancel(thread);
        pthread_join(thread, &value);
        finished += value == &begun;
    }
    report("pthread_cancel of a thread that computes", finished == 4, finished, 0);
}

static void *shallow(void *unused) {
    (void)unused;
    compute(30);
    return NULL;
}

static void threads(void) {
    for (long how = 0; how < 2; how++) {
        pthread_t thread;
        void *value = NULL;
        pthread_create(&thread, NULL, stay, (void *)how);
        compute(10);
        int result = setgid(getgid()); /* the C library tells all threads by its own signal */
        report(how == 0 ? "setgid with threads" : "setgid with threads that compute", result == 0, result, errno);
        pthread_cancel(thread);
        pthread_join(thread, &value);
        report(how == 0 ? "pthread_cancel" : "pthread_cancel at any time", value == PTHREAD_CANCELED, 0, 0);
        compute(10);
    }
    enum { MANY = 8 };
    pthread_attr_t attributes;
    pthread_t thread[MANY];
    int begun = 0;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)); /* 16 KiB */
    while (begun < MANY && pthread_create(&thread[begun], &attributes, shallow, NULL) == 0) begun++;
    for (int i = 0; i < begun; i++) pthread_join(thread[i], NULL);
    report("small stacks", begun == MANY, begun, 0);
    cancelled();
}

static void children(void) {
    sigset_t mask;
    int status = 0;
    compute(10);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        compute(20);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        sigprocmask(SIG_SETMASK, NULL, &mask);
        _exit(sigismember(&mask, SIGRTMAX - 1) || sigismember(&mask, SIGALRM) ? 1 : 0);
    }
    waitpid(child, &status, 0);
    report("fork", status == 0, status, 0);
    status = system("grep -E '^(SigPnd|ShdPnd|SigBlk|SigIgn|SigCgt)' /proc/self/status | while read name value; do echo $name $value ok; done");
    report("signals of a program that is started", status == 0, status, 0);
    status = system("ls -l /proc/self/fd | grep -qE 'raw-|perf_event'");
    report("descriptors of a program that is started", status != 0, status, 0);
    status = system("env | grep -E '^(SLACKLINE_RECORD_|LD_PRELOAD=.*slackline)'");
    report("environment of a program that is started", status != 0, status, 0);
}

/* Somebody who puts own files at all numbers must find them as they were. */
static void descriptors(void) {
    char path[] = "/tmp/gentle-XXXXXX";
    int file = mkstemp(path), raised = 0, lost = 0;
    struct rlimit limit;
    unlink(path);
    getrlimit(RLIMIT_NOFILE, &limit);
    int most = limit.rlim_cur < 4096 ? (int)limit.rlim_cur : 4096;
    for (int fd = 512; fd < most; fd++) raised += dup2(file, fd) == fd;
    for (int i = 0; i < 40000; i++) MPI_Barrier(MPI_COMM_SELF); /* several files of the recorder become full */
    compute(20);
    struct stat own, there;
    fstat(file, &own);
    for (int fd = 512; fd < most; fd++) lost += fstat(fd, &there) != 0 || there.st_ino != own.st_ino;
    report("descriptors", raised == most - 512 && lost == 0 && own.st_size == 0, lost, (int)own.st_size);
    for (int fd = 512; fd < most; fd++) close(fd);
    close(file);
    compute(20);
}

/* A full queue of signals is found by the program, and by nobody else. */
static void queue(void) {
    sigset_t one, before;
    struct rlimit limit, low;
    getrlimit(RLIMIT_SIGPENDING, &limit);
    low = limit;
    low.rlim_cur = low.rlim_cur < 5000 ? low.rlim_cur : 5000;
    setrlimit(RLIMIT_SIGPENDING, &low);
    sigemptyset(&one);
    sigaddset(&one, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &one, &before);
    long sent = 0, got = 0;
    int error = 0;
    while ((error = pthread_sigqueue(pthread_self(), SIGRTMIN + 1, (union sigval){0})) == 0) sent++;
    compute(20);
    struct timespec none = {0, 0};
    while (sigtimedwait(&one, NULL, &none) > 0) got++;
    sigprocmask(SIG_SETMASK, &before, NULL);
    setrlimit(RLIMIT_SIGPENDING, &limit);
    report("queue of signals", error == EAGAIN && sent == got, got - sent, error);
}

static void *computes(void *none) { compute(100); return none; }

/* No queue at all, while threads compute: there is nothing that the program would get instead of a signal in it. */
static void no_queue(void) {
    struct rlimit limit, none;
    pthread_t other;
    pthread_create(&other, NULL, computes, NULL);
    compute(20);
    getrlimit(RLIMIT_SIGPENDING, &limit);
    none = limit;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_SIGPENDING, &none);
    compute(50);
    pthread_join(other, NULL);
    prlimit(0, RLIMIT_SIGPENDING, &limit, &none);
    report("no queue of signals", none.rlim_cur == 0, (long)none.rlim_cur, 0);
}

/* Code that no unwinder knows runs compute on a stack of its own, with a frame pointer that points to memory which cannot be read. */
#ifdef __x86_64__
void on_stack(void (*function)(void), void *stack, void *frame);
__asm__(".text\non_stack:\n push %rbp\n push %rbx\n mov %rsp, %rbx\n mov %rsi, %rsp\n mov %rdx, %rbp\n call *%rdi\n"
        " mov %rbx, %rsp\n pop %rbx\n pop %rbp\n ret\n");

static void on_own_stack(void) { compute(20); }

static void stacks(void) {
    enum { SIZE = 1 << 16 };
    char *stack = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int guarded = mprotect(stack + SIZE, SIZE, PROT_NONE);
    on_stack(on_own_stack, stack + SIZE, stack + SIZE + 4096);
    report("own stack", guarded == 0, guarded, errno);
}
#else
static void stacks(void) { report("own stack", 1, 0, 0); }
#endif

/* Code that the program makes where a library was, whose tables are gone. */
static void *closed; /* a library that is loaded when MPI_Init is called */
static uintptr_t code_of_closed;

static int find_code(struct dl_phdr_info *info, size_t size, void *name) {
    (void)size;
    if (info->dlpi_name == NULL || strstr(info->dlpi_name, name) == NULL) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) != 0)
            code_of_closed = (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) & ~(uintptr_t)4095;
    return 1;
}

static void libraries(void) {
    static const unsigned char count_down[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3}; /* of x86-64: dec %rdi; jnz; ret */
    const char *name = "libanl.so.1";
    dl_iterate_phdr(find_code, (void *)(uintptr_t)name);
    if (closed != NULL) dlclose(closed);
    void *code = MAP_FAILED;
    if (code_of_closed != 0)
        code = mmap((void *)code_of_closed, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
#ifdef __x86_64__
    if (code != MAP_FAILED) {
        memcpy(code, count_down, sizeof count_down);
        void (*run)(long) = (void (*)(long))(uintptr_t)code;
        for (double end = cpu() + 20; cpu() < end;) run(1000000);
    }
#endif
    report("code in the place of a library", 1, code == MAP_FAILED, (int)sizeof count_down);
    /* What the program has not called before is looked up by a recorder, which must not take the program's error. */
    dlopen("/no/library", RTLD_NOW);
    fdatasync(-1);
    report("dlerror", dlerror() != NULL, 0, 0);
}

int main(int argc, char **argv) {
    closed = dlopen("libanl.so.1", RTLD_NOW);
    MPI_Init(&argc, &argv);
    if (argc > 2 && strcmp(argv[1], "queue") == 0) { /* before anything has closed a descriptor of the recorder */
        compute(20);
        if (strcmp(argv[2], "none") == 0) no_queue();
        else queue();
        MPI_Finalize();
        return 0;
    }
    if (argc > 1) { /* many calls; with "limit" there is no room for large files */
        struct rlimit limit = {3 << 20, 3 << 20};
        if (strcmp(argv[1], "limit") == 0) setrlimit(RLIMIT_FSIZE, &limit);
        for (int i = 0; i < 100000; i++) MPI_Barrier(MPI_COMM_SELF);
        compute(20);
        MPI_Finalize();
        printf("done\n");
        return 0;
    }
    compute(20);
    signals();
    waits();
    wakes();
    timers();
    process();
    late();
    jumps();
    threads();
    children();
    descriptors();
    queue();
    no_queue();
    stacks();
    libraries();
    MPI_Finalize();
    return 0;
}
