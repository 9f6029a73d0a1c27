/* SPDX-License-Identifier: Apache-2.0
   last_error.c  A call keeps the CUDA error that the caller left, and takes an error of its own: on
                 the runtime of python/tests/no_gpu, which needs no GPU. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "tilewright.h"

long tw_no_gpu_launches(void);
void tw_no_gpu_launches_return(cudaError_t e);

static int failures;

static void check(const char* what, tw_status expected, tw_status got, long launches,
                  cudaError_t left) {
  cudaError_t const now = cudaGetLastError();
  if (got == expected && now == left && launches > 0 == (expected != TW_REFUSED)) return;
  printf("%s: status %d, expected %d; last error %d, expected %d; %ld launches; %s\n", what, got,
         expected, now, left, launches, tw_last_error()->text);
  ++failures;
}

/* Two calls of d = a b. */
static void call(const char* what, int64_t m, int64_t n, int64_t k, int with_d, cudaError_t fails) {
  int64_t of_a[] = {m, k}, of_b[] = {k, n}, of_d[] = {m, n}, columns[] = {1, k};
  DLTensor a = {(void*)(1UL << 32), {kDLCUDA, 0}, 2, {kDLBfloat, 16, 1}, of_a, NULL, 0};
  DLTensor b = {(void*)(2UL << 32), {kDLCUDA, 0}, 2, {kDLBfloat, 16, 1}, of_b, columns, 0};
  DLTensor d = {(void*)(3UL << 32), {kDLCUDA, 0}, 2, {kDLBfloat, 16, 1}, of_d, NULL, 0};
  tw_gemm_args g;
  memset(&g, 0, sizeof g);
  g.size = sizeof g, g.a = &a, g.b = &b, g.d = with_d ? &d : NULL;
  g.workspace = (void*)(4UL << 32), g.workspace_bytes = (int64_t)1 << 30;
  tw_no_gpu_launches_return(fails);
  for (int times = 0; times < 2; ++times) { /* the second with the remembered plan */
    long const before = tw_no_gpu_launches();
    cudaSetDevice(1 << 20); /* leaves an error */
    tw_status const got = tw_gemm(&g);
    check(what, !with_d ? TW_REFUSED : fails != cudaSuccess ? TW_INTERNAL : TW_OK, got,
          tw_no_gpu_launches() - before,
          with_d && fails != cudaSuccess ? cudaSuccess : cudaErrorInvalidDevice);
  }
}

int main(void) {
  call("a plain GEMM", 1024, 4096, 4096, 1, cudaSuccess);
  call("operands are copied first", 1024, 4096, 4091, 1, cudaSuccess);
  call("a refused call", 1024, 4096, 4096, 0, cudaSuccess);
  call("a launch that fails", 1024, 4096, 4096, 1, cudaErrorLaunchFailure);
  printf("%d failures\n", failures);
  return failures != 0;
}
