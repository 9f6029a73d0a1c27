// SPDX-License-Identifier: Apache-2.0
// tilewright.h  The C library: GEMMs on tensors, plans, quantisation and layouts. C99.
//
// Tensors are DLTensor of DLPack: address, shape, strides in elements (NULL: C order), type and
// device. Those in host memory are computed by the emulator, in the thread that calls; CUDA tensors
// on their GPU, asynchronously on a stream. The current device is the same after a call.
//
// Structs of arguments begin with `size`, which is sizeof of the struct. Zero them first: 0 and
// NULL are the default of each member. Members are only added at the end: a library takes the
// struct of an older header, and the struct of a newer header if the members that it lacks are zero
// (TW0487).
//
// Functions return a status and never throw. After one that is not TW_OK tw_last_error() says why,
// in the thread that called. Any thread may call any function.
//
// Texts that a function returns in a char** are released by tw_free().
#pragma once

#include <stdint.h>

#include "tilewright/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { TW_ABI = 0 };  // of this header; another number of tw_abi(): another library was loaded

typedef enum tw_status {
  TW_OK = 0,
  TW_REFUSED = 1,      // the arguments: tw_last_error() has the value given and the value needed
  TW_FAULT = 2,        // the emulated kernel broke a rule: a fault of the library
  TW_NO_DEVICE = 3,    // no GPU, driver or kernel for it
  TW_INTERNAL = 4,     // no memory, an error of CUDA, a fault of the library
  TW_INTERRUPTED = 5   // the function of tw_set_interrupt() ended the run; D is incomplete
} tw_status;

// Why the last call of this thread that failed did. Texts live until the next call that fails.
typedef struct tw_error {
  uint32_t size;
  const char *code;  // "TW0482", or a diagnosis of the emulator, "E0024"; tw_explain() has its page
  const char *what;  // "strides of a"
  const char *got;   // "(12, 2) of shape (4, 6)"
  const char *need;  // "1 for one of the last two dimensions"
  const char *hint;  // the remedy; may be empty
  const char *text;  // all of it in a line; of a fault the reports
} tw_error;
const tw_error *tw_last_error(void);

// "0.1.0", and the number that TW_ABI has in the library's own header.
const char *tw_version(void);
uint32_t tw_abi(void);

// Releases a text; NULL is fine.
void tw_free(void *text);

// ---- GEMM --------------------------------------------------------------------------------------

enum {
  TW_INVARIANT = 1,              // the bits of a row of d depend on that row of a alone, not on M
  TW_C_LAST = 2,                 // c is added after the activation
  TW_F16_SUMS = 4,               // f16: sums may be kept in f16
  TW_WRAP = 8,                   // int8: sums may wrap around, modulo 2^32
  TW_NO_CHECKS = 16,             // emulator: the order of accesses is not checked
  TW_EARLY_START = 32,           // GPU: may start before the launch before it has ended
  TW_NO_EARLY_START = 64,        // never; without either flag as the plan expects it to pay
  TW_SCALE_D_POWER_OF_TWO = 128  // scales of d that are computed are powers of two
};
enum { TW_PROMOTE_NEVER = -1 };

// d = act(alpha a b + bias + beta c), of each matrix of a batch.
//
//   member              shape             type
//   a                   (m, k)            float16, bfloat16, float32 (multiplied as tf32), float8
//                                         e4m3fn and e5m2, int8, uint8, or float4 e2m1fn
//   b                   (k, n)            the type of a; of 8 bits any float8, or any integer
//   c, d                (m, n)            float16, bfloat16, float32; int32 of integers; 8 bits
//                                         with scale_d. With a gate (m, n / 2)
//   aux                 (m, n)            the type of d: the values before the activation, written
//   bias                (n), (1, n): a value for each column; (m, 1): for each row
//   scale_a, scale_b    any order of torch, cuBLASLt, DeepGEMM and FlashInfer, of a over (m, k), of
//                       b over (n, k): one, rows, 1x128, 128x128, or the factors of a format
//   second_a, second_b  one float32: the second level of nvfp4
//   scale_d             one float32 that d is divided by; or written, as scale_d_as says
//
// Needs: one of the last two strides is 1, the other one is at least the extent of that dimension;
// none is negative or 0. A batch stands in front: (batch, m, k); an operand without, or of a batch
// of 1, is the same for all. All tensors are on one device. d, aux and scale_d overlap nothing
// else, but c may be d. Two e2m1 lie in a byte, along k (of d: along its columns): type code 17, 4
// bits, 2 lanes, or uint8 with `format`, and the extent counts bytes. Weights of (n, k) are passed
// as their transpose: shape (k, n), strides (1, k).
// Extents may be 0: with k = 0 the sum is zero.
typedef struct tw_gemm_args {
  uint32_t size;   // sizeof(tw_gemm_args)
  uint32_t flags;  // TW_INVARIANT ...
  const DLTensor *a, *b, *c;
  DLTensor *d, *aux;
  const DLTensor *bias, *scale_a, *scale_b;
  DLTensor *scale_d;
  const DLTensor *second_a, *second_b;
  const float *alpha, *beta;  // NULL: 1; beta 1 where c is given
  // NULL: read from type, shape and strides, and refused where these have two readings (TW0451), as
  // square tensors have. "1x128", "128x128", "torch", "torch:128x128", "deepgemm",
  // "cublaslt", "flashinfer-mn", "flashinfer-k"; of a block-scaled format "linear" or "32x4x4".
  const char *scale_a_as, *scale_b_as;
  // NULL: scale_d is given. "row", "1x128", "torch:1x128" ...: computed and written. "mxfp8",
  // "mxfp4", "nvfp4", also with ":linear" or ":32x4x4": d has that format, and scale_d is uint8 of
  // tw_result.scale_bytes.
  const char *scale_d_as;
  const char *format;      // of a and b: "mxfp8", "mxfp4", "nvfp4"; NULL: by types and scales
  const char *activation;  // "relu", "gelu" (tanh), "gelu-erf", "silu", "clamped-quick-gelu"
  const char *gate;        // "split" (the first n / 2 columns are gates) or "interleaved"
  // Host tensors: the device that the emulator runs as, "h200", "b200" ...; NULL: h200, and b200
  // for block-scaled operands. Plans: the device of the plan; NULL: the device of the tensors.
  const char *device;
  int32_t promote;  // 8-bit floats: 128 (0), 64 or TW_PROMOTE_NEVER elements of k in a tensor core
  int32_t threads;  // of the emulator; 0: one for small problems, else one for each core
  void *stream;     // cudaStream_t; NULL: the default stream of the tensors' device
  // GPU: memory at a multiple of 256 bytes, whose first 262144 bytes are zero before its first use;
  // calls that may overlap need one each. The emulator allocates its workspace. Without one plans
  // that need none are taken, and operands that TMA cannot address are refused (TW0410).
  // tw_plan_make(): bytes that the plan may use; 0: all that a plan can use.
  void *workspace;
  int64_t workspace_bytes;
  // Groups of unequal size, whose sizes are in memory of the tensors' device: docs/groups.md. NULL:
  // none. int32 or int64; with G groups, and by the dimensions of a and b:
  //
  //   a             b             d            groups divide
  //   (m, k)        (G, k, n)     (m, n)       m
  //   (G, m, k)     (k, n)        (m, n)       n
  //   (m, k)        (k, n)        (G, m, n)    k
  //   (G, m, k)     (G, k, n)     (G, m, n)    slots: the first rows of each matrix are used
  //
  // c is as d. bias: a value for each row or column that groups divide, and for each group (G, n)
  // along the other one's columns, (G, m, 1) along its rows; of slots both. Elements of d that
  // belong to no group are not written. Sizes that are not possible: of host tensors TW0496.
  const DLTensor *groups;
  // "ends" (NULL), "starts" (G + 1 numbers), "sizes", or "rows": the group of each row that groups
  // divide, -1 of none; groups begin at multiples of 128. Of slots "counts" (NULL).
  const char *groups_as;
  const char *group_axis;       // NULL: by dimensions; of slots "m" (NULL) or "n", the columns
  int64_t expected_group_size;  // of most groups, for the planner; 0: equal groups
  // GPU: one uint32 or int32, 0 before. If a size is not possible, the kernel takes the nearest one
  // and writes 1 + its group, the first one; 2^31 plus the index of a number of gather or scatter
  // that names no row.
  DLTensor *group_status;
  // Of groups; NULL: none. "Row" is a row of groups of rows, a column of groups of columns.
  const DLTensor *group_alpha;  // (G) float32: multiplies alpha, a value for each group
  // float32, a value for each row of d: multiplies it after bias, activation and gate, before c is
  // added.
  const DLTensor *row_weight;
  // int32, a number for each row that groups divide. Row i is computed from row
  // gather[i] / gather_choices of a, which may have any number of rows, and is written to row
  // scatter[i] of d. Numbers that name no row: of host tensors TW0496.
  const DLTensor *gather, *scatter;
  int64_t gather_choices;  // 0: 1. Pairs (token, choice) of a router: the choices of each token
  // b is 4-bit weights (docs/weights4.md): uint8 (bytes), as tw_weights_data() has them, at a
  // multiple of 16 bytes. weights_b: their first 256 bytes, in host memory. NULL: b is a matrix.
  // Weights are (n, k); of several matrices a batch or the groups have one each.
  const void *weights_b;
} tw_gemm_args;

// Computes d. Host tensors: returns when d is complete. CUDA tensors: returns after the launch,
// allocates nothing, and may be captured into a CUDA graph, which keeps the addresses.
tw_status tw_gemm(const tw_gemm_args *args);

// Results that a call needs memory for. scale_*: of scale_d_as alone; scale_ndim is 0 without.
// Strides in elements. nvfp4: the float32 of matrix i lies at byte second_offset + 4 i of scale_d.
typedef struct tw_result {
  uint32_t size;       // sizeof(tw_result)
  int32_t ndim;        // of d: 2, or 3 with a batch
  int64_t shape[3];    // in elements of dtype
  DLDataType dtype;    // the default; any other that d may have is taken
  int32_t scale_ndim;
  int64_t scale_shape[3], scale_strides[3];
  DLDataType scale_dtype;
  int64_t scale_bytes;
  int64_t second_offset;  // -1: without a second level
} tw_result;

// The shape and the usual type of d: the type of a; bfloat16 of 8-bit floats, int32 of integers. d
// and the data of the tensors are not looked at.
tw_status tw_result_shape(const tw_gemm_args *args, tw_result *result);

// ---- Plans -------------------------------------------------------------------------------------

typedef struct tw_plan tw_plan;

// Chooses a kernel once. The data of the tensors may be NULL: they count as aligned to 256 bytes.
// A plan is constant: threads may share it. Needs d.
tw_status tw_plan_make(const tw_gemm_args *args, tw_plan **plan);
// Runs it on tensors of the same shapes, strides, types and options (TW0488). On host tensors the
// emulator runs it, whatever device it is for.
tw_status tw_plan_run(const tw_plan *plan, const tw_gemm_args *args);
// Bytes of workspace that a run on a GPU needs.
int64_t tw_plan_workspace_bytes(const tw_plan *plan);
// The record that `tilewright plan --json` prints, schema tilewright.plan/1: kernel, predicted time
// and its terms, the reason, hints, and the first `top` plans (0: all).
tw_status tw_plan_json(const tw_plan *plan, int32_t top, char **json);
// A plan as one line of JSON, to store it or to pass it to another process: device, problem, kernel
// by name, schedule. Schema tilewright.plan_text/1.
tw_status tw_plan_text(const tw_plan *plan, char **text);
// The plan of that text for these tensors, as tw_plan_make() otherwise. TW0498: another text;
// TW0499: it is of another problem or device; TW0505: this library lacks the kernel.
tw_status tw_plan_from_text(const tw_gemm_args *args, const char *text, tw_plan **plan);
void tw_plan_free(tw_plan *plan);

// ---- Quantisation ------------------------------------------------------------------------------

enum {
  TW_POWER_OF_TWO = 1,  // scales are powers of two
  TW_GIVEN = 2,         // scaling "tensor": scale_d is read; nvfp4: second_d is read
  TW_FLOOR = 4          // mxfp8, mxfp4, host memory: factors of the OCP specification, which clamp
};

// d and its scales, so that an element of x is d times its scale (times second_d of nvfp4).
//
//   member    shape                        type
//   x         (m, k), (batch, m, k)        float32, float16, bfloat16
//   d         shape of x; e2m1 (m, k / 2)  the type `to`: float8 e4m3fn and e5m2, int8, e2m1 pairs
//                                          or uint8
//   scale_d   tw_quantize_shape(); another order that the libraries have is taken too
//   second_d  one float32, of nvfp4 alone, for all matrices of a batch, on the device of x
//
// Without an element in x nothing is written.
// Scales are along k: weights (n, k) are quantised as they lie, and passed to tw_gemm() as their
// transpose with the same scales.
typedef struct tw_quantize_args {
  uint32_t size;   // sizeof(tw_quantize_args)
  uint32_t flags;  // TW_POWER_OF_TWO ...
  const DLTensor *x;
  DLTensor *d, *scale_d, *second_d;
  const char *to;        // "e4m3", "e5m2", "int8", "mxfp8", "mxfp4" or "nvfp4"
  const char *scaling;   // "tensor", "row" (NULL), "1x128", "128x128", also with a library before a
                         // colon; of a format "32x4x4" (NULL) or "linear"
  void *stream;          // as in tw_gemm_args
  void *workspace;       // GPU, scaling "tensor": 4 bytes
  int64_t workspace_bytes;
} tw_quantize_args;

// Host tensors are quantised by the CPU, not in the emulator. A GPU computes equal bits.
tw_status tw_quantize(const tw_quantize_args *args);
// Shapes and types of d and scale_d: `result` as of tw_result_shape(). d and scale_d are not read.
tw_status tw_quantize_shape(const tw_quantize_args *args, tw_result *result);

// ---- 4-bit weights -----------------------------------------------------------------------------

enum {
  TW_SECOND_IS_RECIPROCAL = 1,  // second has 1 / the float32 of nvfp4 (compressed-tensors)
  TW_GPTQ_V2 = 2,               // zero points of GPTQ are stored as z, not as z - 1
  TW_SPLIT_GATE = 4,            // for a GEMM with the gate "split", or "interleaved"
  TW_INTERLEAVED_GATE = 8,
  TW_FOR_E4M3 = 16  // for activations of e4m3: of mxfp4, and of int4 with scales for 128 of K, a
                    // multiple of it, or all of K
};

// 4-bit weights of a checkpoint, host tensors in C order, whose layout is recognised by types and
// shapes as docs/weights4.md says: GPTQ, AWQ, compressed-tensors, torch tinygemm, int8 pairs, rows
// and blocks of mxfp4, rows of nvfp4. Or a matrix that is quantised: `to`.
typedef struct tw_weights_args {
  uint32_t size;           // sizeof(tw_weights_args)
  uint32_t flags;          // TW_SECOND_IS_RECIPROCAL ...
  const DLTensor *values;  // qweight, weight_packed, _blocks ...; with `to` (n, k) or (experts, n,
                           // k) float32, float16 or bfloat16
  const DLTensor *scales;  // NULL with `to`
  const DLTensor *zeros;   // zero points; NULL: the layout's usual ones
  const DLTensor *second;  // nvfp4: float32, one or one for each matrix
  const DLTensor *order;   // g_idx of GPTQ
  const char *scales_to;   // int4: "bfloat16" or "float16", the type of the activations, to which
                           // scales are rounded; NULL: as they are. Not with TW_FOR_E4M3
  const char *to;          // NULL: a checkpoint. "int4": symmetric, scale amax / 7 of each group
  int32_t group;           // with `to`: 16, 32 or a multiple of 64 elements of k; 0: 128; -1: all
} tw_weights_args;

// Prepared weights, in host memory. TW0465, TW0468: weights that cannot be prepared.
typedef struct tw_weights tw_weights;
tw_status tw_weights_make(const tw_weights_args *args, tw_weights **weights);
// tw_weights_bytes() bytes, at a multiple of 64: copy them to the device of the GEMM.
const void *tw_weights_data(const tw_weights *weights);
int64_t tw_weights_bytes(const tw_weights *weights);
// layout, format, group, scale_dtype, zeros, matrices, n, k, factor, gate, activations ("16 bits"
// or "e4m3"), bytes, rounded_scales, nan_scales; of e4m3 parts, rounded_parts, largest_error
// (docs/weights4.md): schema tilewright.weights/1.
tw_status tw_weights_json(const tw_weights *weights, char **json);
// That record of prepared weights, by their first 256 bytes; without layout, counts and errors.
tw_status tw_weights_describe(const void *weights_b, int64_t bytes, char **json);
void tw_weights_free(tw_weights *weights);

// ---- Several GPUs ------------------------------------------------------------------------------

// A rank of a group (docs/several-gpus.md). One call at a time; another thread may abort or check.
typedef struct tw_group tw_group;

typedef struct tw_group_options {
  uint32_t size;           // sizeof(tw_group_options)
  uint32_t epoch;          // equal on all ranks; 0 is usual
  int64_t gathered_bytes;  // of a receive buffer, two of which a rank has; 0: 64 MiB
  double timeout_s;        // of a wait for another rank; 0: 300
} tw_group_options;

// From an ncclComm_t, which outlives the group; a call of all ranks. The current device is the
// communicator's. library: file of libnccl; NULL: the one that the process has loaded.
tw_status tw_group_from_nccl(void *comm, const tw_group_options *options, const char *library,
                             tw_group **group);
// From memory that the caller has mapped: arenas[r] is the address here of rank r's arena, of
// tw_group_arena_bytes() bytes at a multiple of 256, all zero at first. on_gpu: device memory that
// the current device addresses; 0: host memory, shared by threads or processes.
tw_status tw_group_from_addresses(int32_t rank, int32_t ranks, void *const *arenas, int32_t on_gpu,
                                  const tw_group_options *options, tw_group **group);
tw_status tw_group_arena_bytes(const tw_group_options *options, int32_t on_gpu, int64_t *bytes);

// A GEMM of all ranks. Tensors of rank r; rows_r of the m rows in all:
//
//   operation          a            b           d
//   "all-gather"       (rows_r, k)  (k, n_r)    (m, n_r)      a is gathered from all ranks
//   "reduce-scatter"   (m, k_r)     (k_r, n)    (rows_r, n)   rows of the sum over the ranks
//   "all-reduce"       (m, k_r)     (k_r, n)    (m, n)        the sum over the ranks
typedef struct tw_group_call {
  uint32_t size;              // sizeof(tw_group_call)
  int32_t float32_partials;   // not 0: partial results are float32 also for a d of 16 bits
  const char *operation;
  // "serial", "two-pieces", "pieces", "direct", "gated"; NULL: by the rows
  const char *path;
  const int64_t *rows;        // of each rank; NULL: as even as possible
  // "all-gather": further GEMMs of one a, which is gathered once, such as k and v after q. They use
  // the workspace and the stream of the first. NULL, 0: none.
  const tw_gemm_args *const *others;
  int64_t others_count;
} tw_group_call;

// Computes d with a, b and the epilogue of `args`; batches, groups and scales of d are refused.
// Host tensors: returns when d is complete. CUDA tensors: returns after the launches; a later
// failure is returned by the next call or by tw_group_check().
tw_status tw_group_gemm(tw_group *group, const tw_group_call *call, const tw_gemm_args *args);
// Bytes of a receive buffer that the call needs: tw_group_options.gathered_bytes.
tw_status tw_group_gathered_bytes(int32_t ranks, int32_t rank, const tw_group_call *call,
                                  const tw_gemm_args *args, int64_t *bytes);

// The plan of the call on this rank: its path and why, its acts, predicted and measured times of
// each path, and its limit. Nothing is sent. text: the words of `tilewright plan --ranks`;
// json: schema tilewright.group_plan/1. A NULL is left out; the caller frees them by tw_free().
tw_status tw_group_explain(tw_group *group, const tw_group_call *call, const tw_gemm_args *args,
                           char **text, char **json);

// TW_REFUSED if a rank was late, has another problem, or has aborted; after the stream was
// synchronised, results are right if it returns TW_OK.
tw_status tw_group_check(const tw_group *group);
// Ends all waits of all ranks.
tw_status tw_group_abort(const tw_group *group);
// Waits for the rank's calls.
void tw_group_free(tw_group *group);

// ---- Layouts, devices, errors ------------------------------------------------------------------

// The record that `tilewright layout EXPRESSION --json` prints, schema tilewright.layout/1.
tw_status tw_layout_eval(const char *expression, char **json);
// The picture of a layout or an atom, an SVG document.
tw_status tw_layout_svg(const char *expression, char **svg);

// The GEMMs of a transformer's layers with kernels and times ("tilewright.model_plan/1").
// config: JSON in the form of Hugging Face's config.json. request: JSON with "tokens" and "formats"
// (lists), "tp" and "device"; NULL: 1, 64 and 4096 tokens, bf16, e4m3:1x128 and nvfp4, one H200.
tw_status tw_plan_model(const char *config, const char *request, char **json);

// The page of a code, Markdown: "TW0451", "E0024".
tw_status tw_explain(const char *code, char **page);

// The devices that plans can be made for, and the GPU: schema tilewright.devices/1.
tw_status tw_devices_json(char **json);

// ---- The process -------------------------------------------------------------------------------

// Lines of the log, of chosen plans and performance hints: level 0 debug, 1 info, 2 warning. `log`
// may be called in any thread, also by a call that began before this one; NULL: no longer. It must
// not throw or leave by longjmp.
void tw_set_log(void (*log)(void *context, int level, const char *line), void *context);

// Called about 20 times a second in the thread that waits for an emulated run; a result other than
// 0 ends the run (TW_INTERRUPTED). NULL: no longer.
void tw_set_interrupt(int (*interrupt)(void *context), void *context);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
