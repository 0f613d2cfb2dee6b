// Compiles without any header, for systems whose headers are not installed.
static inline int weigh(int v) {
  if (v < 0)
    return -v;
  return v * 3;
}

static inline int twice(int v) { return weigh(v) + weigh(-v); }

static int __attribute__((noinline)) sum(const int *p, int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += twice(p[i]);
  return s;
}

int entry(const int *p, int n) {
  int best = sum(p, n);
  for (int i = 0; i < n; i++) {
    int v = weigh(p[i]);
    if (v > best)
      best = v + sum(p, i);
  }
  return best;
}
