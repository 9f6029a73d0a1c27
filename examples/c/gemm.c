// SPDX-License-Identifier: Apache-2.0
// gemm.c  A GEMM of bfloat16 on tensors in host memory, which the emulator computes, and a refusal.
//
//   gcc -std=c99 gemm.c $(pkg-config --cflags --libs tilewright-c) -o gemm
//
// It prints:
//   d is 100 x 70 of float32; d[99][69] = 48
//   TW0616: inner dimensions of a b: got a 100x48, b 47x70
#include <stdio.h>
#include <string.h>

#include <tilewright.h>

enum { M = 100, N = 70, K = 48 };
static uint16_t a[M * K], b[K * N];
static float d[M * N];

// A matrix in C order.
static DLTensor matrix(void *data, int64_t shape[2], uint8_t code, uint8_t bits) {
  DLTensor t;
  memset(&t, 0, sizeof t);
  t.data = data;
  t.device.device_type = kDLCPU;
  t.ndim = 2;
  t.shape = shape;
  t.dtype.code = code;
  t.dtype.bits = bits;
  t.dtype.lanes = 1;
  return t;
}

int main(void) {
  int64_t a_shape[2] = {M, K}, b_shape[2] = {K, N}, d_shape[2] = {M, N};
  DLTensor A = matrix(a, a_shape, kDLBfloat, 16), B = matrix(b, b_shape, kDLBfloat, 16);
  DLTensor D = matrix(d, d_shape, kDLFloat, 32);
  tw_gemm_args args;
  int i;
  for (i = 0; i < M * K; ++i) a[i] = 0x3F80;  // 1
  for (i = 0; i < K * N; ++i) b[i] = 0x3F80;

  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.a = &A;
  args.b = &B;
  args.d = &D;
  if (tw_gemm(&args) != TW_OK) {
    printf("%s\n", tw_last_error()->text);
    return 1;
  }
  printf("d is %d x %d of float32; d[%d][%d] = %g\n", M, N, M - 1, N - 1, d[M * N - 1]);

  b_shape[0] = K - 1;
  if (tw_gemm(&args) == TW_REFUSED) {
    const tw_error *e = tw_last_error();
    printf("%s: %s: got %s\n", e->code, e->what, e->got);
  }
  return 0;
}
