/* Records what Linux says about two CPUs while a server, its driver and a hog of known duty run there: see README.md.
   Build: gcc -O2 -Wall -Wextra -static -o recorder recorder.c     Run: recorder KERNEL_CONFIG > series.jsonl (also as /init of a VM) */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <err.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SUT_CPU = 0, DRIVER_CPU = 1, CONNECTIONS = 10, MESSAGE_BYTES = 128, BURN_ROUNDS = 6000, TASKS = 8 };
static const int64_t MS = 1000000, HOG_PERIOD_NS = 20 * 1000000, WINDOW_NS = 4000000000, SETTLE_NS = 300000000, PROBE_NS = 300000000;

enum load { IDLE, HALF, SATURATED };
static const char *const LOADS[] = {"idle", "half", "saturated"};

struct shared {
    _Atomic int load;
    _Atomic int hog_percent;
    _Atomic uint64_t answers;
};
static struct shared *shared;

/* Every task whose CPU time is told: the roles, and the kernel's ksoftirqd threads. */
static struct task {
    char name[32];
    pid_t pid;
} tasks[TASKS];
static int task_count;

static int64_t now_ns(clockid_t clock) {
    struct timespec t;
    if (clock_gettime(clock, &t)) err(1, "clock_gettime");
    return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static void sleep_ns(int64_t ns) {
    struct timespec t = {ns / (1000 * MS), ns % (1000 * MS)};
    nanosleep(&t, NULL);
}

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set)) err(1, "CPU %d", cpu);
}

static void add_task(const char *name, pid_t pid) {
    snprintf(tasks[task_count].name, sizeof tasks[0].name, "%s", name);
    tasks[task_count++].pid = pid;
}

static void read_all(int fd, char *bytes, size_t count) {
    for (size_t done = 0; done < count;) {
        ssize_t got = recv(fd, bytes + done, count - done, 0);
        if (got <= 0) _exit(0);
        done += got;
    }
}

static void write_all(int fd, const char *bytes, size_t count) {
    if (send(fd, bytes, count, 0) != (ssize_t)count) err(1, "send");
}

static void burn(int rounds) {
    volatile uint32_t x = 1;
    for (int i = 0; i < rounds; i++) x = x * 1664525 + 1013904223;
}

static void serve(int listener) {
    struct pollfd peers[CONNECTIONS];
    char message[MESSAGE_BYTES];
    int on = 1;
    for (int i = 0; i < CONNECTIONS; i++) {
        peers[i] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
        setsockopt(peers[i].fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    for (;;) {
        poll(peers, CONNECTIONS, -1);
        for (int i = 0; i < CONNECTIONS; i++) {
            if (!peers[i].revents) continue;
            read_all(peers[i].fd, message, sizeof message);
            burn(BURN_ROUNDS);
            write_all(peers[i].fd, message, sizeof message);
        }
    }
}

/* Closed loop: SATURATED asks again as soon as an answer is there, HALF sleeps after each round for as long as the round took. */
static void drive(struct sockaddr_in address) {
    struct pollfd peers[CONNECTIONS];
    char message[MESSAGE_BYTES] = {0};
    int on = 1;
    for (int i = 0; i < CONNECTIONS; i++) {
        peers[i] = (struct pollfd){.fd = socket(AF_INET, SOCK_STREAM, 0), .events = POLLIN};
        if (connect(peers[i].fd, (struct sockaddr *)&address, sizeof address)) err(1, "connect");
        setsockopt(peers[i].fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    for (;;) {
        enum load load = shared->load;
        if (load == IDLE) {
            sleep_ns(20 * MS);
            continue;
        }
        int64_t begun = now_ns(CLOCK_MONOTONIC);
        for (int i = 0; i < CONNECTIONS; i++) write_all(peers[i].fd, message, sizeof message);
        for (int outstanding = CONNECTIONS; outstanding;) {
            poll(peers, CONNECTIONS, -1);
            for (int i = 0; i < CONNECTIONS; i++) {
                if (!peers[i].revents) continue;
                read_all(peers[i].fd, message, sizeof message);
                shared->answers++;
                if (load == SATURATED && shared->load == SATURATED)
                    write_all(peers[i].fd, message, sizeof message);
                else
                    outstanding--;
            }
        }
        if (load == HALF) sleep_ns(now_ns(CLOCK_MONOTONIC) - begun);
    }
}

/* Spins for its share of every period, by its own CPU clock, and sleeps for the rest. */
static void hog(void) {
    int64_t due_ns = now_ns(CLOCK_MONOTONIC);
    for (;;) {
        int64_t enough_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) + HOG_PERIOD_NS * shared->hog_percent / 100;
        while (shared->hog_percent && now_ns(CLOCK_PROCESS_CPUTIME_ID) < enough_ns) burn(100);
        int64_t late_ns = now_ns(CLOCK_MONOTONIC) - (due_ns += HOG_PERIOD_NS);
        if (late_ns < 0)
            sleep_ns(-late_ns);
        else
            due_ns += late_ns;
    }
}

static pid_t start(const char *name, int cpu) {
    pid_t pid = fork();
    if (pid < 0) err(1, "fork");
    if (pid) {
        add_task(name, pid);
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(cpu);
    return 0;
}

static size_t slurp(const char *path, char *text, size_t room) {
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(text, 1, room - 1, file) : 0;
    if (file) fclose(file);
    text[size] = 0;
    return size;
}

static void print_text(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", stdout);
        else if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else
            putchar(*text);
    }
    putchar('"');
}

static void find_ksoftirqds(void) {
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; (entry = readdir(proc));) {
        char path[300], name[32];
        snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
        if (!atoi(entry->d_name) || !slurp(path, name, sizeof name) || strncmp(name, "ksoftirqd/", 10)) continue;
        name[strcspn(name, "\n")] = 0;
        if (atoi(name + 10) <= DRIVER_CPU) add_task(name, atoi(entry->d_name));
    }
    closedir(proc);
}

/* One reading: everything is read first, between two looks at the clock, then written. */
static void snapshot(const char *kind, int number, const char *edge) {
    char stat[65536], cpus[8192] = "", cpuacct[256], schedstats[TASKS][128];
    int64_t clocks_ns[TASKS];
    int64_t from_ns = now_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < task_count; i++) {
        clockid_t clock;
        clocks_ns[i] = clock_getcpuclockid(tasks[i].pid, &clock) ? -1 : now_ns(clock);
    }
    slurp("/proc/stat", stat, sizeof stat);
    slurp("/sys/fs/cgroup/cpuacct/cpuacct.usage_percpu", cpuacct, sizeof cpuacct);
    for (int i = 0; i < task_count; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/schedstat", tasks[i].pid);
        slurp(path, schedstats[i], sizeof schedstats[i]);
    }
    int64_t to_ns = now_ns(CLOCK_MONOTONIC);

    for (char *line = stat, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        if (!strncmp(line, "cpu", 3) && line[3] != ' ') strncat(cpus, line, next - line);
    }
    printf("{\"kind\":\"%s\",\"window\":%d,\"load\":\"%s\",\"hog_percent\":%d,\"edge\":\"%s\",\"monotonic_ns\":[%ld,%ld],\"answers\":%lu,\"stat\":",
           kind, number, LOADS[shared->load], shared->hog_percent, edge, from_ns, to_ns, shared->answers);
    print_text(cpus);
    if (*cpuacct) {
        printf(",\"cpuacct\":");
        print_text(cpuacct);
    }
    printf(",\"cpu_clock_ns\":{");
    for (int i = 0; i < task_count; i++) printf("%s\"%s\":%ld", i ? "," : "", tasks[i].name, clocks_ns[i]);
    printf("},\"schedstat\":{");
    for (int i = 0; i < task_count; i++) {
        printf("%s\"%s\":", i ? "," : "", tasks[i].name);
        print_text(schedstats[i]);
    }
    printf("}}\n");
    fflush(stdout);
}

static void window(enum load load, int hog_percent) {
    static int number;
    shared->load = load;
    shared->hog_percent = hog_percent;
    sleep_ns(SETTLE_NS);
    snapshot("window", ++number, "begin");
    sleep_ns(WINDOW_NS);
    snapshot("window", number, "end");
}

/* A process on the SUT's CPU that does nothing but send datagrams to itself, so that much of its work is softirq. */
static void probe(int hog_percent) {
    static int number;
    number++;
    shared->load = IDLE;
    shared->hog_percent = hog_percent;
    sleep_ns(SETTLE_NS);
    pid_t child = start("probe", SUT_CPU);
    if (!child) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof address;
        int fd = socket(AF_INET, SOCK_DGRAM, 0);
        char message[MESSAGE_BYTES] = {0};
        if (bind(fd, (struct sockaddr *)&address, size) || getsockname(fd, (struct sockaddr *)&address, &size) ||
            connect(fd, (struct sockaddr *)&address, size))
            err(1, "UDP");
        add_task("probe", getpid());
        sleep_ns(20 * MS);
        snapshot("probe", number, "begin");
        for (int64_t end_ns = now_ns(CLOCK_MONOTONIC) + PROBE_NS; now_ns(CLOCK_MONOTONIC) < end_ns;) {
            write_all(fd, message, sizeof message);
            read_all(fd, message, sizeof message);
        }
        snapshot("probe", number, "end");
        _exit(0);
    }
    if (waitpid(child, NULL, 0) < 0) err(1, "waitpid");
    task_count--;
}

static void facts(const char *config_path) {
    static const char *const OPTIONS[] = {"IRQ_TIME_ACCOUNTING", "TICK_CPU_ACCOUNTING", "VIRT_CPU_ACCOUNTING_GEN", "PARAVIRT_TIME_ACCOUNTING",
                                          "NO_HZ_IDLE", "NO_HZ_FULL", "HZ", "SCHEDSTATS", "SCHED_INFO", "PSI", "KVM_GUEST"};
    static const char *const PARAMETERS[] = {"tsc=", "nohz", "clocksource=", "psi="};
    static char config[1 << 20];
    char text[4096];
    struct utsname kernel;
    uname(&kernel);
    printf("{\"kind\":\"facts\",\"release\":\"%s\",\"version\":\"%s\",\"cpus\":%ld,\"user_hz\":%ld,\"cmdline\":", kernel.release,
           kernel.version, sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_CLK_TCK));
    slurp("/proc/cmdline", text, sizeof text);
    putchar('"');
    for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n"))
        for (size_t i = 0; i < sizeof PARAMETERS / sizeof *PARAMETERS; i++)
            if (!strncmp(word, PARAMETERS[i], strlen(PARAMETERS[i]))) printf("%s ", word);
    printf("\",\"clocksource\":");
    slurp("/sys/devices/system/clocksource/clocksource0/current_clocksource", text, sizeof text);
    text[strcspn(text, "\n")] = 0;
    print_text(text);
    printf(",\"proc_schedstat\":%s,\"pressure_irq\":", access("/proc/schedstat", F_OK) ? "false" : "true");
    slurp("/proc/pressure/irq", text, sizeof text);
    print_text(text);
    printf(",\"config\":\"");
    if (!slurp(config_path, config, sizeof config)) errx(1, "no kernel configuration in %s", config_path);
    for (char *line = strtok(config, "\n"); line; line = strtok(NULL, "\n")) {
        char *name = strstr(line, "CONFIG_");
        for (size_t i = 0; name && i < sizeof OPTIONS / sizeof *OPTIONS; i++) {
            size_t length = strlen(OPTIONS[i]);
            if (!strncmp(name + 7, OPTIONS[i], length) && strchr("= ", name[7 + length])) printf("%s\\n", line);
        }
    }
    printf("\"}\n");
    fflush(stdout);
}

static void boot(void) {
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    mkdir("/proc", 0755), mkdir("/sys", 0755);
    if (mount("proc", "/proc", "proc", 0, NULL) || mount("sysfs", "/sys", "sysfs", 0, NULL)) err(1, "mount");
    if (ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCSIFFLAGS, &loopback)) err(1, "lo");
    sleep(5); /* the kernel's own boot ends */
}

int main(int argc, char **argv) {
    static const int HOG_PERCENTS[] = {0, 5, 10, 25, 50};
    if (getpid() == 1) boot();
    facts(getpid() == 1 ? "/config" : argc > 1 ? argv[1] : "/config");
    pin(DRIVER_CPU);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, CONNECTIONS) ||
        getsockname(listener, (struct sockaddr *)&address, &size))
        err(1, "TCP");

    add_task("recorder", getpid());
    find_ksoftirqds();
    if (!start("sut", SUT_CPU)) serve(listener);
    if (!start("driver", DRIVER_CPU)) drive(address);
    if (!start("hog", SUT_CPU)) hog();

    for (int i = 0; i < 5; i++) probe(0);
    for (int i = 0; i < 5; i++) probe(25);
    for (int i = 0; i < 5; i++) window(IDLE, HOG_PERCENTS[i]);
    for (int round = 0; round < 3; round++)
        for (enum load load = HALF; load <= SATURATED; load++)
            for (int i = 0; i < 5; i++) window(load, HOG_PERCENTS[i]);
    if (getpid() == 1) reboot(RB_AUTOBOOT);
}
