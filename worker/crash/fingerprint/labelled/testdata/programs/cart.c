/* A small program that fails in the way its argument names, and prints the stack as
 * backtrace() sees it: names of the dynamic symbol table, module and offset. */
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct item { int price, count; struct item *next; char name[16]; };

static void report(int signal, siginfo_t *info, void *context) {
	void *frames[64];
	(void)info;
	(void)context;
	dprintf(2, "signal %d\n", signal);
	backtrace_symbols_fd(frames, backtrace(frames, 64), 2);
	_exit(3);
}

/* Inlined into sum_list at -O2. */
int row_price(struct item *i) { return i->price * i->count; }

__attribute__((noinline)) int average(struct item *list, volatile int n) {
	int rows = n; /* the compiler cannot know that it is 0 */
	return list->price / rows;
}

__attribute__((noinline)) int read_price(struct item *list) {
	volatile int price = list->price;
	return price + 1;
}

/* Inlined into its callers at -O2: it stands between two functions. */
int first_price(struct item *list) {
	int price = read_price(list);
	return price + list->count;
}

__attribute__((noinline)) int sum_list(struct item *list) {
	volatile int total = first_price(list);
	return total + 1;
}

__attribute__((noinline)) int sum_rows(struct item *list) {
	volatile int total = row_price(list);
	return total + 1;
}

__attribute__((noinline)) void rename_item(struct item *i, const char *name, volatile int how) {
	if (how == 1)
		memmove(i->name, name, strlen(name) + (size_t)how);
	else
		i->count = (int)strlen(i->next->name);
	i->price++;
}

__attribute__((noinline)) int check(struct item *i) {
	if (i == NULL || i->count < 0)
		abort();
	return i->count;
}

__attribute__((noinline)) int checked(struct item *i) { return check(i) + 1; }

__attribute__((noinline)) int page_total(struct item *i) { return sum_list(i) + 1; }
__attribute__((noinline)) int cart_total(struct item *i) { return page_total(i) + 1; }
__attribute__((noinline)) int show_cart(struct item *i) { return cart_total(i) + 1; }
__attribute__((noinline)) int print_bill(struct item *i) { return cart_total(i) + 2; }

__attribute__((noinline)) int depth(struct item *i, volatile int n) {
	volatile char room[4096];
	room[0] = (char)n;
	return depth(i, n + 1) + room[0];
}

int main(int argc, char **argv) {
	static char other[1 << 16];
	stack_t alternate = {.ss_sp = other, .ss_size = sizeof other};
	struct sigaction action = {.sa_sigaction = report, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	int signals[] = {SIGSEGV, SIGFPE, SIGABRT, SIGBUS};
	const char *how = argc > 1 ? argv[1] : "";
	struct item one = {.price = 3, .count = 1};
	struct item *none = (struct item *)strtoul("16", NULL, 10);
	struct rlimit room = {8 << 20, 8 << 20}; /* an endless recursion ends soon */
	void *warm[1];

	backtrace(warm, 1); /* loads libgcc before it is needed */
	setrlimit(RLIMIT_STACK, &room);
	sigaltstack(&alternate, NULL);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &action, NULL);
	if (!strcmp(how, "show"))
		return show_cart(none);
	if (!strcmp(how, "bill"))
		return print_bill(none);
	if (!strcmp(how, "rows"))
		return sum_rows(none);
	if (!strcmp(how, "zero"))
		return average(&one, 0);
	if (!strcmp(how, "wild"))
		return average(none, 1);
	if (!strcmp(how, "copy"))
		rename_item(none, "pears", 1);
	if (!strcmp(how, "length"))
		rename_item(&one, "pears", 2);
	if (!strcmp(how, "check"))
		return checked(none - 1 == NULL ? &one : NULL);
	if (!strcmp(how, "depth"))
		return depth(&one, 0);
	return 0;
}
