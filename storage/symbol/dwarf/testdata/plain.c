#include <stdlib.h>
#include <string.h>

struct node {
  struct node *next;
  int value;
};

static inline int weigh(int v) {
  if (v < 0)
    return -v;
  return v * 3;
}

static inline struct node *push(struct node *list, int v) {
  struct node *n = malloc(sizeof *n);
  if (!n)
    abort();
  n->next = list;
  n->value = weigh(v);
  return n;
}

static int sum(const struct node *list) {
  int s = 0;
  for (; list; list = list->next)
    s += weigh(list->value);
  return s;
}

int plain(int *p, int n) {
  struct node *list = 0;
  for (int i = 0; i < n; i++)
    list = push(list, p[i]);
  int s = sum(list);
  while (list) {
    struct node *next = list->next;
    free(list);
    list = next;
  }
#ifdef MAIN
  char text[32];
  memset(text, s, sizeof text);
#endif
  return s;
}

#ifdef MAIN
int main(int argc, char **argv) { return plain(&argc, 1) + (argv == 0); }
#endif
