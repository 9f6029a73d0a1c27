// SPDX-License-Identifier: Apache-2.0
// gemm.hpp  GEMMs whose operands are spread over the ranks of a group.
//
// Each rank makes the same call with its operands. Extents of the problem:
//
//                        A on rank r     B on rank r   D on rank r
//   all_gather_gemm      (rows_r, K)     (K, N_r)      (M, N_r)       problem (M, N_r, K)
//   gemm_reduce_scatter  (M, K_r)        (K_r, N)      (rows_r, N)    problem (M, N, K_r)
//   gemm_all_reduce      (M, K_r)        (K_r, N)      (M, N)         problem (M, N, K_r)
//
// call_options::rows has the rows of each rank, which are as even as possible by default. An extent
// may be 0.
//
// A of all_gather_gemm is this rank's shard, with its leading dimension. Row and block scales of A
// cover the shard and travel with it; one scale for all of A is equal on all ranks. C, aux and
// vectors along rows have all M rows.
//
// If K is split, each rank's partial result has its scales of A and B and is rounded to one type
// (call_options::float32_partials). Partial results are added in the order of the ranks in float32
// (of integers exactly), and alpha, vectors, C, activation and gate are applied to the sum. C, the
// auxiliary output and vectors along rows of gemm_reduce_scatter have the rank's rows.
//
// A result does not depend on which rank is late, and every path adds equal numbers in one order:
// with gemm_problem::reproducible all paths give equal bits, and all_gather_gemm gives the bits of
// one device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/arch/emu/options.hpp"
#include "tilewright/dist/group.hpp"
#include "tilewright/dist/shards.hpp"
#include "tilewright/problem/gemm.hpp"

typedef struct CUstream_st* cudaStream_t;  // same declaration as CUDA's own

namespace tw::dist {

struct call_options {
  /// Rows of each rank; nothing: shards::even(M, ranks).
  std::optional<shards> rows;
  /// How the operation is cut. Nothing: path::pieces; on GPUs the path that `tilewright tune` has
  /// stored for the call (path_table.hpp), or else by M, K (all-gather) or N, the type and the
  /// number of ranks: from 512 rows on pieces, or two pieces if a rank has less than 256 rows; else
  /// path::direct if a rank sends at most 4 MiB and the model of plan.hpp has its exchange 2 us
  /// faster than NCCL's; else path::serial. Ranks may differ, except for path::direct, and for
  /// path::serial of a group with a communicator. TW0904 refuses path::direct if scales of A travel
  /// or a gate follows the sum; path::gated if K is split, if ranks share a GPU, or if no kernel
  /// with a gate computes the GEMM (docs/several-gpus.md).
  std::optional<path> via;
  /// K is split: partial results are float32 even where D is bf16 or f16. They are where D has 8
  /// bits; of integers without scales they are s32.
  bool float32_partials = false;
  /// A group on GPUs: the stream of the GEMMs; operands are device memory. The call returns before
  /// they are done. GEMMs of one stream may share a workspace.
  cudaStream_t stream = nullptr;
  /// The device whose kernels the emulator runs (known_device).
  std::string device = "h200";
  /// Of the launches in the emulator. Ranks are OS threads already: 0 of them is one.
  emu::options emulator = {};
};

/// Computes this rank's D. With host ranks it blocks until D is there; on GPUs later failures
/// are thrown by the next call or by group::check(). Throws `rejected` before anything is sent with
/// the codes of accept(), TW0902 if the receive buffer is too small, TW0903 if the rows do not fit
/// the problem and the group, TW0904 if the problem cannot be cut, TW0911 if the group's GPU cannot
/// use an operand's memory. Throws `rejected` later with
/// TW0901 if the ranks have different problems, TW0905 if a rank is late, TW0906 if the group is
/// broken or another rank has refused this call. These three codes, and emu::fault, break the group
/// on all ranks.
void all_gather_gemm(group const& g, gemm_problem const& p, gemm_operands const& o,
                     call_options const& how = {});
/// Several GEMMs of one A, which is gathered once: q, k and v of attention. A, its scales, M and K
/// are equal in all of them (TW0904).
struct gemm_call {
  gemm_problem problem;
  gemm_operands operands;
};
void all_gather_gemm(group const& g, std::vector<gemm_call> const& gemms,
                     call_options const& how = {});
void gemm_reduce_scatter(group const& g, gemm_problem const& p, gemm_operands const& o,
                         call_options const& how = {});
void gemm_all_reduce(group const& g, gemm_problem const& p, gemm_operands const& o,
                     call_options const& how = {});

/// Bytes of a receive buffer that a call needs: group_options::gathered_bytes. Equal on all ranks.
/// via: call_options::via; nothing: of the path that a call takes by default.
std::int64_t gathered_bytes(operation op, gemm_problem const& p, shards const& rows,
                            bool float32_partials = false, std::optional<path> via = {});

/// The type of partial results of a problem whose K is split.
elem partial_type(gemm_problem const& p, bool float32_partials);

}  // namespace tw::dist
