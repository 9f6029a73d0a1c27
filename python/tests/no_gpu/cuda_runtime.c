/* SPDX-License-Identifier: Apache-2.0
   cuda_runtime.c  The functions of the CUDA runtime that the library calls, on a GPU that is none:
                   an H200 whose launches are counted and can fail. host_counts.py and
                   tests/c/last_error_test.py link the library with it. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))
static long launches;
static cudaError_t launches_return = cudaSuccess;
SHOWN long tw_no_gpu_launches(void) { return launches; }
SHOWN void tw_no_gpu_launches_return(cudaError_t e) { launches_return = e; }

/* The last error of a thread: a call that fails sets it, a call that succeeds leaves it. As in the
   runtime cudaGetLastError() resets it, and cudaFuncSetAttribute(), although it succeeds
   (docs/decisions/0062-public-names.md). */
static __thread cudaError_t last_error;
static cudaError_t returned(cudaError_t e) {
  if (e != cudaSuccess) last_error = e;
  return e;
}
SHOWN cudaError_t cudaPeekAtLastError(void) { return last_error; }
SHOWN cudaError_t cudaGetLastError(void) {
  cudaError_t const e = last_error;
  last_error = cudaSuccess;
  return e;
}

/* ---- The driver's functions that the library looks for --------------------------------------- */

static CUcontext context = (CUcontext)64;
static CUresult get_context(CUcontext* to) { return *to = context, CUDA_SUCCESS; }
static CUresult set_context(CUcontext to) { return context = to, CUDA_SUCCESS; }
static CUresult allow(CUfunction f, CUfunction_attribute a, int v) {
  return (void)f, (void)a, (void)v, CUDA_SUCCESS;
}
static CUresult encode(void* map) { return memset(map, 0, 128), CUDA_SUCCESS; }

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** to, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult* result) {
  (void)version, (void)flags;
  *result = cudaDriverEntryPointSuccess;
  *to = strcmp(name, "cuCtxGetCurrent") == 0      ? (void*)&get_context
        : strcmp(name, "cuCtxSetCurrent") == 0    ? (void*)&set_context
        : strcmp(name, "cuFuncSetAttribute") == 0 ? (void*)&allow
                                                  : (void*)&encode;
  return cudaSuccess;
}

/* ---- The device ------------------------------------------------------------------------------ */

cudaError_t cudaGetDeviceCount(int* n) { return *n = 1, cudaSuccess; }
cudaError_t cudaDriverGetVersion(int* n) { return *n = 13000, cudaSuccess; }
cudaError_t cudaGetDevice(int* n) { return *n = 0, cudaSuccess; }
SHOWN cudaError_t cudaSetDevice(int n) {
  return returned(n == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* p, int n) {
  (void)n;
  memset(p, 0, sizeof *p);
  strcpy(p->name, "NVIDIA H200");
  p->major = 9, p->multiProcessorCount = 132, p->totalGlobalMem = 141UL << 30;
  p->l2CacheSize = 50 << 20, p->sharedMemPerBlockOptin = 232448;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* v, enum cudaDeviceAttr a, int n) {
  return (void)a, (void)n, *v = 1980000, cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t e) { return (void)e, "an error"; }
cudaError_t cudaFuncSetAttribute(const void* f, enum cudaFuncAttribute a, int v) {
  return (void)f, (void)a, (void)v, last_error = cudaSuccess;
}
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* to, const void* s) {
  return *to = (cudaFunction_t)s, cudaSuccess;
}
cudaError_t cudaGetSymbolAddress(void** to, const void* s) { return *to = (void*)s, cudaSuccess; }
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* c, const void* f, void** p) {
  return (void)c, (void)f, (void)p, ++launches, returned(launches_return);
}

/* ---- Registration of kernels. Other functions stay undefined: no call here reaches them -------- */

#define NOTHING(name) \
  int name(void) { return 0; }
NOTHING(__cudaRegisterFatBinary)
NOTHING(__cudaRegisterFatBinaryEnd)
NOTHING(__cudaRegisterFunction)
NOTHING(__cudaRegisterVar)
NOTHING(__cudaUnregisterFatBinary)
