/* Makes every sync of a process fail while the file FAIL_SYNC_IF exists:
   gcc -shared -fPIC -o fail_sync.so fail_sync.c -ldl
   LD_PRELOAD=./fail_sync.so FAIL_SYNC_IF=/tmp/fail rosenblatt serve ... */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
static int fails(void) { return access(getenv("FAIL_SYNC_IF"), F_OK) == 0; }
int fsync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    if (fails()) { errno = EIO; return -1; }
    return real(fd);
}
int fdatasync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
    if (fails()) { errno = EIO; return -1; }
    return real(fd);
}
