// The only place that exits.
#include <stdio.h>

int main(void) {
  (void)fputs("stepc\n", stderr);
  return 2;
}
