// Fault injection: a shared object for LD_PRELOAD that counts the calls by which a program stores or
// sends data. At a chosen call it kills the process, simulates a power failure, or makes the call fail.
//
// A test controls it through a shared page (FAULTS_PAGE, a file of 64 bytes) while the program runs. The
// test starts a daemon, sends it a request, and injects a fault at the first, second, third... call that
// the request causes.
//
//   FAULTS_PAGE     the shared page; without it nothing is done
//   FAULTS_FOLDER   the folder whose file operations are counted (absolute, without links)
//   FAULTS_LOG      receives a line for each counted call: its number, its kind, and its object
//   FAULTS_KEEP     a folder on the same file system, for the files that a power failure restores
//
// Only the program's calls of the C library are intercepted (`nm -D` lists them), not calls within the
// library.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// The kinds of calls: bits of `kinds`. Keep the names and values equal to those in
// Tests/System/faults.py.
enum kind {
    CREATE = 1,     // opening a file for writing, or creating one
    WRITE = 2,      // bytes to a file
    TRUNCATE = 4,
    SYNC = 8,       // of a file or the folder
    RENAME = 16,
    UNLINK = 32,
    LOCK = 64,
    SEND = 128,     // bytes to another device, over TCP
    REPLY = 256,    // bytes to a program on this machine
};

enum how {
    NOTHING = 0,
    KILL = 1,       // SIGKILL before the call
    TEAR = 2,       // SIGKILL after half of the bytes were written, or before a call without bytes
    FAIL = 3,       // the call fails with `error`
    FAIL_ALL = 4,   // this call and all later ones fail
    POWER = 5,      // everything not synchronised is undone, then SIGKILL, before the call
    HOLD = 6,       // the call is made only after `target` has changed, as on a slow disk
};

struct page {
    _Atomic uint64_t count;     // the number of calls of these kinds so far
    _Atomic uint64_t target;    // the call at which to inject a fault; 0 for none
    _Atomic uint32_t kinds;
    _Atomic uint32_t how;
    _Atomic uint32_t error;
    _Atomic uint32_t struck;    // the number of injected faults
};

static struct page *page;
static const char *folder, *keep;
static size_t folder_length;
static int log_file = -1;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAULTS_PAGE"), *log_path = getenv("FAULTS_LOG");
    folder = getenv("FAULTS_FOLDER");
    keep = getenv("FAULTS_KEEP");
    if (!path || !folder) return;
    folder_length = strlen(folder);
    int file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (file < 0) return;
    void *map = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    if (map == MAP_FAILED) return;
    if (log_path) log_file = syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    page = map;
}

// ---- The object of a call --------------------------------------------------------------------------------------------

// Returns the path of an open file relative to the folder, "." for the folder itself, or NULL for files
// outside it.
static const char *inside(int file, char path[PATH_MAX]) {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length < 0) return NULL;
    path[length] = 0;
    if (strncmp(path, folder, folder_length) != 0) return NULL;
    if (path[folder_length] == 0) return ".";
    return path[folder_length] == '/' ? path + folder_length + 1 : NULL;
}

// Returns the same for a name in an open folder, or for an absolute path.
static const char *named(int at, const char *name, char path[PATH_MAX]) {
    if (name[0] == '/') {
        if (strncmp(name, folder, folder_length) != 0 || name[folder_length] != '/') return NULL;
        return name + folder_length + 1;
    }
    if (at == AT_FDCWD || !inside(at, path)) return NULL;
    return name;
}

// Returns SEND or REPLY for a stream socket, 0 for other descriptors.
static int stream(int file) {
    int type = 0, domain = 0, saved = errno;
    socklen_t length = sizeof type;
    int result = getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM
        && getsockopt(file, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0;
    errno = saved;
    return !result ? 0 : domain == AF_UNIX ? REPLY : SEND;
}

// ---- Data that is not on disk yet ------------------------------------------------------------------------------------
//
// Simulates the worst power failure: the content of files that were not synchronised is lost, and names
// are as they were when the folder was last synchronised. One thread stores data, and the power may fail
// at a call of another thread. An operation of the first must then be both recorded and done, or neither.

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
#define MAX_ENTRIES 32
static struct { char old[64], new[64]; int had; } moved[MAX_ENTRIES];     // empty `old`: the name was deleted, or is new
static int moved_count;
static char unsynced[MAX_ENTRIES][64];
static int unsynced_count;

static void full(char path[PATH_MAX], const char *in, const char *name) { snprintf(path, PATH_MAX, "%s/%s", in, name); }

static void written(const char *name) {
    for (int i = 0; i < unsynced_count; i++) if (strcmp(unsynced[i], name) == 0) return;
    if (unsynced_count < MAX_ENTRIES) snprintf(unsynced[unsynced_count++], 64, "%s", name);
}

static void forget(const char *name) {
    for (int i = 0; i < unsynced_count; i++)
        if (strcmp(unsynced[i], name) == 0) memmove(unsynced[i], unsynced[--unsynced_count], 64);
}

static void backup(char path[PATH_MAX], int index) { snprintf(path, PATH_MAX, "%s/%d.%d", keep, getpid(), index); }

// Called before a name is removed or replaced: a second name keeps the former file.
static void moving(const char *old, const char *new) {
    if (!keep || moved_count >= MAX_ENTRIES) return;
    char from[PATH_MAX], to[PATH_MAX];
    full(from, folder, new);
    backup(to, moved_count);
    syscall(SYS_unlinkat, AT_FDCWD, to, 0);
    moved[moved_count].had = syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0) == 0;
    snprintf(moved[moved_count].old, 64, "%s", old);
    snprintf(moved[moved_count].new, 64, "%s", new);
    moved_count++;
    for (int i = 0; i < unsynced_count; i++)
        if (*old && strcmp(unsynced[i], old) == 0) snprintf(unsynced[i], 64, "%s", new);
}

static void synchronised(const char *name) {
    if (strcmp(name, ".") != 0) return forget(name);
    char path[PATH_MAX];
    for (int i = 0; i < moved_count; i++) {
        backup(path, i);
        syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    }
    moved_count = 0;
}

// Keeps the lock, so that no further data reaches the disk.
static void lose(void) {
    char path[PATH_MAX], other[PATH_MAX];
    pthread_mutex_lock(&disk);
    for (int i = 0; i < unsynced_count; i++) {
        full(path, folder, unsynced[i]);
        truncate(path, 0);
    }
    while (moved_count > 0) {
        int i = --moved_count;
        full(path, folder, moved[i].new);
        if (moved[i].old[0]) {
            full(other, folder, moved[i].old);
            syscall(SYS_renameat, AT_FDCWD, path, AT_FDCWD, other);
        } else if (!moved[i].had) {
            syscall(SYS_unlinkat, AT_FDCWD, path, 0);
        }
        backup(other, i);
        if (moved[i].had) syscall(SYS_renameat, AT_FDCWD, other, AT_FDCWD, path);
    }
}

// ---- Fault injection -------------------------------------------------------------------------------------------------

static void die(void) {
    for (;;) syscall(SYS_kill, getpid(), SIGKILL);
}

// Counts a call, and injects the fault if this is the target. Returns 0 to continue, 1 to fail (errno is
// set), 2 to write half of the bytes.
static int counted(enum kind kind, const char *word, const char *what) {
    if (!page || !(page->kinds & kind)) return 0;
    int saved = errno;
    uint64_t number = atomic_fetch_add(&page->count, 1) + 1;
    if (log_file >= 0) {
        char line[PATH_MAX + 40];
        int length = snprintf(line, sizeof line, "%llu %s %s\n", (unsigned long long)number, word, what);
        if (length > 0) syscall(SYS_write, log_file, line, length);
    }
    errno = saved;
    uint64_t target = page->target;
    uint32_t how = page->how;
    if (target == 0 || !(number == target || (how == FAIL_ALL && number > target))) return 0;
    if (how == NOTHING) return 0;
    atomic_fetch_add(&page->struck, 1);
    if (how == KILL) die();
    if (how == POWER) { lose(); die(); }
    if (how == HOLD) {
        while (page->target == target) syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 1000000}, NULL);
        errno = saved;
        return 0;
    }
    if (how == TEAR) { if (kind & (WRITE | SEND | REPLY)) return 2; die(); }
    errno = (int)page->error;
    return 1;
}

// ---- The calls -------------------------------------------------------------------------------------------------------

static int do_open(int at, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    const char *what;
    if (page && flags & O_CREAT && (what = named(at, name, path)) && counted(CREATE, "create", what)) return -1;
    return syscall(SYS_openat, at, name, flags, mode);
}

#define MODE(flags) ({ mode_t m = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list list; va_start(list, flags); m = va_arg(list, mode_t); va_end(list); } m; })

int open(const char *name, int flags, ...) { return do_open(AT_FDCWD, name, flags, MODE(flags)); }
int open64(const char *name, int flags, ...) { return do_open(AT_FDCWD, name, flags, MODE(flags)); }
int openat(int at, const char *name, int flags, ...) { return do_open(at, name, flags, MODE(flags)); }
int openat64(int at, const char *name, int flags, ...) { return do_open(at, name, flags, MODE(flags)); }

// Returns the verdict for a write, as `counted` does.
static int judge_write(int file, size_t count) {
    char path[PATH_MAX], words[32];
    const char *what;
    if (!page) return 0;
    if ((what = inside(file, path))) {
        int verdict = counted(WRITE, "write", what);
        if (verdict == 1) return 1;
        pthread_mutex_lock(&disk);
        written(what);
        pthread_mutex_unlock(&disk);
        return verdict;
    }
    int kind = stream(file);
    if (!kind) return 0;
    snprintf(words, sizeof words, "%zu", count);
    return counted(kind, kind == SEND ? "send" : "reply", words);
}

ssize_t write(int file, const void *bytes, size_t count) {
    int verdict = judge_write(file, count);
    if (verdict == 1) return -1;
    if (verdict == 2) { syscall(SYS_write, file, bytes, count / 2); die(); }
    return syscall(SYS_write, file, bytes, count);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    int verdict = judge_write(file, count);
    if (verdict == 1) return -1;
    if (verdict == 2) { syscall(SYS_pwrite64, file, bytes, count / 2, offset); die(); }
    return syscall(SYS_pwrite64, file, bytes, count, offset);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off_t offset) { return pwrite(file, bytes, count, offset); }

ssize_t writev(int file, const struct iovec *parts, int count) {
    int verdict = judge_write(file, count > 0 ? parts[0].iov_len : 0);
    if (verdict == 1) return -1;
    if (verdict == 2) { syscall(SYS_write, file, parts[0].iov_base, parts[0].iov_len / 2); die(); }
    return syscall(SYS_writev, file, parts, count);
}

ssize_t sendto(int file, const void *bytes, size_t count, int flags, const struct sockaddr *to, socklen_t length) {
    int verdict = judge_write(file, count);
    if (verdict == 1) return -1;
    if (verdict == 2) { syscall(SYS_sendto, file, bytes, count / 2, flags, to, length); die(); }
    return syscall(SYS_sendto, file, bytes, count, flags, to, length);
}
ssize_t send(int file, const void *bytes, size_t count, int flags) { return sendto(file, bytes, count, flags, NULL, 0); }

ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
    int verdict = judge_write(file, message->msg_iovlen > 0 ? message->msg_iov[0].iov_len : 0);
    if (verdict == 1) return -1;
    if (verdict == 2) die();
    return syscall(SYS_sendmsg, file, message, flags);
}

int ftruncate(int file, off_t length) {
    char path[PATH_MAX];
    const char *what = page ? inside(file, path) : NULL;
    if (what && counted(TRUNCATE, "truncate", what)) return -1;
    return syscall(SYS_ftruncate, file, length);
}
int ftruncate64(int file, off_t length) { return ftruncate(file, length); }

static int synchronise(int file, long call) {
    char path[PATH_MAX];
    const char *what = page ? inside(file, path) : NULL;
    if (what && counted(SYNC, "sync", what)) return -1;
    if (!what) return syscall(call, file);
    pthread_mutex_lock(&disk);
    int result = syscall(call, file);
    if (result == 0) synchronised(what);
    pthread_mutex_unlock(&disk);
    return result;
}
int fsync(int file) { return synchronise(file, SYS_fsync); }
int fdatasync(int file) { return synchronise(file, SYS_fdatasync); }

int mkdirat(int at, const char *name, mode_t mode) {
    char path[PATH_MAX];
    const char *what = page ? named(at, name, path) : NULL;
    if (what && counted(CREATE, "make", what)) return -1;
    return syscall(SYS_mkdirat, at, name, mode);
}

int syncfs(int file) {
    char path[PATH_MAX];
    const char *what = page ? inside(file, path) : NULL;
    if (what && counted(SYNC, "sync all of", what)) return -1;
    return syscall(SYS_syncfs, file);
}

static int do_rename(int at, const char *old, int to, const char *new, unsigned flags) {
    char path[PATH_MAX], other[PATH_MAX], words[2 * NAME_MAX + 2];
    const char *from = page ? named(at, old, path) : NULL, *target = page ? named(to, new, other) : NULL;
    if (!from || !target) return syscall(SYS_renameat2, at, old, to, new, flags);
    snprintf(words, sizeof words, "%s %s", from, target);
    if (counted(RENAME, "rename", words)) return -1;
    pthread_mutex_lock(&disk);
    moving(from, target);
    int result = syscall(SYS_renameat2, at, old, to, new, flags);
    pthread_mutex_unlock(&disk);
    return result;
}
int rename(const char *old, const char *new) { return do_rename(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat(int at, const char *old, int to, const char *new) { return do_rename(at, old, to, new, 0); }
int renameat2(int at, const char *old, int to, const char *new, unsigned flags) {
    return do_rename(at, old, to, new, flags);
}

// Gives an unnamed file a name. Further names of named files are not tracked.
int linkat(int at, const char *old, int to, const char *new, int flags) {
    char path[PATH_MAX];
    const char *target = page ? named(to, new, path) : NULL;
    if (!target) return syscall(SYS_linkat, at, old, to, new, flags);
    if (counted(RENAME, "link", target)) return -1;
    pthread_mutex_lock(&disk);
    int before = moved_count;
    moving("", target);
    int result = syscall(SYS_linkat, at, old, to, new, flags);
    if (result != 0) moved_count = before;
    pthread_mutex_unlock(&disk);
    return result;
}

int unlinkat(int at, const char *name, int flags) {
    char path[PATH_MAX];
    const char *what = page ? named(at, name, path) : NULL;
    if (!what) return syscall(SYS_unlinkat, at, name, flags);
    char there[PATH_MAX];
    full(there, folder, what);
    // A name that does not exist cannot be removed: usually the new name of a file, before it is written.
    int is_there = syscall(SYS_faccessat, AT_FDCWD, there, F_OK) == 0;
    if (is_there && counted(UNLINK, "unlink", what)) return -1;
    pthread_mutex_lock(&disk);
    if (is_there) moving("", what);
    forget(what);
    int result = syscall(SYS_unlinkat, at, name, flags);
    pthread_mutex_unlock(&disk);
    return result;
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }

int flock(int file, int operation) {
    char path[PATH_MAX];
    const char *what = page ? inside(file, path) : NULL;
    if (what && counted(LOCK, "lock", what)) return -1;
    return syscall(SYS_flock, file, operation);
}
