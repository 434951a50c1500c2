// A network of three layers that learns to tell the arms of a spiral apart. Nothing here knows of stepc.
#ifndef EXAMPLES_SPIRAL_H
#define EXAMPLES_SPIRAL_H

#include <stdint.h>

enum { IN = 2, HIDDEN = 64, ARMS = 3, POINTS = 300 };
enum { W1, B1, W2, B2, W3, B3, N_TENSORS };

extern const char *const net_names[N_TENSORS];
extern const uint64_t net_dims[N_TENSORS][2];

// Every tensor has room for the largest.
struct net {
  float value[N_TENSORS][HIDDEN * HIDDEN], grad[N_TENSORS][HIDDEN * HIDDEN];
  float x[POINTS][HIDDEN], h1[POINTS][HIDDEN], h2[POINTS][HIDDEN],
      out[POINTS][HIDDEN]; // activations
  int arm[POINTS];
};

void net_reset(struct net *n); // the same points and weights each time
// Mean cross entropy over all points; leaves its gradients in n->grad.
double net_loss_and_gradients(struct net *n);

#endif
