#pragma once
#include <cstdint>
#include <vector>
#include <string>
#include <algorithm>
#include <memory>

namespace shapes {

// Mix is inlined wherever it is called.
inline __attribute__((always_inline)) uint32_t mix(uint32_t h, uint32_t v) {
  h ^= v;
  h *= 16777619u;
  return h;
}

template <typename T> struct Box {
  T value;
  explicit Box(T v) : value(v) {}
  T twice() const {
    if (value > T(100))
      return value;
    return static_cast<T>(value + value);
  }
};

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
  static int count;
};

struct Square final : Shape {
  double side;
  explicit Square(double s);
  double area() const override;
};

struct Circle final : Shape {
  double radius;
  explicit Circle(double r) : radius(r) { ++count; }
  double area() const override { return 3.14159 * radius * radius; }
};

uint32_t digest(const std::string &text);
int run(int argc, char **argv);

} // namespace shapes
