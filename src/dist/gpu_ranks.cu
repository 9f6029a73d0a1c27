// SPDX-License-Identifier: Apache-2.0
// gpu_ranks.cu  Ranks on GPUs: GEMMs and waits on the caller's stream, copies on a stream of the
//               rank, flags by copies of 8 bytes, which no kernel can delay.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "dispatch/launch/on_device.hpp"
#include "dispatch/plan/gated.hpp"
#include "dispatch/plan/plan_cache.hpp"
#include "dist/enqueued_sets.hpp"
#include "dist/failure.hpp"
#include "dist/gpu_memory.hpp"
#include "dist/gpu_parts.hpp"
#include "dist/membership.hpp"
#include "dist/nccl.hpp"
#include "dist/nccl_collectives.hpp"
#include "tilewright/arch/cuda/launch.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/kernel/ranks/begin_call.hpp"
#include "tilewright/kernel/ranks/exchange.hpp"
#include "tilewright/kernel/ranks/wait.hpp"

namespace tw::dist {
namespace {

int current_ordinal() {
  int ordinal = 0;
  must(cudaGetDevice(&ordinal), "current device");
  return ordinal;
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  must(cudaDeviceGetAttribute(&value, which, device), "attribute of a device");
  return value;
}

class gpu_rank final : public group::membership {
 public:
  /// `memory` keeps the arenas alive; `nccl`: the arena is of NCCL; `sets`: of virtual ranks.
  gpu_rank(int rank, std::vector<void*> const& arenas, group_options const& options,
           std::shared_ptr<void> memory, std::shared_ptr<nccl_arena> nccl,
           std::shared_ptr<enqueued_sets> sets = nullptr)
      : membership(rank, static_cast<int>(arenas.size()), options),
        memory_(std::move(memory)),
        nccl_(std::move(nccl)),
        sets_(std::move(sets)),
        device_(current_ordinal()),
        reads_host_(attribute(cudaDevAttrPageableMemoryAccess, device_) != 0) {
    if (sets_) sets_->add_report(report_.get());
    view_.rank = rank, view_.ranks = ranks();
    view_.report = report_.get();
    view_.timeout_ns = static_cast<std::uint64_t>(std::min(options.timeout_s, 1e9) * 1e9);
    for (int r = 0; r < ranks(); ++r) {
      view_.heads[r] = static_cast<gpu_arena_head*>(arenas[static_cast<std::size_t>(r)]);
      if (view_.heads[r] == nullptr) unreached_.push_back(r);
      // NCCL refuses two ranks on one GPU.
      shares_gpu_ = shares_gpu_ || (r != rank && !nccl_ && (sets_ || is_here(view_.heads[r])));
    }
    std::uint64_t const epoch = options.epoch;
    must(cudaMemcpy(&own().epoch, &epoch, sizeof epoch, cudaMemcpyHostToDevice),
         "copy of the epoch to an arena");
    if (nccl_) collectives_.emplace(*nccl_, &stream_);
    load_kernels();
  }

  ~gpu_rank() override {
    if (sets_) sets_->remove_report(report_.get());
    try {
      on_device const here(device_);
      // The calls of this rank end first: their waits have a time limit.
      static_cast<void>(cudaEventSynchronize(ended_));
      static_cast<void>(cudaStreamSynchronize(copies_));
      *word_ = 1;
      for (int peer = 0; peer < ranks(); ++peer)
        if (peer != rank() && view_.heads[peer] != nullptr)
          static_cast<void>(cudaMemcpyAsync(&view_.heads[peer]->left[rank()], word_.get(),
                                            sizeof *word_, cudaMemcpyDefault, urgent_));
      static_cast<void>(cudaStreamSynchronize(urgent_));
      static_cast<void>(cudaGetLastError());
      nccl_.reset();
      memory_.reset();
    } catch (rejected const&) {  // the driver has ended: so has its memory
    }
  }

  bool on_gpu() const override { return true; }
  int device() const override { return device_; }
  bool shares_gpu() const override { return shares_gpu_; }
  std::vector<int> unreached() const override { return unreached_; }
  collectives* nccl() override { return collectives_ ? &*collectives_ : nullptr; }

  std::shared_ptr<gemm_plan const> plan(gemm_problem const& p, gemm_operands const& o,
                                        call_options const&) const override {
    check_device();
    return cached_plan(p, o, gpu_device(), device_);
  }

  std::shared_ptr<gemm_plan const> plan_gated(gemm_problem const& p, gemm_operands const& o,
                                              call_options const&) const override {
    check_device();
    return cached_gated_plan(p, o, gpu_device(), device_);
  }

  void check_memory(std::vector<operand_address> const& list,
                    call_options const& how) const override {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    must(cudaStreamIsCapturing(how.stream, &status), "stream of a call of a group");
    bool const captured = status != cudaStreamCaptureStatusNone;
    check_places(list, {device_, reads_host_, captured}, memory_of_gpu());
  }

  void begin(std::string const& problem, call_options const& how, beginning by) override {
    check_device();
    if (in_call_.exchange(true))
      throw rejected({"TW0903", "call of rank " + std::to_string(rank()),
                      "another call of this rank, which has not ended", "one call at a time",
                      "each rank calls from one thread"});
    try {
      refuse_if_reported();
      ++calls_;
      count_call();
      view_.call = call_number(), view_.refused = refused_before();
      stream_ = how.stream;
      copies_used_ = false;
      problem_ = problem + ", buffer " + std::to_string(calls_ % 2);
      if (ranks() == 1 || by == beginning::by_exchange) return;
      begin_call_params p = {};
      p.at = view_;
      p.digest = digest_of(problem_);
      p.buffer = calls_ % 2;
      p.wait = by == beginning::together ? 1 : 0;
      put_text(p.text, problem_);
      // NCCL's kernels wait for the ranks themselves: the launch runs at the same time.
      if (by == beginning::together) results_are_there();
      must(launch<begin_call_kernel>(1, p, by == beginning::together ? copies_ : stream_),
           "first launch of a call of a group");
      if (by == beginning::alone) results_are_there();
    } catch (...) {
      in_call_ = false;
      throw;
    }
  }

  void end(std::string const& failed) override {
    if (ranks() > 1) {
      cudaError_t e = cudaSuccess;
      if (copies_used_) e = cudaEventRecord(sent_, copies_);
      if (copies_used_ && e == cudaSuccess) e = cudaStreamWaitEvent(stream_, sent_, 0);
      cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
      if (e == cudaSuccess) e = cudaStreamIsCapturing(stream_, &capture);
      if (e == cudaSuccess && capture == cudaStreamCaptureStatusNone)
        e = cudaEventRecord(ended_, stream_);
      if (!failed.empty())
        break_all("rank " + std::to_string(rank()) + " failed in a call: " + failed);
      in_call_ = false;
      if (failed.empty()) must(e, "end of a call of a group");
      return;
    }
    in_call_ = false;
  }

  std::byte* buffer(int rank) const override { return buffer_of(calls_, rank); }
  std::byte* next_buffer(int rank) const override { return buffer_of(calls_ + 1, rank); }

  void multiply(gemm_plan const& plan, gemm_operands const& o) override { gemm(plan, o, stream_); }

  void multiply_gated(gemm_plan const& plan, gemm_operands const& o, gate_form gate) override {
    gate.at = view_;
    gemm(plan, o, gate, stream_);
  }

  void add(add_partials_params const& p) override {
    must(launch<add_partials_kernel>(add_partials_kernel::ctas(p), p, stream_),
         "launch that adds partial results");
  }

  void copy(void const* from, void* to, lines const& l) override {
    enqueue(from, to, l, stream_, "copy of rows");
  }

  void results_are_there() override {
    copies_used_ = true;
    must(cudaEventRecord(ready_, stream_), "event of a call");
    must(cudaStreamWaitEvent(copies_, ready_, 0), "event of a call");
  }

  void send(void const* from, std::byte* to, lines const& l) override {
    enqueue(from, to, l, copies_, "copy of rows to a peer");
  }

  void set(rank_flag kind, int peer) override {
    must(cudaMemcpyAsync(&view_.heads[peer]->flags[static_cast<int>(kind)][rank()], &own().outgoing,
                         sizeof(std::uint64_t), cudaMemcpyDeviceToDevice, copies_),
         "copy of a flag to a peer");
    if (sets_) sets_->add(kind, rank(), peer);
  }

  void wait(rank_flag kind, std::vector<int> const& from, awaited const& before) override {
    if (from.empty()) return;
    for (int const r : from)
      if (sets_) wait_until_enqueued(kind, r);
    wait_for_ranks_params p = {};
    p.at = view_;
    for (int const r : from) p.from |= 1U << r;
    p.flag = kind, p.before = {before.act, before.rows.begin, before.rows.size};
    must(launch<wait_for_ranks_kernel>(1, p, stream_), "launch that waits for ranks");
  }

  void run(exchange const& x) override {
    exchange_params p = {};
    p.at = view_;
    p.digest = digest_of(problem_);
    p.buffer = calls_ % 2;
    put_text(p.text, problem_);
    constexpr std::int64_t bytes_of_cta = 8192;
    // The CTAs of virtual ranks leave SMs to the GEMMs for which they wait.
    int const most_ctas = sets_ ? std::max(1, exchange_ctas / ranks()) : exchange_ctas;
    p.ctas = static_cast<int>(std::clamp<std::int64_t>(x.most_bytes / bytes_of_cta, 1, most_ctas));
    p.unit = x.unit;
    p.before = {x.before.act, x.before.rows.begin, x.before.rows.size};
    for (int r = 0; r < ranks(); ++r) {
      placed_lines const& c = x.to[static_cast<std::size_t>(r)];
      p.to[r] = {c.from,         buffer(r) + c.offset,         c.of.from_stride,
                 c.of.to_stride, static_cast<int>(c.of.count), static_cast<int>(c.of.bytes)};
    }
    p.adds = x.sum.has_value();
    if (x.sum) p.sum = *x.sum;
    for (int r = 0; r < ranks(); ++r)
      if (sets_ && r != rank()) sets_->add(rank_flag::begun, rank(), r);
    for (int r = 0; r < ranks(); ++r)
      if (sets_ && r != rank()) wait_until_enqueued(rank_flag::begun, r);
    constexpr bool after_prologue = true;
    must(launch<exchange_kernel>(p.ctas, p, stream_, after_prologue),
         "launch that exchanges small results");
  }

  void tell_refusal(std::uint64_t refusals, std::string const& why) override {
    on_device const here(device_);
    std::scoped_lock const lock(stopping_);
    // The caller may capture: its graph must not contain these copies.
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
    put_text(refusal_->text, why);
    refusal_->word = refusals;
    static_cast<void>(cudaMemcpyAsync(&own().refusal[static_cast<std::uint32_t>(refusals) % 2],
                                      &refusal_->text, sizeof(call_text), cudaMemcpyDefault,
                                      urgent_));
    for (int peer = 0; peer < ranks(); ++peer)
      if (peer != rank() && view_.heads[peer] != nullptr)
        static_cast<void>(cudaMemcpyAsync(&view_.heads[peer]->refusals[rank()].value,
                                          &refusal_->word, sizeof refusals, cudaMemcpyDefault,
                                          urgent_));
    static_cast<void>(cudaStreamSynchronize(urgent_));
    static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
    static_cast<void>(cudaGetLastError());
    if (sets_) sets_->refuse(rank(), refusals);
  }

  void break_all(std::string const& why) override {
    if (sets_) sets_->stop();
    on_device const here(device_);
    std::scoped_lock const lock(stopping_);
    failure_record& r = *stop_;
    if (r.whole != 0) return;
    r.why = rank_failure::stopped;
    r.by = r.of = static_cast<std::uint32_t>(rank());
    put_text(r.text[0], why);
    r.whole = 1;
    // By a copy engine: a kernel might wait for room. The word `whole` comes after the rest.
    constexpr std::size_t skip = sizeof r.whole;
    for (int peer = 0; peer < ranks(); ++peer) {
      if (view_.heads[peer] == nullptr) continue;
      auto* const to = reinterpret_cast<std::byte*>(&view_.heads[peer]->failures[1][rank()]);
      auto const* const from = reinterpret_cast<std::byte const*>(&r);
      static_cast<void>(
          cudaMemcpyAsync(to + skip, from + skip, sizeof r - skip, cudaMemcpyDefault, urgent_));
      static_cast<void>(cudaMemcpyAsync(to, from, skip, cudaMemcpyDefault, urgent_));
    }
    static_cast<void>(cudaStreamSynchronize(urgent_));
    static_cast<void>(cudaGetLastError());
    stopped_ = true;
  }

  bool broken() const override { return found().why != rank_failure::none; }

  void check() const override {
    if (failure_text const f = found(); f.why != rank_failure::none)
      refuse_failure(f, options().timeout_s);
  }

 private:
  gpu_arena_head& own() const { return *view_.heads[rank()]; }
  std::byte* buffer_of(std::uint32_t call, int r) const {
    return reinterpret_cast<std::byte*>(view_.heads[r]) + gpu_head_bytes() +
           call % 2 * buffer_bytes(options());
  }

  void wait_until_enqueued(rank_flag kind, int from) const {
    sets_->wait(kind, from, rank(), call_number(), refused_before(), options().timeout_s);
  }

  /// Does memory of this or another process lie on this rank's GPU?
  bool is_here(void const* at) const {
    memory_place const place = memory_of_gpu().place(at);
    return place.kind == memory_kind::device && place.device == device_;
  }

  void check_device() const {
    int const now = current_ordinal();
    if (now != device_)
      throw rejected({"TW0910", "current device", std::to_string(now),
                      std::to_string(device_) + ", on which the group was made", "cudaSetDevice"});
  }

  /// A kernel that is loaded in a call would wait for launches that wait for peers.
  static void load_kernels() {
    cudaFuncAttributes a{};
    for (void const* const kernel : {reinterpret_cast<void const*>(&entry<begin_call_kernel>),
                                     reinterpret_cast<void const*>(&entry<wait_for_ranks_kernel>),
                                     reinterpret_cast<void const*>(&entry<exchange_kernel>),
                                     reinterpret_cast<void const*>(&entry<add_partials_kernel>)})
      must(cudaFuncGetAttributes(&a, kernel), "kernels of a group");
  }

  static void enqueue(void const* from, void* to, lines const& l, cudaStream_t on,
                      char const* what) {
    if (l.count <= 0 || l.bytes <= 0) return;
    auto const bytes = static_cast<std::size_t>(l.bytes), count = static_cast<std::size_t>(l.count);
    must(l.adjacent() ? cudaMemcpyAsync(to, from, bytes * count, cudaMemcpyDeviceToDevice, on)
                      : cudaMemcpy2DAsync(to, static_cast<std::size_t>(l.to_stride), from,
                                          static_cast<std::size_t>(l.from_stride), bytes, count,
                                          cudaMemcpyDeviceToDevice, on),
         what);
  }

  static bool whole(failure_record const& r) {
    return std::atomic_ref<std::uint64_t const>(r.whole).load(std::memory_order_acquire) != 0;
  }

  /// A failure that a launch of this rank, or its host, has reported: without a look at the device.
  failure_text reported() const {
    if (whole(*report_)) return text_of(*report_, rank());
    if (stopped_) return text_of(*stop_, rank());
    return {};
  }
  void refuse_if_reported() const {
    if (failure_text const f = reported(); f.why != rank_failure::none)
      refuse_failure(f, options().timeout_s);
  }

  /// As reported(), with the failures that peers have written to the arena.
  failure_text found() const {
    if (failure_text f = reported(); f.why != rank_failure::none) return f;
    on_device const here(device_);
    std::scoped_lock const lock(stopping_);
    constexpr std::size_t bytes = sizeof(seen_->failures);
    must(cudaMemcpyAsync(&seen_->failures, &own().failures, bytes, cudaMemcpyDefault, urgent_),
         "copy of failures from an arena");
    must(cudaStreamSynchronize(urgent_), "copy of failures from an arena");
    for (auto const& of : seen_->failures)
      for (failure_record const& r : of)
        if (r.whole != 0) return text_of(r, rank());
    return {};
  }

  std::shared_ptr<void> memory_;
  std::shared_ptr<nccl_arena> nccl_;
  std::optional<nccl_collectives> collectives_;
  std::shared_ptr<enqueued_sets> sets_;
  int device_;
  ranks_view view_ = {};
  bool reads_host_, shares_gpu_ = false;
  std::vector<int> unreached_;
  pinned<failure_record> report_, stop_;
  struct failures_seen {
    failure_record failures[2][arena_ranks];
  };
  pinned<failures_seen> seen_;
  struct refusal_words {
    std::uint64_t word;
    call_text text;
  };
  pinned<refusal_words> refusal_;
  pinned<std::uint64_t> word_;
  mutable std::mutex stopping_;
  std::atomic<bool> stopped_ = false;
  stream copies_, urgent_;
  event ready_, sent_, ended_;
  cudaStream_t stream_ = nullptr;
  std::uint32_t calls_ = 0;
  std::string problem_;       // of this call
  bool copies_used_ = false;  // in this call
  std::atomic<bool> in_call_ = false;
};

void check_gpu() {
  if (gpu_info const& here = gpu(); !here.usable) throw rejected(here.why_not);
}

}  // namespace

std::int64_t group::gpu_arena_bytes(group_options const& options) {
  return bytes_of_gpu_arena(options);
}

group group::from_gpu_addresses(int rank, std::vector<void*> const& arenas,
                                group_options const& options) {
  check_gpu();
  check_arenas(rank, arenas, options);
  check_arena_places(rank, arenas, current_ordinal(), gpu_arena_bytes(options),
                     memory_of_gpu_with_sizes());
  return group(std::make_shared<gpu_rank>(rank, arenas, options, nullptr, nullptr));
}

group group::from_nccl(ncclComm_t comm, group_options const& options,
                       std::string const& nccl_library) {
  check_gpu();
  nccl_functions const nccl = find_nccl(nccl_library);
  int device = 0;
  check_nccl(nccl, nccl.comm_cu_device(comm, &device), "ncclCommCuDevice", comm);
  if (int const now = current_ordinal(); now != device)
    throw rejected({"TW0910", "current device", std::to_string(now),
                    std::to_string(device) + ", the communicator's", "cudaSetDevice"});
  auto const arena = std::make_shared<nccl_arena>(nccl, comm, options, memory_of_gpu());
  return group(
      std::make_shared<gpu_rank>(arena->rank(), arena->addresses(), options, nullptr, arena));
}

std::vector<group> group::virtual_ranks_on_gpu(int ranks, group_options const& options) {
  check_gpu();
  check_group(ranks, options);
  std::int64_t const bytes = round_up(gpu_arena_bytes(options), arena_alignment);
  void* all = nullptr;
  must(cudaMalloc(&all, static_cast<std::size_t>(bytes * ranks)), "arenas of virtual ranks");
  std::shared_ptr<void> const memory(all, [](void* p) { static_cast<void>(cudaFree(p)); });
  must(cudaMemset(all, 0, static_cast<std::size_t>(bytes * ranks)), "arenas of virtual ranks");
  must(cudaDeviceSynchronize(), "arenas of virtual ranks");
  std::vector<void*> arenas;
  for (int r = 0; r < ranks; ++r) arenas.push_back(static_cast<std::byte*>(all) + r * bytes);
  auto const sets = std::make_shared<enqueued_sets>();
  std::vector<group> list;
  for (int r = 0; r < ranks; ++r)
    list.push_back(group(std::make_shared<gpu_rank>(r, arenas, options, memory, nullptr, sets)));
  return list;
}

}  // namespace tw::dist
