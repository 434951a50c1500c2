// The network: forward, loss, backward, and the data it learns from.
#include "spiral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const net_names[N_TENSORS] = {"in.w",     "in.b",  "hidden.w",
                                          "hidden.b", "out.w", "out.b"};
const uint64_t net_dims[N_TENSORS][2] = {{HIDDEN, IN}, {HIDDEN},       {HIDDEN, HIDDEN},
                                         {HIDDEN},     {ARMS, HIDDEN}, {ARMS}};

// y = W x + b for every point, through tanh where `bends`.
static void layer(struct net *n, int w, float (*x)[HIDDEN], float (*y)[HIDDEN],
                  int bends) {
  int rows = (int)net_dims[w][0], cols = (int)net_dims[w][1];
  for (int p = 0; p < POINTS; p++) {
    for (int r = 0; r < rows; r++) {
      float sum = n->value[w + 1][r];
      for (int c = 0; c < cols; c++) {
        sum += n->value[w][r * cols + c] * x[p][c];
      }
      y[p][r] = bends ? tanhf(sum) : sum;
    }
  }
}

// From dL/dy, which lies in `y`, the gradients of W and b; then dL/dx in `x`, where x = tanh(...) and `bends`.
static void layer_backward(struct net *n, int w, float (*x)[HIDDEN], float (*y)[HIDDEN],
                           int bends) {
  int rows = (int)net_dims[w][0], cols = (int)net_dims[w][1];
  for (int p = 0; p < POINTS; p++) {
    float dx[HIDDEN] = {0};
    for (int r = 0; r < rows; r++) {
      n->grad[w + 1][r] += y[p][r];
      for (int c = 0; c < cols; c++) {
        n->grad[w][r * cols + c] += y[p][r] * x[p][c];
        dx[c] += y[p][r] * n->value[w][r * cols + c];
      }
    }
    for (int c = 0; c < cols && bends; c++) {
      x[p][c] = dx[c] * (1 - x[p][c] * x[p][c]);
    }
  }
}

double net_loss_and_gradients(struct net *n) {
  double loss = 0;
  memset(n->grad, 0, sizeof n->grad);
  layer(n, W1, n->x, n->h1, 1);
  layer(n, W2, n->h1, n->h2, 1);
  layer(n, W3, n->h2, n->out, 0);
  for (int p = 0; p < POINTS; p++) {
    float *y = n->out[p], top = fmaxf(y[0], fmaxf(y[1], y[2])), sum = 0;
    for (int a = 0; a < ARMS; a++) {
      sum += y[a] = expf(y[a] - top);
    }
    loss -= log((double)(y[n->arm[p]] / sum)) / (double)POINTS;
    for (int a = 0; a < ARMS; a++) {
      y[a] = (y[a] / sum - (float)(a == n->arm[p])) / (float)POINTS;
    }
  }
  layer_backward(n, W3, n->h2, n->out, 1);
  layer_backward(n, W2, n->h1, n->h2, 1);
  layer_backward(n, W1, n->x, n->h1, 0);
  return loss;
}

// The arms of a spiral, and weights of a size that keeps activations at theirs.
void net_reset(struct net *n) {
  srand(1);
  for (int t = 0; t < N_TENSORS; t++) {
    for (int i = 0; i < HIDDEN * HIDDEN; i++) {
      float unit = (float)rand() / (float)RAND_MAX * 2 - 1;
      n->value[t][i] = t % 2 == 0 ? unit * sqrtf(3.0f / (float)net_dims[t][1]) : 0;
    }
  }
  for (int p = 0; p < POINTS; p++) {
    float radius = (float)(p / ARMS + 1) / (POINTS / ARMS);
    float angle = 5 * radius + 6.2832f * (float)(p % ARMS) / (float)ARMS;
    n->arm[p] = p % ARMS;
    n->x[p][0] = radius * sinf(angle);
    n->x[p][1] = radius * cosf(angle);
  }
}
