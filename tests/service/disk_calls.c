/* Records the calls of a process that change files in a folder, and lets one of them fail or tear.

gcc -shared -fPIC -o calls.so disk_calls.c -ldl; LD_PRELOAD=calls.so; then calls_begin(...). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[4096] = "?";
static int record = -1, count = 0, fail_at = 0, tears = 0;

void calls_begin(const char *where, int descriptor, int at, int torn) {
    snprintf(folder, sizeof folder, "%s", where);
    record = descriptor, count = 0, fail_at = at, tears = torn;
}

int calls_count(void) { return count; }

static int concerns(const char *path) {
    return record >= 0 && !strncmp(path, folder, strlen(folder)) && !strstr(path, "-shm");
}

static int find(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, 4095);
    path[size < 0 ? 0 : size] = 0;
    return size > 0 && concerns(path);
}

static void note(const char *what, const char *path, const char *other, long at, long size,
                 const void *data) {
    char line[9000];
    int length = snprintf(line, sizeof line, "%s\t%s\t%s\t%ld\t%ld\n", what, path, other, at,
                          data ? size : 0L);
    syscall(SYS_write, record, line, length);
    if (data) syscall(SYS_write, record, data, size);
}

static int fails(void) {
    if (++count != fail_at) return 0;
    errno = EIO;
    return 1;
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)

static ssize_t put(int file, const char *path, const void *data, size_t size, long at, int moves) {
    size_t some = size;
    if (fails()) {
        if (!tears) return -1;
        some = size / 2;
        errno = ENOSPC;
        if (!some) return -1;
    }
    ssize_t done = moves ? syscall(SYS_write, file, data, some)
                         : syscall(SYS_pwrite64, file, data, some, at);
    if (done > 0) note("write", path, "", at, done, data);
    if (some < size) fail_at = count + 1; /* the rest fails, too */
    return done;
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
    char path[4096];
    if (!find(file, path)) return syscall(SYS_pwrite64, file, data, size, at);
    return put(file, path, data, size, at, 0);
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
    return pwrite(file, data, size, at);
}
ssize_t write(int file, const void *data, size_t size) {
    char path[4096];
    if (record < 0 || !find(file, path)) return syscall(SYS_write, file, data, size);
    return put(file, path, data, size, lseek(file, 0, SEEK_CUR), 1);
}

#define ON_FILE(name, what, type, arguments, real_call, size)                  \
    type name arguments {                                                      \
        char path[4096];                                                       \
        REAL(name);                                                            \
        int ours = find(file, path);                                           \
        if (ours && fails()) return -1;                                        \
        type done = real_call;                                                 \
        if (ours && !done) note(what, path, "", size, 0, NULL);                \
        return done;                                                           \
    }
ON_FILE(fsync, "sync", int, (int file), real(file), 0)
ON_FILE(fdatasync, "sync", int, (int file), real(file), 0)
ON_FILE(ftruncate, "cut", int, (int file, off_t size), real(file, size), size)
ON_FILE(ftruncate64, "cut", int, (int file, off64_t size), real(file, size), size)

#define ON_PATH(name, what, arguments, real_call, path, other)                 \
    int name arguments {                                                       \
        REAL(name);                                                            \
        int ours = concerns(path);                                             \
        if (ours && fails()) return -1;                                        \
        int done = real_call;                                                  \
        if (ours && !done) note(what, path, other, 0, 0, NULL);                \
        return done;                                                           \
    }
ON_PATH(rename, "rename", (const char *a, const char *b), real(a, b), a, b)
ON_PATH(link, "link", (const char *a, const char *b), real(a, b), a, b)
ON_PATH(linkat, "link", (int x, const char *a, int y, const char *b, int f), real(x, a, y, b, f), a, b)
ON_PATH(unlink, "unlink", (const char *a), real(a), a, "")
ON_PATH(unlinkat, "unlink", (int x, const char *a, int f), real(x, a, f), a, "")

static int open_file(int place, const char *path, int flags, int mode) {
    int creates = (flags & O_CREAT) && concerns(path) && access(path, F_OK);
    int cuts = (flags & O_TRUNC) && concerns(path);
    if ((creates || cuts) && fails()) return -1;
    int file = syscall(SYS_openat, place, path, flags, mode);
    if (file >= 0 && creates) note("create", path, "", 0, 0, NULL);
    else if (file >= 0 && cuts) note("cut", path, "", 0, 0, NULL);
    return file;
}

#define OPEN(name, arguments, place)                                           \
    int name arguments {                                                       \
        va_list more;                                                          \
        va_start(more, flags);                                                 \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;      \
        va_end(more);                                                          \
        return open_file(place, path, flags, mode);                            \
    }
OPEN(open, (const char *path, int flags, ...), AT_FDCWD)
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD)
OPEN(openat, (int place, const char *path, int flags, ...), place)
OPEN(openat64, (int place, const char *path, int flags, ...), place)
