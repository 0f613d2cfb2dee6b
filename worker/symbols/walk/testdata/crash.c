/* A crash below frames of all sizes: in a leaf, through a variadic function, one with a
   stack that it sizes itself, one that is large, a recursion, and the C library. */
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;
static pthread_barrier_t ready;

NOINLINE static int crash(int *p, int n) { return *p + n; }

NOINLINE static int variadic(int n, ...) {
  va_list list;
  va_start(list, n);
  int *p = va_arg(list, int *);
  int r = crash(p, n) + 1;
  va_end(list);
  sink = r;
  return r;
}

NOINLINE static int dynamic(int n) {
  char *b = __builtin_alloca(n);
  memset(b, n, n);
  sink = b[n / 2];
  int r = variadic(n, (int *)8) + b[0];
  sink = r;
  return r;
}

NOINLINE static int large(int n) {
  volatile char b[5000];
  b[n] = 1;
  int r = dynamic(n) + b[n];
  sink = r;
  return r;
}

NOINLINE static int deep(int n) {
  int r = n ? deep(n - 1) * 3 : large(100);
  sink = r;
  return r + n;
}

static int compare(const void *a, const void *b) {
  int r = deep(5) + *(const int *)a - *(const int *)b;
  sink = r;
  return r;
}

static void *worker(void *x) {
  pthread_barrier_wait(&ready);
  for (;;) pause();
  return x;
}

int main(void) {
  pthread_t t;
  pthread_barrier_init(&ready, 0, 2);
  pthread_create(&t, 0, worker, 0);
  pthread_barrier_wait(&ready);
  int v[4] = {4, 3, 2, 1};
  qsort(v, 4, sizeof *v, compare);
  sink = v[0];
  return 0;
}
