#include "lib.h"
#include <cstdio>

extern "C" int plain(int *p, int n);

static int guarded(int argc, char **argv) {
  try {
    return shapes::run(argc, argv);
  } catch (const std::string &s) {
    std::puts(s.c_str());
    return 1;
  }
}

int main(int argc, char **argv) {
  int numbers[] = {argc, 2, 3};
  return guarded(argc, argv) + plain(numbers, 3) + static_cast<int>(shapes::Box<long>(argc).twice());
}
