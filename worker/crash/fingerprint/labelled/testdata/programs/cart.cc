// Fails in the way its argument names, under the address sanitizer, which prints
// demangled names with file and line, inlined functions included.
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace shop {

struct Item {
	int price = 1;
	char name[8] = {};
};

template <class T> class Pool {
public:
	explicit Pool(size_t n) : items(new T[n]), size(n) {}
	T &at(size_t i) { return items[i]; }
	void drop() { delete[] items; }

private:
	T *items;
	size_t size;
};

class Cart {
public:
	explicit Cart(size_t n) : pool(n) {}
	int price(size_t i) { return pool.at(i).price; }
	__attribute__((noinline)) int total(size_t i) { return price(i) + 1; }
	__attribute__((noinline)) int freed(size_t i) {
		pool.drop();
		return price(i) + 2;
	}
	__attribute__((noinline)) void rename(size_t i, const char *name) { strcpy(pool.at(i).name, name); }

private:
	Pool<Item> pool;
};

namespace {
__attribute__((noinline)) int show(Cart &cart) { return cart.total(7) + 1; }
__attribute__((noinline)) int bill(Cart &cart) {
	std::function<int()> later = [&cart] { return cart.total(9); };
	return later() + 1;
}
} // namespace

} // namespace shop

int main(int argc, char **argv) {
	std::string how = argc > 1 ? argv[1] : "";
	shop::Cart cart(4);
	if (how == "show")
		return shop::show(cart);
	if (how == "bill")
		return shop::bill(cart);
	if (how == "freed")
		return cart.freed(1);
	if (how == "rename")
		cart.rename(3, "a name that is much too long");
	return 0;
}
