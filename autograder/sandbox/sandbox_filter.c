/* sandbox_filter.c - seccomp filter of system calls that no submission and no compiler needs.
 *
 * It is a deny list: a submission may be any C++, and a new C library must not break it.  It denies
 * calls that access other processes, create namespaces or mounts, open sockets, load code into the
 * kernel, or evade a resource limit.  A denied call returns an error number, so an honest program
 * can report it and continue. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "autograder/sandbox/sandbox_parts.h"

/* Names, so that it builds with a libseccomp that does not know the newest ones and skips them. */
static const char *const refused[] = {
    /* other processes */
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease",
    "kcmp", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "perf_event_open", "userfaultfd",
    /* keys, and programs for the kernel */
    "keyctl", "add_key", "request_key", "bpf", "init_module", "finit_module", "delete_module",
    "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "quotactl",
    "quotactl_fd", "syslog", "personality", "settimeofday", "clock_settime", "clock_adjtime",
    "adjtimex", "sethostname", "setdomainname", "iopl", "ioperm", "modify_ldt", "vhangup",
    "lookup_dcookie", "nfsservctl",
    /* namespaces and mounts */
    "unshare", "setns", "mount", "umount", "umount2", "pivot_root", "chroot", "open_tree",
    "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "name_to_handle_at",
    "open_by_handle_at", "fanotify_init", "fanotify_mark",
    /* sockets: the only channel is inherited */
    "socket", "socketpair", "bind", "listen", "connect", "accept", "accept4", "io_uring_setup",
    "io_uring_enter", "io_uring_register",
    /* memory that RLIMIT_AS does not count */
    "memfd_create", "memfd_secret", "shmget", "shmat", "shmctl", "msgget", "semget", "mq_open",
    "remap_file_pages", "mbind", "set_mempolicy", "migrate_pages", "move_pages",
    /* a larger share of the machine */
    "sched_setscheduler", "sched_setattr", "sched_setparam", "setpriority", "ioprio_set"};

static const char *const refused_signals[] = {"kill", "tgkill", "rt_sigqueueinfo",
                                              "rt_tgsigqueueinfo"};

/* Placeholder in the filter for the number of the process that loads it; no process has so large a
 * number. */
enum { OWN_PID = 0x7ca1ab1e };

static int refuse(scmp_filter_ctx filter, const char *name, int number)
{
    int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR) return 0;
    int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(number), call, 0);
    return rc == -EACCES || rc == -EDOM ? 0 : rc;
}

/* clone() with any namespace flag.  clone3's flags are in memory, which a filter cannot read, so
 * clone3 is reported as unknown and the C library falls back to clone(). */
static int refuse_processes(scmp_filter_ctx filter, int processes)
{
    static const unsigned long flags[] = {CLONE_NEWNS,  CLONE_NEWUSER, CLONE_NEWPID,   CLONE_NEWNET,
                                          CLONE_NEWIPC, CLONE_NEWUTS,  CLONE_NEWCGROUP};
    int rc = refuse(filter, "clone3", ENOSYS);
    if (processes == 1) {
        static const char *const calls[] = {"fork", "vfork", "clone"};
        for (size_t i = 0; i < 3 && !rc; i++)
            rc = refuse(filter, calls[i], EAGAIN);
        return rc;
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags && !rc; i++)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                              SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
    return rc;
}

/* Without a PID namespace a process can signal every process of the same user.  A program of one
 * process may signal itself, as abort() and raise() do; sandbox_filter_load replaces OWN_PID by its
 * number. */
static int refuse_signals(scmp_filter_ctx filter)
{
    int rc = 0;
    for (size_t i = 0; i < sizeof refused_signals / sizeof *refused_signals && !rc; i++)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM),
                              seccomp_syscall_resolve_name(refused_signals[i]), 1,
                              SCMP_A0(SCMP_CMP_NE, OWN_PID, 0));
    /* tkill names a thread, and nothing modern calls it. */
    return rc ? rc : refuse(filter, "tkill", EPERM);
}

/* Ends a process that creates a file.  openat2's flags are in memory, where a filter cannot read
 * them. */
static int refuse_files(scmp_filter_ctx filter)
{
    static const scmp_datum_t flags[] = {O_CREAT, O_TMPFILE & ~O_DIRECTORY};
    int rc = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(creat), 0);
    if (rc == -EDOM) rc = 0; /* arm64 has no creat and no open */
    for (size_t i = 0; i < 2 && !rc; i++) {
        rc = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(open), 1,
                              SCMP_A1(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
        if (!rc || rc == -EDOM)
            rc = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(openat), 1,
                                  SCMP_A2(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
    }
    return rc ? rc : refuse(filter, "openat2", ENOSYS);
}

static int rules_add(scmp_filter_ctx filter, const SandboxSpec *spec, int namespaces)
{
    int rc = refuse_processes(filter, spec->processes);
    for (size_t i = 0; i < sizeof refused / sizeof *refused && !rc; i++)
        rc = refuse(filter, refused[i], EPERM);
    if (spec->one_core && !rc) rc = refuse(filter, "sched_setaffinity", EPERM);
    /* Characters typed into the terminal that started the grader. */
    if (!rc)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                              SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffu, TIOCSTI));
    if (!rc && !namespaces && spec->processes == 1) rc = refuse_signals(filter);
    if (!rc && spec->no_files) rc = refuse_files(filter);
    return rc;
}

int sandbox_filter_open(const SandboxSpec *spec, int namespaces, Error *error)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter) return error_set(error, "sandbox: libseccomp cannot make a filter");
    int fd = -1, rc = rules_add(filter, spec, namespaces);
    if (!rc) {
        fd = memfd_create("filter", MFD_CLOEXEC);
        rc = fd < 0 ? -errno : seccomp_export_bpf(filter, fd);
    }
    seccomp_release(filter);
    if (!rc && lseek(fd, 0, SEEK_SET) == 0) return fd;
    if (fd >= 0) close(fd);
    return error_set(error, "sandbox: the system-call filter cannot be made: %s", strerror(-rc));
}

int sandbox_filter_load(int fd)
{
    struct sock_filter program[4096];
    ssize_t bytes = pread(fd, program, sizeof program, 0);
    if (bytes <= 0 || bytes == (ssize_t)sizeof program) return -1;
    for (size_t i = 0; i < (size_t)bytes / sizeof *program; i++)
        if (BPF_CLASS(program[i].code) == BPF_JMP && program[i].k == OWN_PID)
            program[i].k = (uint32_t)getpid();
    struct sock_fprog filter = {.len = (unsigned short)((size_t)bytes / sizeof *program),
                                .filter = program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}
