extern "C" __attribute__((import_module("env"), import_name("fail"))) void fail(int);

namespace shop {
static inline __attribute__((always_inline)) int price(int *p, int i) {
  if (i > 3)
    fail(i);
  return p[i] * 2;
}

__attribute__((noinline)) int total(int *p, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    // inlined:
    sum += price(p, i);
  }
  return sum;
}

__attribute__((noinline)) static int crash(int *p) {
  if (p) __builtin_trap();
  return 1;
}
}  // namespace shop

int items[8];
extern "C" __attribute__((export_name("run"))) int run(int n) {
  if (n == 99) return shop::crash(items);
  return shop::total(items, n) + 1;
}
