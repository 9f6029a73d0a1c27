// SPDX-License-Identifier: Apache-2.0
// everything.c  Calls each function of tilewright.h, in C99.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilewright.h"

static int failures = 0;

static void expect(int holds, const char *text, int line) {
  if (holds) return;
  ++failures;
  printf("everything.c:%d: %s; last error: %s\n", line, text, tw_last_error()->text);
}
#define EXPECT(x) expect(x, #x, __LINE__)

static DLTensor matrix(void *data, int64_t *shape, int64_t *strides, unsigned code, unsigned bits) {
  DLTensor t;
  memset(&t, 0, sizeof t);
  t.data = data;
  t.device.device_type = kDLCPU;
  t.ndim = 2;
  t.dtype.code = (uint8_t)code;
  t.dtype.bits = (uint8_t)bits;
  t.dtype.lanes = 1;
  t.shape = shape;
  t.strides = strides;
  return t;
}

static int lines = 0;
static void count_line(void *context, int level, const char *line) {
  EXPECT(context == &lines && level >= 0 && level <= 2 && line[0] != 0);
  ++lines;
}

static int calls = 0;
static int interrupt_at_once(void *context) {
  EXPECT(context == &calls);
  return ++calls > 0;
}

enum { M = 24, N = 16, K = 32 };
static uint16_t a[M * K], b[K * N];
static float d[M * N];
static int64_t a_shape[2] = {M, K}, b_shape[2] = {K, N}, d_shape[2] = {M, N};
static int64_t b_strides[2] = {1, K};
static DLTensor A, B, D;

static tw_gemm_args gemm_args(void) {
  tw_gemm_args g;
  memset(&g, 0, sizeof g);
  g.size = sizeof g;
  g.a = &A, g.b = &B, g.d = &D;
  return g;
}

static void gemm(void) {
  tw_gemm_args g = gemm_args();
  tw_result r;
  int i;
  const uint16_t one = 0x3F80; /* of bfloat16 */
  for (i = 0; i < M * K; ++i) a[i] = one;
  for (i = 0; i < K * N; ++i) b[i] = one;
  EXPECT(tw_gemm(&g) == TW_OK);
  for (i = 0; i < M * N; ++i) EXPECT(d[i] == (float)K);
  memset(&r, 0, sizeof r);
  r.size = sizeof r;
  EXPECT(tw_result_shape(&g, &r) == TW_OK);
  EXPECT(r.ndim == 2 && r.shape[0] == M && r.shape[1] == N && r.dtype.code == kDLBfloat);
  b_shape[0] = K - 1;
  EXPECT(tw_gemm(&g) == TW_REFUSED);
  EXPECT(strcmp(tw_last_error()->code, "TW0616") == 0);
  EXPECT(tw_last_error()->size == sizeof(tw_error));
  EXPECT(strstr(tw_last_error()->got, "a 24x32, b 31x16") != NULL);
  b_shape[0] = K;
}

static void plans(void) {
  tw_gemm_args g = gemm_args();
  tw_plan *plan = NULL;
  tw_plan *again = NULL;
  char *json = NULL, *text = NULL;
  EXPECT(tw_plan_make(&g, &plan) == TW_OK);
  EXPECT(tw_plan_workspace_bytes(plan) >= 0);
  EXPECT(tw_plan_json(plan, 1, &json) == TW_OK);
  EXPECT(json != NULL && strstr(json, "\"schema\":\"tilewright.plan/1\"") != NULL);
  tw_free(json);
  memset(d, 0, sizeof d);
  EXPECT(tw_plan_run(plan, &g) == TW_OK);
  EXPECT(d[M * N - 1] == (float)K);
  EXPECT(tw_plan_text(plan, &text) == TW_OK);
  EXPECT(text != NULL && strstr(text, "\"schema\":\"tilewright.plan_text/1\"") != NULL);
  EXPECT(tw_plan_from_text(&g, text, &again) == TW_OK);
  tw_free(text);
  memset(d, 0, sizeof d);
  EXPECT(tw_plan_run(again, &g) == TW_OK);
  EXPECT(d[M * N - 1] == (float)K);
  tw_plan_free(again);
  EXPECT(tw_plan_from_text(&g, "no plan", &again) == TW_REFUSED && again == NULL);
  EXPECT(strcmp(tw_last_error()->code, "TW0498") == 0);
  d_shape[1] = b_shape[1] = N - 1;
  EXPECT(tw_plan_run(plan, &g) == TW_REFUSED);
  EXPECT(strcmp(tw_last_error()->code, "TW0488") == 0);
  d_shape[1] = b_shape[1] = N;
  tw_plan_free(plan);
  plan = NULL;
  EXPECT(tw_plan_json(plan, 1, &json) == TW_REFUSED && json == NULL);
  A.data = B.data = D.data = NULL; /* a plan needs no data */
  B.strides = b_strides;           /* weights (n, k) as their transpose */
  g.device = "b200";
  EXPECT(tw_plan_make(&g, &plan) == TW_OK);
  EXPECT(tw_plan_json(plan, 0, &json) == TW_OK);
  EXPECT(json != NULL && strstr(json, "\"device\":\"b200\"") != NULL);
  tw_free(json);
  tw_plan_free(plan);
  tw_plan_free(NULL);
  A.data = a, B.data = b, D.data = d, B.strides = NULL;
}

static void quantise(void) {
  static float x[4 * 64], scale[4];
  static uint8_t values[4 * 64];
  int64_t shape[2] = {4, 64}, scale_shape[2] = {4, 1};
  DLTensor X = matrix(x, shape, NULL, kDLFloat, 32), V = matrix(values, shape, NULL, 10, 8);
  DLTensor S = matrix(scale, scale_shape, NULL, kDLFloat, 32);
  tw_quantize_args q;
  tw_result r;
  int i;
  for (i = 0; i < 4 * 64; ++i) x[i] = (float)(i % 64) - 20;
  memset(&q, 0, sizeof q);
  q.size = sizeof q;
  q.x = &X, q.d = &V, q.scale_d = &S, q.to = "e4m3";
  EXPECT(tw_quantize(&q) == TW_OK);
  EXPECT(scale[0] == 43.0F / 448 && values[63] == 0x7E);
  memset(&r, 0, sizeof r);
  r.size = sizeof r;
  q.to = "nvfp4";
  EXPECT(tw_quantize_shape(&q, &r) == TW_OK);
  EXPECT(r.ndim == 2 && r.shape[1] == 32 && r.dtype.lanes == 2 && r.scale_shape[0] == 128);
  q.to = "e3m7";
  EXPECT(tw_quantize(&q) == TW_REFUSED);
}

static void weights(void) {
  static float w[64 * 64];
  int64_t shape[2] = {64, 64};
  DLTensor W = matrix(w, shape, NULL, kDLFloat, 32);
  tw_weights_args args;
  tw_weights *made = NULL;
  char *json = NULL;
  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.values = &W, args.to = "int4", args.group = 64;
  EXPECT(tw_weights_make(&args, &made) == TW_OK);
  EXPECT(tw_weights_bytes(made) > 256 && memcmp(tw_weights_data(made), "TWWEIGHT", 8) == 0);
  EXPECT(tw_weights_json(made, &json) == TW_OK && strstr(json, "\"int4\"") != NULL);
  tw_free(json);
  EXPECT(tw_weights_describe(tw_weights_data(made), tw_weights_bytes(made), &json) == TW_OK);
  EXPECT(strstr(json, "\"k\":64") != NULL);
  tw_free(json);
  tw_weights_free(made);
  tw_weights_free(NULL);
  args.group = 48;
  EXPECT(tw_weights_make(&args, &made) == TW_REFUSED && made == NULL);
}

static void groups(void) {
  tw_group_options options;
  tw_group_call call;
  tw_gemm_args g = gemm_args();
  tw_group *group = NULL;
  int64_t bytes = 0;
  void *memory, *arena;
  char *text = NULL, *json = NULL;
  memset(&options, 0, sizeof options);
  memset(&call, 0, sizeof call);
  options.size = sizeof options, call.size = sizeof call;
  call.operation = "all-reduce";
  EXPECT(tw_group_gathered_bytes(1, 0, &call, &g, &options.gathered_bytes) == TW_OK);
  EXPECT(tw_group_arena_bytes(&options, 0, &bytes) == TW_OK);
  EXPECT(options.gathered_bytes > 0 && bytes > 2 * options.gathered_bytes);
  EXPECT(tw_group_arena_bytes(&options, 1, &bytes) == TW_OK);
  memory = calloc((size_t)bytes + (1 << 16), 1);
  arena = (void *)(((uintptr_t)memory + 255) & ~(uintptr_t)255);
  EXPECT(tw_group_from_nccl(NULL, &options, NULL, &group) == TW_REFUSED && group == NULL);
  EXPECT(tw_group_from_addresses(0, 1, &arena, 0, &options, &group) == TW_OK);
  EXPECT(tw_group_gemm(group, &call, &g) == TW_OK);
  EXPECT(tw_group_explain(group, &call, &g, &text, &json) == TW_OK);
  EXPECT(strstr(text, "pieces: one rank communicates with no other") != NULL);
  EXPECT(strstr(json, "\"chosen\":\"pieces\"") != NULL);
  tw_free(text), tw_free(json);
  EXPECT(tw_group_explain(group, &call, &g, NULL, NULL) == TW_OK);
  call.operation = "scatter";
  EXPECT(tw_group_explain(group, &call, &g, &text, &json) == TW_REFUSED);
  EXPECT(text == NULL && json == NULL);
  EXPECT(tw_group_gemm(group, &call, &g) == TW_REFUSED);
  EXPECT(tw_group_check(group) == TW_OK);
  EXPECT(tw_group_abort(group) == TW_OK);
  EXPECT(tw_group_check(group) == TW_REFUSED);
  EXPECT(strcmp(tw_last_error()->code, "TW0906") == 0);
  tw_group_free(group);
  tw_group_free(NULL);
  free(memory);
}

static void texts(void) {
  char *text = NULL;
  EXPECT(tw_layout_eval("composition((4,8):(8,1), 4:2)", &text) == TW_OK);
  EXPECT(text != NULL && strstr(text, "(2,2):(16,1)") != NULL);
  tw_free(text);
  EXPECT(tw_layout_eval("(4,8):(8", &text) == TW_REFUSED && text == NULL);
  EXPECT(tw_plan_model("{\"hidden_size\": 1024, \"intermediate_size\": 2816, "
                       "\"num_attention_heads\": 16}",
                       "{\"tokens\": [64], \"formats\": [\"bf16\"]}", &text) == TW_OK);
  EXPECT(text != NULL && strstr(text, "gate_up") != NULL && strstr(text, "2816") != NULL);
  tw_free(text);
  EXPECT(tw_plan_model("{}", NULL, &text) == TW_REFUSED && text == NULL);
  EXPECT(tw_plan_model("{\"hidden_size\": 1024}", "{\"token\": 1}", &text) == TW_REFUSED);
  EXPECT(tw_layout_svg("(4,8):(8,1)", &text) == TW_OK);
  EXPECT(text != NULL && strstr(text, "<svg") != NULL);
  tw_free(text);
  EXPECT(tw_explain("tw0451", &text) == TW_OK);
  EXPECT(text != NULL && strncmp(text, "# TW0451", 8) == 0);
  tw_free(text);
  EXPECT(tw_explain("TW9999", &text) == TW_REFUSED);
  EXPECT(strcmp(tw_last_error()->code, "TW0617") == 0);
  EXPECT(tw_devices_json(&text) == TW_OK);
  EXPECT(text != NULL && strstr(text, "\"id\":\"h200\"") != NULL);
  tw_free(text);
  tw_free(NULL);
}

static void process(void) {
  tw_gemm_args g = gemm_args();
  int64_t large = 1280;
  uint16_t *big = calloc((size_t)(large * large), sizeof *big);
  float *result = calloc((size_t)(large * large), sizeof *result);
  int64_t shape[2];
  DLTensor X, R;
  shape[0] = shape[1] = large;
  X = matrix(big, shape, NULL, kDLBfloat, 16), R = matrix(result, shape, NULL, kDLFloat, 32);
  g.a = g.b = &X, g.d = &R;
  tw_set_log(count_line, &lines);
  tw_set_interrupt(interrupt_at_once, &calls);
  EXPECT(tw_gemm(&g) == TW_INTERRUPTED);
  EXPECT(strcmp(tw_last_error()->code, "TW0489") == 0);
  EXPECT(lines > 0 && calls == 1);
  tw_set_log(NULL, NULL);
  tw_set_interrupt(NULL, NULL);
  EXPECT(tw_gemm(&g) == TW_OK);
  free(big);
  free(result);
}

int main(void) {
  A = matrix(a, a_shape, NULL, kDLBfloat, 16);
  B = matrix(b, b_shape, NULL, kDLBfloat, 16);
  D = matrix(d, d_shape, NULL, kDLFloat, 32);
  EXPECT(tw_abi() == TW_ABI);
  EXPECT(tw_version()[0] != 0);
  EXPECT(tw_last_error()->code[0] == 0);
  gemm();
  plans();
  quantise();
  weights();
  groups();
  texts();
  process();
  if (failures == 0) printf("all functions of tilewright %s\n", tw_version());
  return failures != 0;
}
