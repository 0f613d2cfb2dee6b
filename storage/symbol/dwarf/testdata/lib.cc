#include "lib.h"

namespace shapes {

int Shape::count = 0;

namespace {

inline uint32_t rounds(uint32_t h, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    h = mix(h, i);
    if (h % 7 == 0)
      h = mix(mix(h, 3), 5);
  }
  return h;
}

static inline int clampTo(int v, int low, int high) {
  auto limit = [low, high](int x) {
    if (x < low)
      return low;
    return x > high ? high : x;
  };
  return limit(v);
}

} // namespace

Square::Square(double s) : side(s) { ++count; }

double Square::area() const { return side * side; }

uint32_t digest(const std::string &text) {
  uint32_t h = 2166136261u;
  for (unsigned char c : text)
    h = mix(h, c);
  return rounds(h, static_cast<uint32_t>(text.size()));
}

__attribute__((noinline, cold)) static void complain(int n) {
  if (n > 3)
    throw std::string("too many");
}

int run(int argc, char **argv) {
  std::vector<std::unique_ptr<Shape>> all;
  std::vector<int> numbers;
  for (int i = 0; i < argc; i++) {
    all.push_back(std::make_unique<Square>(i + 0.5));
    all.push_back(std::make_unique<Circle>(i));
    numbers.push_back(clampTo(static_cast<int>(digest(argv[i])), -1000, 1000));
  }
  std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return Box<int>(a).twice() > Box<int>(b).twice(); });
  double sum = 0;
  for (const auto &s : all)
    sum += s->area();
  complain(argc);
  return static_cast<int>(sum) + numbers.front() + Shape::count;
}

} // namespace shapes
