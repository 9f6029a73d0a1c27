// SPDX-License-Identifier: Apache-2.0
// ranks_run.cpp  Shards of a GEMM's operands, and the calls of ranks in the emulator or on a GPU.
#include "tools/command/gemm/ranks_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dist/recorded.hpp"
#include "dist/slice.hpp"
#include "tilewright/arch/emu/cores.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/dist/gemm.hpp"
#include "tilewright/problem/operand.hpp"
#include "tools/command/gemm/ranks_in_time.hpp"
#include "tools/io/output_file.hpp"
#include "tools/io/refuse.hpp"
#include "tools/operand/device_memory.hpp"
#include "tools/operand/device_operands.hpp"
#include "tools/operand/memory.hpp"
#include "tools/request/family_choice.hpp"

namespace tw {
namespace {

using dist::extent;
using dist::operation;
using dist::range;
using dist::shards;

/// As even as whole units allow.
shards divide(std::int64_t total, int ranks, std::int64_t unit) {
  shards const units = shards::even(divide_up(total, unit), ranks);
  std::vector<std::int64_t> sizes;
  for (int r = 0; r < ranks; ++r) {
    std::int64_t const begin = std::min(total, units.of(r).begin * unit);
    sizes.push_back(std::min(total, units.of(r).end() * unit) - begin);
  }
  return shards(sizes);
}

/// Rows of A or columns of B that share a scale or a tile of scales.
std::int64_t unit_of_outer(std::optional<scale_desc> const& s) {
  if (!s) return 1;
  return s->tiled ? scale_tile_rows : std::max<std::int64_t>(1, s->block_outer);
}
/// Elements of K that share a scale, an adjacent group of scales, or a byte.
std::int64_t unit_of_k(gemm_problem const& p) {
  std::int64_t unit = packs_in_pairs(p.a.type) ? 2 : 1;
  for (role const x : a_and_b)
    if (auto const& s = scale(p, x); s && s->block_k > 0)
      unit = std::max(unit, s->block_k * (s->tiled ? scale_tile_blocks : s->packed_k));
  return unit;
}

struct rank_shards {
  shards rows, parts;  // parts: columns of B, or K
};
rank_shards shards_of(rank_request const& r, gemm_problem const& p) {
  std::int64_t const gate = p.epilogue.gate == gating::none ? 1 : 2;
  return r.split_k ? rank_shards{shards::even(p.m, r.ranks), divide(p.k, r.ranks, unit_of_k(p))}
                   : rank_shards{divide(p.m, r.ranks, unit_of_outer(p.scale_a)),
                                 divide(p.n, r.ranks, std::max(gate, unit_of_outer(p.scale_b)))};
}

/// The operands of one rank, in the memory of the whole ones.
dist::gemm_slice slice_of_rank(operation op, gemm_problem const& p, gemm_operands const& o,
                               rank_shards const& by, int rank) {
  auto const split = splits_k(op) ? extent::k : extent::n;
  dist::gemm_slice s = slice_of(p, o, split, by.parts.of(rank));
  gemm_operands const rows = slice_of(p, o, extent::m, by.rows.of(rank)).operands;
  for (operand_row const& x : operand_rows) {
    bool const of_a = x.is == role::a || x.is == role::scale_a;
    bool const of_b = x.is == role::b || x.is == role::scale_b;
    bool const of_factors = of_a || of_b || x.kind == operand_kind::second_level;
    bool const from_rows = op == operation::all_gather_gemm ? of_a : !of_factors;
    if (op != operation::gemm_all_reduce && from_rows)
      set_address(s.operands, x.is, address(rows, x.is));
  }
  return s;
}

std::string sizes_text(shards const& s) {
  std::string text;
  for (int r = 0; r < s.ranks(); ++r) text += fmt::format("{}{}", r == 0 ? "" : "+", s.of(r).size);
  return text;
}

/// The plan of a rank's largest piece, for the report.
gemm_plan plan_of_piece(gemm_request const& r, gemm_problem const& p, gemm_operands const& o,
                        rank_shards const& by, device const& dev) {
  gemm_problem q = p;
  if (r.ranks.via != dist::path::serial) q.m = by.rows.largest();
  (r.ranks.split_k ? q.k : q.n) = by.parts.largest();
  if (r.ranks.split_k) {
    q.alpha = 1, q.beta = 0;
    q.c.reset(), q.aux.reset();
    q.epilogue = {};
    q.d.type = dist::partial_type(p, !r.ranks.partials_of_d);
    q.d.pitch_elems = q.n;
  }
  gemm_plan plan = plan_gemm(q, o, dev);
  plan.problem = p;  // of which the report is
  return plan;
}

/// D and the auxiliary output of a rank of an all-reduce: each has all rows.
class outputs_of_rank {
 public:
  outputs_of_rank(gemm_files const& files, bool on_gpu) : on_gpu_(on_gpu) {
    for (operand_desc const& x : operands_of(files.problem())) {
      if (!x.written) continue;
      bool const aux = x.is == role::aux;
      host_.emplace_back((aux ? files.aux_shape() : files.d_shape()).size());
      is_.push_back(x.is);
      if (on_gpu)
        on_device_.push_back(
            std::make_unique<device_matrix>(view_of(files.problem(), x, host_.back().data())));
    }
  }
  void put(gemm_operands& o) const {
    for (std::size_t i = 0; i < is_.size(); ++i)
      set_address(o, is_[i],
                  on_gpu_ ? on_device_[i]->data() : static_cast<void const*>(host_[i].data()));
  }
  /// Does D have these bits?
  bool equals(void const* d, std::size_t bytes) {
    for (std::size_t i = 0; i < is_.size(); ++i)
      if (is_[i] == role::d) {
        if (on_gpu_) on_device_[i]->download(host_[i].data());
        return std::memcmp(host_[i].data(), d, bytes) == 0;
      }
    return true;
  }

 private:
  bool on_gpu_;
  std::vector<role> is_;
  std::vector<host_buffer> host_;
  std::vector<std::unique_ptr<device_matrix>> on_device_;
};

void call(operation op, dist::group const& g, dist::gemm_slice const& s,
          dist::call_options const& how) {
  if (op == operation::all_gather_gemm)
    dist::all_gather_gemm(g, s.problem, s.operands, how);
  else if (op == operation::gemm_reduce_scatter)
    dist::gemm_reduce_scatter(g, s.problem, s.operands, how);
  else
    dist::gemm_all_reduce(g, s.problem, s.operands, how);
}

/// Virtual ranks on the current GPU: the second of two calls of all ranks, in seconds.
double call_on_gpu(operation op, std::vector<dist::group> const& groups,
                   std::vector<dist::gemm_slice>& of_rank, dist::call_options const& how) {
  std::size_t const ranks = groups.size();
  std::vector<std::unique_ptr<device_stream>> streams;
  std::vector<std::unique_ptr<device_workspace>> workspaces;
  for (dist::gemm_slice& s : of_rank) {
    streams.push_back(std::make_unique<device_stream>());
    workspaces.push_back(std::make_unique<device_workspace>());
    s.operands.workspace = workspaces.back()->data();
    s.operands.workspace_bytes = device_workspace::size_bytes;
  }
  double seconds = 0;
  std::barrier all(static_cast<std::ptrdiff_t>(ranks));
  dist::run_ranks(groups, [&](dist::group const& g) {
    struct leaves {
      std::barrier<>& of;
      ~leaves() { of.arrive_and_drop(); }
    } const at_end{all};
    auto const i = static_cast<std::size_t>(g.rank());
    dist::call_options mine = how;
    mine.stream = *streams[i];
    for (int run = 0; run < 2; ++run) {
      all.arrive_and_wait();
      auto const start = std::chrono::steady_clock::now();
      call(op, g, of_rank[i], mine);
      streams[i]->synchronize();
      g.check();
      all.arrive_and_wait();
      if (i == 0)
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
  });
  return seconds;
}

/// Draws the recorded acts; returns a line for the report.
std::string write_picture(gemm_request const& r, gemm_problem const& p,
                          dist::call_options const& how,
                          std::vector<dist::recorded_acts> const& acts) {
  device const& whole = known_device(how.device);
  int const sms = emulated_sms(how.emulator);
  std::string const svg = ranks_svg({r.ranks.operation(), r.ranks.via, p.m, p.n, p.k, whole.name,
                                     sms, whole.sm_count, rates_of(whole, sms)},
                                    acts);
  output_file file(r.timeline);
  file.write(std::as_bytes(std::span(svg)));
  file.commit();
  return fmt::format("timeline {}: the acts of {} ranks with {} SMs, in cycles of the model\n",
                     r.timeline, acts.size(), sms);
}

}  // namespace

void check_ranks(gemm_request const& r) {
  if (!r.ranks.any()) return;
  check_rank_options(r.ranks);
  // Before CUDA starts: each rank has streams that must not wait for other streams.
  if (r.device == device_choice::gpu) setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  if (r.check && r.ranks.split_k && r.ranks.partials_of_d)
    refuse("TW0615", "command line", "--check with --partials d", "--partials f32 with it",
           "the error bound is proven for partial results in float32");
  if (r.scale_d.any())
    refuse("TW0615", "command line", "--scale-d with --ranks", "one of them",
           "`tilewright quantize` computes the scales of a D in a file");
}

gemm_run run_over_ranks(gemm_request const& r, gemm_files const& files, gemm_data& data,
                        std::string& said) {
  bool const on_gpu = r.device == device_choice::gpu && choose_gpu(r.device);
  std::optional<copied_operands<>> on_device;
  if (on_gpu) on_device.emplace(files.problem(), data.operands());
  gemm_problem const& p = on_gpu ? on_device->problem() : files.problem();
  gemm_operands const o = on_gpu ? on_device->operands() : data.operands();
  operation const op = r.ranks.operation();
  int const ranks = r.ranks.ranks;
  rank_shards const by = shards_of(r.ranks, p);
  int const threads = r.threads > 0 ? r.threads : emu::usable_cores();
  dist::call_options how{.rows = by.rows,
                         .via = r.ranks.via,
                         .float32_partials = !r.ranks.partials_of_d,
                         .device = std::string(device_of(r.arch, r.family))};
  how.emulator.os_threads = std::max(1, threads / ranks);
  bool const records = !r.timeline.empty();
  if (records && r.threads == 0) how.emulator.os_threads = 1;  // the same picture on each machine
  how.emulator.hazards = r.hazards;
  how.emulator.catch_crashes = false;

  // Of an all-reduce each rank has a separate D; the first one is the result.
  bool const all_rows = op == operation::gemm_all_reduce;
  std::vector<std::unique_ptr<outputs_of_rank>> outputs;
  std::vector<dist::gemm_slice> of_rank;
  std::int64_t need = 0;
  for (int i = 0; i < ranks; ++i) {
    of_rank.push_back(slice_of_rank(op, p, o, by, i));
    need = std::max(need, dist::gathered_bytes(op, of_rank.back().problem, by.rows,
                                               how.float32_partials, how.via));
    if (!all_rows || i == 0) continue;
    outputs.push_back(std::make_unique<outputs_of_rank>(files, on_gpu));
    outputs.back()->put(of_rank.back().operands);
  }
  gemm_run run;
  run.on_gpu = on_gpu;
  run.device = on_gpu ? gpu().name : "emulator";
  std::vector<emu::statistics> counts(static_cast<std::size_t>(ranks));
  if (on_gpu) {
    constexpr double limit_s = 60;
    auto const groups =
        dist::group::virtual_ranks_on_gpu(ranks, {.gathered_bytes = need, .timeout_s = limit_s});
    run.plan = plan_of_piece(r, p, of_rank[0].operands, by, gpu_device());
    run.seconds = call_on_gpu(op, groups, of_rank, how);
    on_device->download();
  } else {
    require_memory(bytes{2 * need * ranks}, "receive buffers of the ranks");
    constexpr double no_limit_s = 1e9;  // a rank that fails ends the waits of the others
    auto const groups =
        dist::group::virtual_ranks(ranks, {.gathered_bytes = need, .timeout_s = no_limit_s});
    run.threads = how.emulator.os_threads * ranks;
    run.plan = plan_of_piece(r, p, o, by, emulated_device(how.emulator, how.device));
    auto const start = std::chrono::steady_clock::now();
    std::vector<dist::recorded_acts> acts(groups.size());
    dist::run_ranks(groups, [&](dist::group const& g) {
      auto const i = static_cast<std::size_t>(g.rank());
      dist::call_options mine = how;
      mine.emulator.counted = &counts[i];
      call(op, records ? dist::recorded(g, op, of_rank[i], acts[i]) : g, of_rank[i], mine);
    });
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (records) said = write_picture(r, files.problem(), how, acts);
    run.hazards = r.hazards;
    run.ordinary_accesses = counts[0].plain_accesses_seen;
  }
  run.ranks = ranks_done{ranks, op, r.ranks.via, sizes_text(by.rows), sizes_text(by.parts)};
  if (r.ranks.split_k) run.ranks->partials = dist::partial_type(p, how.float32_partials);
  auto const bytes_of_d = static_cast<std::size_t>(files.d_shape().size().count);
  for (auto const& x : outputs)
    run.ranks->equal = x->equals(data.operands().d, bytes_of_d) && run.ranks->equal;
  return run;
}

}  // namespace tw
