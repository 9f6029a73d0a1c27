// SPDX-License-Identifier: Apache-2.0
// tasks.c  The tasks of docs/c.md, which shows parts of this file, compared with sums in double.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilewright.h"

static int failures = 0;

static int must(tw_status status, int line) {
  if (status == TW_OK) return 1;
  ++failures;
  printf("tasks.c:%d: %s\n", line, tw_last_error()->text);
  return 0;
}
#define MUST(x) must(x, __LINE__)

/* A tensor that owns its memory. */
typedef struct {
  DLTensor t;
  int64_t shape[3], strides[3];
  int64_t bytes;
} array;

static array make_array(DLDataType type, int32_t ndim, const int64_t *shape,
                        const int64_t *strides) {
  array x;
  int64_t last = 0, dense = 1;
  int i;
  memset(&x, 0, sizeof x);
  for (i = ndim - 1; i >= 0; --i) {
    x.shape[i] = shape[i];
    x.strides[i] = strides != NULL ? strides[i] : dense;
    dense *= shape[i];
    last += (shape[i] - 1) * x.strides[i];
  }
  x.bytes = (last + 1) * ((type.bits * type.lanes + 7) / 8);
  x.t.data = calloc((size_t)x.bytes, 1);
  x.t.device.device_type = kDLCPU;
  x.t.ndim = ndim;
  x.t.dtype = type;
  return x;
}

static DLDataType dtype(unsigned code, unsigned bits) {
  DLDataType t;
  t.code = (uint8_t)code, t.bits = (uint8_t)bits, t.lanes = 1;
  return t;
}

static array matrix(DLDataType type, int64_t rows, int64_t cols) {
  int64_t shape[2];
  shape[0] = rows, shape[1] = cols;
  return make_array(type, 2, shape, NULL);
}

/* The tensor, once the array stays where it is. */
static DLTensor *tensor(array *x) {
  x->t.shape = x->shape;
  x->t.strides = x->strides;
  return &x->t;
}

/* Weights (n, k) as (k, n): the same memory. */
static array transposed(const array *x) {
  array y = *x;
  y.shape[0] = x->shape[1], y.shape[1] = x->shape[0];
  y.strides[0] = x->strides[1], y.strides[1] = x->strides[0];
  return y;
}

static void release(array *x) { free(x->t.data); }

static float from_bf16(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float f;
  memcpy(&f, &wide, sizeof f);
  return f;
}
static uint16_t to_bf16(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return (uint16_t)(bits >> 16);
}

/* Numbers of bf16 that are near 0. */
static void fill_bf16(array *x, unsigned seed) {
  uint16_t *p = (uint16_t *)x->t.data;
  int64_t i;
  for (i = 0; i < x->bytes / 2; ++i) {
    seed = seed * 1664525U + 1013904223U;
    p[i] = to_bf16(((int)(seed >> 20) - 2048) / 2048.0F);
  }
}

/* sum over k of x(i, k) w(j, k), both of bf16 in C order. */
static double sum_of(const array *x, const array *w, int64_t i, int64_t j) {
  const uint16_t *p = (const uint16_t *)x->t.data, *q = (const uint16_t *)w->t.data;
  int64_t k = x->shape[1], at;
  double sum = 0;
  for (at = 0; at < k; ++at) sum += (double)from_bf16(p[i * k + at]) * from_bf16(q[j * k + at]);
  return sum;
}

static void compare(const char *task, double got, double want, double tolerance) {
  if (fabs(got - want) <= tolerance) return;
  ++failures;
  printf("%s: got %g, need %g\n", task, got, want);
}

enum { M = 33, N = 256, K = 256 };

static void bias_and_gelu(array *x, array *w) {
  array wt = transposed(w), bias = matrix(dtype(kDLBfloat, 16), 1, N);
  array y = matrix(dtype(kDLBfloat, 16), M, N);
  double sum = sum_of(x, w, 5, 7);
  tw_gemm_args args;
  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.a = tensor(x), args.b = tensor(&wt), args.d = tensor(&y);
  args.bias = tensor(&bias), args.activation = "gelu";
  if (!MUST(tw_gemm(&args))) return;
  compare("gelu", from_bf16(((uint16_t *)y.t.data)[5 * N + 7]),
          sum / (1 + exp(-1.5957691216057308 * sum * (1 + 0.044715 * sum * sum))), 0.1);
  release(&bias), release(&y);
}

/* Values and scales of a matrix of bf16. */
static int quantise(array *x, const char *to, const char *scaling, array *values, array *scale,
                    array *second) {
  tw_quantize_args args;
  tw_result result;
  memset(&args, 0, sizeof args), memset(&result, 0, sizeof result);
  args.size = sizeof args, result.size = sizeof result;
  args.x = tensor(x), args.to = to, args.scaling = scaling;
  if (!MUST(tw_quantize_shape(&args, &result))) return 0;
  *values = make_array(result.dtype, result.ndim, result.shape, NULL);
  *scale = make_array(result.scale_dtype, result.scale_ndim, result.scale_shape,
                      result.scale_strides);
  args.d = tensor(values), args.scale_d = tensor(scale);
  args.second_d = second != NULL ? tensor(second) : NULL;
  return MUST(tw_quantize(&args));
}

static void block_scales(array *x, array *w) {
  array qa, sa, qw, sw, qwt, y = matrix(dtype(kDLBfloat, 16), M, N);
  tw_gemm_args args;
  if (!quantise(x, "e4m3", "1x128", &qa, &sa, NULL)) return;
  if (!quantise(w, "e4m3", "deepgemm:128x128", &qw, &sw, NULL)) return;
  qwt = transposed(&qw);
  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.a = tensor(&qa), args.b = tensor(&qwt), args.d = tensor(&y);
  args.scale_a = tensor(&sa), args.scale_b = tensor(&sw);
  args.scale_b_as = "deepgemm:128x128"; /* its tensor is square */
  if (!MUST(tw_gemm(&args))) return;
  compare("e4m3", from_bf16(((uint16_t *)y.t.data)[5 * N + 7]), sum_of(x, w, 5, 7), 1.5);
  release(&qa), release(&sa), release(&qw), release(&sw), release(&y);
}

static void nvfp4(array *x, array *w) {
  int64_t one = 1;
  array qa, sa, qw, sw, qwt, y = matrix(dtype(kDLBfloat, 16), M, N);
  array level_a = make_array(dtype(kDLFloat, 32), 1, &one, NULL);
  array level_w = make_array(dtype(kDLFloat, 32), 1, &one, NULL);
  tw_gemm_args args;
  if (!quantise(x, "nvfp4", NULL, &qa, &sa, &level_a)) return;
  if (!quantise(w, "nvfp4", NULL, &qw, &sw, &level_w)) return;
  qwt = transposed(&qw);
  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.a = tensor(&qa), args.b = tensor(&qwt), args.d = tensor(&y);
  args.scale_a = tensor(&sa), args.scale_b = tensor(&sw);
  args.scale_a_as = args.scale_b_as = "32x4x4"; /* as tw_quantize() writes them */
  args.second_a = tensor(&level_a), args.second_b = tensor(&level_w);
  if (!MUST(tw_gemm(&args))) return;
  compare("nvfp4", from_bf16(((uint16_t *)y.t.data)[5 * N + 7]), sum_of(x, w, 5, 7), 6);
  release(&qa), release(&sa), release(&qw), release(&sw), release(&y);
  release(&level_a), release(&level_w);
}

/* The weights of two experts (2, n / 2, k) lie in w; the first has 20 rows of x. */
static void groups_of_rows(array *x, array *w) {
  array weights = *w, ends, y = matrix(dtype(kDLBfloat, 16), M, N / 2);
  int64_t count = 2;
  tw_gemm_args args;
  weights.t.ndim = 3;
  weights.shape[0] = 2, weights.shape[1] = K, weights.shape[2] = N / 2;
  weights.strides[0] = N / 2 * K, weights.strides[1] = 1, weights.strides[2] = K;
  ends = make_array(dtype(kDLInt, 32), 1, &count, NULL);
  ((int32_t *)ends.t.data)[0] = 20, ((int32_t *)ends.t.data)[1] = M;
  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.a = tensor(x), args.b = tensor(&weights); /* (m, k), (groups, k, n) */
  args.groups = tensor(&ends), args.groups_as = "ends";
  args.d = tensor(&y);
  if (!MUST(tw_gemm(&args))) return;
  compare("the first group", from_bf16(((uint16_t *)y.t.data)[5 * (N / 2) + 7]),
          sum_of(x, w, 5, 7), 0.2);
  compare("the second group", from_bf16(((uint16_t *)y.t.data)[25 * (N / 2) + 7]),
          sum_of(x, w, 25, N / 2 + 7), 0.2);
  release(&ends), release(&y);
}

/* Rows of experts in any order: row i is row order[i] of x, and row order[i] of y. */
static void without_a_copy(array *x, array *w) {
  array weights = *w, ends, order, factors, y = matrix(dtype(kDLBfloat, 16), M, N / 2);
  int64_t count = 2, rows = M;
  int i;
  tw_gemm_args args;
  weights.t.ndim = 3;
  weights.shape[0] = 2, weights.shape[1] = K, weights.shape[2] = N / 2;
  weights.strides[0] = N / 2 * K, weights.strides[1] = 1, weights.strides[2] = K;
  ends = make_array(dtype(kDLInt, 32), 1, &count, NULL);
  ((int32_t *)ends.t.data)[0] = 20, ((int32_t *)ends.t.data)[1] = M;
  order = make_array(dtype(kDLInt, 32), 1, &rows, NULL);
  factors = make_array(dtype(kDLFloat, 32), 1, &rows, NULL);
  for (i = 0; i < M; ++i) {
    ((int32_t *)order.t.data)[i] = M - 1 - i;
    ((float *)factors.t.data)[i] = 0.5F;
  }
  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.a = tensor(x), args.b = tensor(&weights), args.d = tensor(&y);
  args.groups = tensor(&ends);
  args.gather = tensor(&order), args.scatter = tensor(&order); /* int32 (m) */
  args.row_weight = tensor(&factors);                          /* float32, of each row of d */
  if (!MUST(tw_gemm(&args))) return;
  compare("a row of the first group", from_bf16(((uint16_t *)y.t.data)[(M - 1) * (N / 2) + 7]),
          0.5 * sum_of(x, w, M - 1, 7), 0.2);
  compare("a row of the second group", from_bf16(((uint16_t *)y.t.data)[7]),
          0.5 * sum_of(x, w, 0, N / 2 + 7), 0.2);
  release(&ends), release(&order), release(&factors), release(&y);
}

static void weights_of_4_bits(array *x, array *w) {
  array y = matrix(dtype(kDLBfloat, 16), M, N), bytes;
  tw_weights_args prepare;
  tw_weights *weights = NULL;
  tw_gemm_args args;
  memset(&prepare, 0, sizeof prepare);
  prepare.size = sizeof prepare;
  prepare.values = tensor(w), prepare.to = "int4", prepare.group = 64; /* or a checkpoint's tensors */
  if (!MUST(tw_weights_make(&prepare, &weights))) return;
  bytes.t = w->t;
  bytes.shape[0] = tw_weights_bytes(weights), bytes.strides[0] = 1;
  bytes.t.ndim = 1, bytes.t.dtype = dtype(kDLUInt, 8);
  bytes.t.data = (void *)tw_weights_data(weights); /* on a GPU: a copy of these bytes */
  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.a = tensor(x), args.b = tensor(&bytes), args.d = tensor(&y);
  args.weights_b = tw_weights_data(weights); /* 256 bytes in host memory */
  if (MUST(tw_gemm(&args)))
    compare("weights of 4 bits", from_bf16(((uint16_t *)y.t.data)[5 * N + 7]), sum_of(x, w, 5, 7),
            3.0);
  tw_weights_free(weights);
  release(&y);
}

static void plan_once(array *x, array *w) {
  array wt = transposed(w), y = matrix(dtype(kDLBfloat, 16), M, N);
  tw_gemm_args args;
  tw_plan *plan = NULL;
  char *json = NULL;
  int run;
  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.a = tensor(x), args.b = tensor(&wt), args.d = tensor(&y);
  args.device = "h200"; /* also where none is there */
  if (!MUST(tw_plan_make(&args, &plan))) return;
  for (run = 0; run < 3; ++run) MUST(tw_plan_run(plan, &args));
  if (MUST(tw_plan_json(plan, 1, &json)) && strstr(json, "\"predicted\"") == NULL) ++failures;
  tw_free(json);
  tw_plan_free(plan);
  compare("plan", from_bf16(((uint16_t *)y.t.data)[5 * N + 7]), sum_of(x, w, 5, 7), 0.2);
  release(&y);
}

int main(void) {
  array x = matrix(dtype(kDLBfloat, 16), M, K), w = matrix(dtype(kDLBfloat, 16), N, K);
  fill_bf16(&x, 1), fill_bf16(&w, 2);
  bias_and_gelu(&x, &w);
  block_scales(&x, &w);
  nvfp4(&x, &w);
  groups_of_rows(&x, &w);
  without_a_copy(&x, &w);
  weights_of_4_bits(&x, &w);
  plan_once(&x, &w);
  release(&x), release(&w);
  if (failures == 0) printf("the tasks of docs/c.md\n");
  return failures != 0;
}
