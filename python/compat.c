// SPDX-License-Identifier: Apache-2.0
// compat.c  Functions of glibc that libraries linked here want and glibc 2.28 does not have: what
//           portable.py adds to the wheel's libraries. Hidden: other libraries keep their own.
#include <errno.h>
#include <pthread.h>
#include <time.h>

// On definitions alone: a declaration that is hidden is not looked for in glibc.
#define HIDDEN __attribute__((visibility("hidden")))

// The functions that <sys/stat.h> called before glibc 2.33; struct stat is opaque here.
struct stat;
extern int __xstat(int version, const char* path, struct stat* to);
extern int __lxstat(int version, const char* path, struct stat* to);
extern int __fxstat(int version, int file, struct stat* to);
extern int __fxstatat(int version, int folder, const char* path, struct stat* to, int flags);
HIDDEN int stat(const char* path, struct stat* to) { return __xstat(1, path, to); }
HIDDEN int stat64(const char* path, struct stat* to) { return __xstat(1, path, to); }
HIDDEN int lstat(const char* path, struct stat* to) { return __lxstat(1, path, to); }
HIDDEN int lstat64(const char* path, struct stat* to) { return __lxstat(1, path, to); }
HIDDEN int fstat(int file, struct stat* to) { return __fxstat(1, file, to); }
HIDDEN int fstat64(int file, struct stat* to) { return __fxstat(1, file, to); }
HIDDEN int fstatat(int folder, const char* path, struct stat* to, int flags) {
  return __fxstatat(1, folder, path, to, flags);
}
HIDDEN int fstatat64(int folder, const char* path, struct stat* to, int flags) {
  return __fxstatat(1, folder, path, to, flags);
}

// Since 2.32 libstdc++ counts references without atomics where this is true: never here.
HIDDEN char __libc_single_threaded = 0;

// What libc_nonshared.a had.
extern void* __dso_handle;
extern int __cxa_atexit(void (*f)(void*), void* argument, void* library);
extern int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void),
                             void* library);
HIDDEN int atexit(void (*f)(void)) { return __cxa_atexit((void (*)(void*))f, 0, &__dso_handle); }
HIDDEN int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void)) {
  return __register_atfork(before, parent, child, &__dso_handle);
}

// Since 2.30. The condition waits until the same moment of CLOCK_REALTIME; where that clock is set
// meanwhile, it returns early or late by as much, as the condition variables of C++ did before.
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  clockid_t clock, const struct timespec* until) {
  struct timespec now, at;
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &at) != 0) return EINVAL;
  at.tv_sec += until->tv_sec - now.tv_sec;
  at.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (at.tv_nsec < 0) at.tv_nsec += 1000000000, --at.tv_sec;
  if (at.tv_nsec >= 1000000000) at.tv_nsec -= 1000000000, ++at.tv_sec;
  return pthread_cond_timedwait(condition, mutex, &at);
}
