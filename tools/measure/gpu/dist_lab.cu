// SPDX-License-Identifier: Apache-2.0
// dist_lab.cu  A thread for each GPU; all threads take each step of a measurement together.
#include "tools/measure/dist_lab.hpp"

#include <barrier>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <thread>

#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/dist/gemm.hpp"
#include "tools/measure/gpu/cublaslt.hpp"
#include "tools/measure/gpu/device.hpp"
#include "tools/measure/gpu/nccl_ranks.hpp"
#include "tools/measure/support.hpp"

namespace tw::bench {
namespace {

using dist::operation;

constexpr int nccl_bf16 = 9, nccl_sum = 0;
constexpr std::int64_t workspace_size = std::int64_t{96} << 20;

TW_HD std::uint32_t hash_of(std::uint64_t i, std::uint32_t seed) {
  std::uint64_t x = i * 0x9E3779B97F4A7C15U + seed * 0xD1B54A32D192ED03U;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93U;
  return static_cast<std::uint32_t>(x ^ x >> 32);
}
/// About normal, deviation 1; or an integer of -2 to 2.
TW_HD float element(std::uint64_t i, std::uint32_t seed, bool integer) {
  std::uint32_t const h = hash_of(i, seed);
  if (integer) return static_cast<float>(static_cast<int>(h % 5) - 2);
  float const sum = static_cast<float>((h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24));
  return (sum / 255.0F - 2.0F) * 1.7F;
}

__global__ void fill_elements(std::uint16_t* to, std::uint64_t count, std::uint32_t seed,
                              bool integer) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    to[i] = to_bf16(element(i, seed, integer)).bits;
}

/// path::direct is for small M, path::gated for an all-gather. One rank has one path.
std::vector<dist::path> paths_of(dist_shape const& s, int ranks) {
  if (ranks == 1) return {dist::path::pieces};
  std::vector<dist::path> list = {dist::path::serial, dist::path::two_pieces, dist::path::pieces};
  if (s.m < 512) list.push_back(dist::path::direct);
  if (s.op == operation::all_gather_gemm) list.push_back(dist::path::gated);
  return list;
}

std::uint32_t seed_of_a(int rank) { return 100 + static_cast<std::uint32_t>(rank); }
std::uint32_t seed_of_b(int rank) { return 200 + static_cast<std::uint32_t>(rank); }

class stream_owner {
 public:
  stream_owner() { check(cudaStreamCreateWithFlags(&at, cudaStreamNonBlocking), "stream"); }
  ~stream_owner() { cudaStreamDestroy(at); }
  stream_owner(stream_owner const&) = delete;
  stream_owner& operator=(stream_owner const&) = delete;
  cudaStream_t at = nullptr;
};

/// A method of a rank: calls that are enqueued on its stream.
struct rank_method {
  std::string name;
  bool computes;
  std::function<void()> enqueue;
  cudaGraphExec_t graph = nullptr;  // two calls
};

/// A rank's operands and methods of one layer.
class rank_layer {
 public:
  rank_layer(dist_shape const& s, dist::group const& g, dist::nccl_functions const& nccl,
             ncclComm_t comm, cublaslt const* library)
      : s_(s),
        g_(g),
        nccl_(nccl),
        comm_(comm),
        rank_(g.rank()),
        ranks_(g.ranks()) {
    bool const gathers = s.op == operation::all_gather_gemm;
    rows_ = dist::shards::even(s.m, ranks_);
    std::int64_t const own = rows_.of(rank_).size;
    a_rows_ = gathers ? own : s.m;
    d_rows_ = s.op == operation::gemm_reduce_scatter ? own : s.m;
    a_ = device_buffer(bytes(a_rows_, s.k)), b_ = device_buffer(bytes(s.n, s.k));
    d_ = device_buffer(bytes(d_rows_, s.n));
    whole_ = device_buffer(gathers ? bytes(s.m, s.k) : bytes(s.m, s.n));
    work_ = device_buffer(static_cast<std::size_t>(workspace_size));
    check(cudaMemset(work_.data(), 0, work_.bytes()), "workspace");
    check(cudaMemset(whole_.data(), 0, whole_.bytes()), "operands");
    problem_ = {};
    problem_.m = s.m, problem_.n = s.n, problem_.k = s.k;
    problem_.a = {elem::bf16, order::row_major, s.k};
    problem_.b = {elem::bf16, order::col_major, s.k};
    problem_.d = {elem::bf16, order::row_major, s.n};
    for (dist::path const via : paths_of(s, ranks_))
      methods_.push_back({std::string(name(via)), true, [this, via] { ours(via); }});
    if (library != nullptr) {
      product_.emplace(*library, problem_);
      algorithm_ = product_->algorithms(1)[0];
      methods_.push_back({"NCCL + cuBLASLt", true, [this] { baseline(); }});
      methods_.push_back({"cuBLASLt alone", false,
                          [this] { product_->enqueue(algorithm_, alone(), stream_.at); }});
    }
    methods_.push_back({"GEMM alone", false, [this] { gemm(problem_, alone(), stream_.at); }});
    methods_.push_back({"NCCL alone", false, [this] { exchange(); }});
  }
  ~rank_layer() {
    for (rank_method& m : methods_)
      if (m.graph != nullptr) cudaGraphExecDestroy(m.graph);
  }

  std::vector<rank_method>& methods() { return methods_; }
  cudaStream_t stream() const { return stream_.at; }
  void finish() const { check(cudaStreamSynchronize(stream_.at), "a method"); }

  void fill(bool integers) {
    auto const put = [&](device_buffer const& x, std::uint32_t seed) {
      fill_elements<<<2048, 256, 0, stream_.at>>>(reinterpret_cast<std::uint16_t*>(x.data()),
                                                  x.bytes() / 2, seed, integers);
    };
    put(a_, seed_of_a(rank_)), put(b_, seed_of_b(rank_));
    finish();
  }
  void clear() const { check(cudaMemsetAsync(d_.data(), 0xFF, d_.bytes(), stream_.at), "D"); }

  /// The largest error of sampled elements of D, of integer operands, in units of the bound: each
  /// partial result and the sum are rounded to bf16.
  double error() const {
    constexpr int samples = 256;
    double worst = 0;
    for (std::uint32_t i = 0; i < samples; ++i) {
      std::int64_t const row =
          hash_of(i, 7) % static_cast<std::uint64_t>(std::max<std::int64_t>(d_rows_, 1));
      std::int64_t const col = hash_of(i, 11) % static_cast<std::uint64_t>(s_.n);
      if (d_rows_ == 0) break;
      std::uint16_t bits = 0;
      check(cudaMemcpy(&bits, d_.data() + 2 * (row * s_.n + col), 2, cudaMemcpyDeviceToHost), "D");
      double want = 0, room = 1e-3;
      bool const gathers = s_.op == operation::all_gather_gemm;
      for (int r = 0; r < ranks_; ++r) {
        dist::range const of = rows_.of(r);
        if (gathers && (row < of.begin || row >= of.end())) continue;
        std::int64_t const a_row =
            gathers ? row - of.begin
                    : row + (s_.op == operation::gemm_reduce_scatter ? rows_.of(rank_).begin : 0);
        std::uint32_t const seed_b = seed_of_b(gathers ? rank_ : r);
        double part = 0;
        for (std::int64_t k = 0; k < s_.k; ++k)
          part +=
              double{element(static_cast<std::uint64_t>(a_row * s_.k + k), seed_of_a(r), true)} *
              double{element(static_cast<std::uint64_t>(col * s_.k + k), seed_b, true)};
        want += part, room += std::abs(part) / 256;
      }
      double const got = to_float(bf16{bits});
      room += std::abs(want) / 256;
      worst = std::max(worst, std::isnan(got) ? 1e9 : std::abs(got - want) / room);
    }
    return worst;
  }

 private:
  static std::size_t bytes(std::int64_t rows, std::int64_t cols) {
    return static_cast<std::size_t>(std::max<std::int64_t>(2 * rows * cols, 256));
  }
  gemm_operands operands(void const* a, void* d) const {
    gemm_operands o;
    o.a = a, o.b = b_.data(), o.d = d;
    o.workspace = work_.data(), o.workspace_bytes = workspace_size;
    return o;
  }
  void* whole() const { return whole_.data(); }

  void ours(dist::path via) {
    dist::call_options how;
    how.rows = rows_, how.via = via, how.stream = stream_.at;
    gemm_operands const o = operands(a_.data(), d_.data());
    switch (s_.op) {
      case operation::all_gather_gemm: return all_gather_gemm(g_, problem_, o, how);
      case operation::gemm_reduce_scatter: return gemm_reduce_scatter(g_, problem_, o, how);
      case operation::gemm_all_reduce: break;
    }
    gemm_all_reduce(g_, problem_, o, how);
  }
  /// The GEMM of all rows without an exchange: of the rows of A that were gathered last, or to the
  /// partial result.
  gemm_operands alone() const {
    return s_.op == operation::all_gather_gemm ? operands(whole(), d_.data())
                                               : operands(a_.data(), whole());
  }
  void baseline() {
    if (s_.op == operation::all_gather_gemm) exchange();
    product_->enqueue(algorithm_, alone(), stream_.at);
    if (s_.op != operation::all_gather_gemm) exchange();
  }
  /// NCCL's collective. Rows are divided evenly.
  void exchange() {
    auto const count = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    std::int64_t const own = s_.m / ranks_;
    int result = 0;
    if (s_.op == operation::all_gather_gemm)
      result =
          nccl_.all_gather(a_.data(), whole(), count(own * s_.k), nccl_bf16, comm_, stream_.at);
    else if (s_.op == operation::gemm_reduce_scatter)
      result = nccl_.reduce_scatter(whole(), d_.data(), count(own * s_.n), nccl_bf16, nccl_sum,
                                    comm_, stream_.at);
    else
      result = nccl_.all_reduce(whole(), d_.data(), count(s_.m * s_.n), nccl_bf16, nccl_sum, comm_,
                                stream_.at);
    dist::check_nccl(nccl_, result, "a collective", comm_);
  }

  dist_shape s_;
  dist::group g_;
  dist::nccl_functions const& nccl_;
  ncclComm_t comm_;
  int rank_, ranks_;
  dist::shards rows_;
  std::int64_t a_rows_ = 0, d_rows_ = 0;
  device_buffer a_, b_, d_, whole_, work_;
  gemm_problem problem_;
  std::optional<lt_product> product_;
  lt_algorithm algorithm_ = {};
  stream_owner stream_;
  std::vector<rank_method> methods_;
};

class gpu_dist_lab final : public dist_lab {
 public:
  gpu_dist_lab(dist_bench_options const& o, int ranks, std::int64_t gathered_bytes)
      : options_(o),
        nccl_(ranks) {
    groups_.resize(static_cast<std::size_t>(ranks));
    libraries_.resize(static_cast<std::size_t>(ranks));
    on_ranks([&](int rank) {
      auto const i = static_cast<std::size_t>(rank);
      groups_[i].emplace(dist::group::from_nccl(
          nccl_.comm(rank), {.gathered_bytes = gathered_bytes, .timeout_s = 60}));
      if (o.baseline != "none") libraries_[i] = std::make_unique<cublaslt>(o.cublaslt);
    });
  }

  int ranks() const override { return static_cast<int>(groups_.size()); }
  std::string nccl() const override {
    int const v = nccl_.functions().version;
    return std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." +
           std::to_string(v % 100);
  }
  device_facts facts() const override {
    cudaSetDevice(0);
    device_facts f = measured_device().facts();
    if (libraries_[0] != nullptr)
      f.cublaslt = libraries_[0]->version(), f.cublaslt_path = libraries_[0]->path();
    return f;
  }

  dist_row measure(dist_shape const& s) override {
    dist_row row{s, s.m <= 2048, {}};
    std::barrier all(ranks());
    std::vector<double> of_rank(groups_.size());
    on_ranks([&](int rank) {
      auto const i = static_cast<std::size_t>(rank);
      auto const together = [&] { all.arrive_and_wait(); };
      rank_layer layer(s, *groups_[i], nccl_.functions(), nccl_.comm(rank), libraries_[i].get());
      std::vector<rank_method>& methods = layer.methods();
      if (rank == 0)
        for (rank_method const& m : methods) row.methods.push_back({m.name, {}, 0, m.computes});
      together();
      layer.fill(true);
      for (std::size_t m = 0; m < methods.size(); ++m) {
        layer.clear();
        layer.finish();
        together();
        for (int call = 0; call < 2; ++call) methods[m].enqueue();
        layer.finish();
        groups_[i]->check();
        of_rank[i] = methods[m].computes ? layer.error() : 0;
        together();
        if (rank == 0) row.methods[m].error = *std::max_element(of_rank.begin(), of_rank.end());
        together();
      }
      layer.fill(false);
      if (row.in_graph)
        for (rank_method& m : methods) capture(m, layer.stream());
      together();
      settle(methods, layer);
      time_methods(methods, layer, rank, together, of_rank, row);
      together();
    });
    return row;
  }

 private:
  using step = std::function<void()>;

  void on_ranks(std::function<void(int)> const& work) {
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks(); ++r)
      threads.emplace_back([&, r] {
        try {
          check(cudaSetDevice(r), "cudaSetDevice");
          work(r);
        } catch (rejected const& e) {
          // The other ranks wait for this one: the watchdog would end them.
          std::fprintf(stderr, "rank %d: %s\n", r, e.what());
          std::_Exit(static_cast<int>(exit_status::refused));
        }
      });
    for (std::thread& t : threads) t.join();
  }

  static void capture(rank_method& m, cudaStream_t stream) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    for (int call = 0; call < 2; ++call) m.enqueue();
    check(cudaStreamEndCapture(stream, &graph), "capture");
    check(cudaGraphInstantiate(&m.graph, graph, 0), "graph");
    check(cudaGraphDestroy(graph), "graph");
  }

  static void run_two(rank_method& m, cudaStream_t stream) {
    if (m.graph != nullptr) {
      check(cudaGraphLaunch(m.graph, stream), "graph");
      return;
    }
    for (int call = 0; call < 2; ++call) m.enqueue();
  }

  /// 0.3 s of GEMMs: clocks settle.
  static void settle(std::vector<rank_method>& methods, rank_layer const& layer) {
    using clock = std::chrono::steady_clock;
    auto const start = clock::now();
    std::size_t const gemm_alone = methods.size() - 2;
    while (std::chrono::duration<double>(clock::now() - start).count() < 0.3) {
      for (int i = 0; i < 5; ++i) run_two(methods[gemm_alone], layer.stream());
      layer.finish();
    }
  }

  template <class Together>
  void time_methods(std::vector<rank_method>& methods, rank_layer const& layer, int rank,
                    Together const& together, std::vector<double>& of_rank, dist_row& row) {
    int const rounds = options_.rounds > 0 ? options_.rounds : options_.quick ? 3 : 7;
    constexpr int warm = 2, pairs = 10;
    cudaEvent_t start = nullptr, end = nullptr;
    check(cudaEventCreate(&start), "event");
    check(cudaEventCreate(&end), "event");
    for (int round = 0; round < rounds; ++round)
      for (std::size_t q = 0; q < methods.size(); ++q) {
        // Backwards in every second round: a method leaves the GPU warmer or colder.
        std::size_t const count = methods.size();
        std::size_t const turn = (q + static_cast<std::size_t>(round)) % count;
        std::size_t const m = round % 2 == 0 ? turn : count - 1 - turn;
        together();
        for (int i = 0; i < warm; ++i) run_two(methods[m], layer.stream());
        check(cudaEventRecord(start, layer.stream()), "event");
        for (int i = 0; i < pairs; ++i) run_two(methods[m], layer.stream());
        check(cudaEventRecord(end, layer.stream()), "event");
        layer.finish();
        float ms = 0;
        check(cudaEventElapsedTime(&ms, start, end), "event");
        of_rank[static_cast<std::size_t>(rank)] = double{ms} * 1e3 / (2 * pairs);
        together();
        if (rank == 0)
          row.methods[m].us.push_back(*std::max_element(of_rank.begin(), of_rank.end()));
      }
    together();
    groups_[static_cast<std::size_t>(rank)]->check();
    cudaEventDestroy(start);
    cudaEventDestroy(end);
  }

  dist_bench_options options_;
  nccl_ranks nccl_;
  std::vector<std::optional<dist::group>> groups_;
  std::vector<std::unique_ptr<cublaslt>> libraries_;
};

}  // namespace

std::unique_ptr<dist_lab> open_dist_lab(dist_bench_options const& o,
                                        std::vector<dist_shape> const& shapes) {
  if (!gpu().usable) throw no_usable_gpu(gpu().why_not);
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  int const ranks = o.ranks > 0 ? o.ranks : std::min(count, 8);
  if ((ranks < 2 && o.ranks != 1) || ranks > count)
    throw no_usable_gpu({"TW0503", "GPUs for a group", std::to_string(count),
                         std::to_string(std::max(ranks, 2)), "one rank takes one GPU"});
  std::int64_t largest = 0;
  for (dist_shape const& s : shapes) {
    if (s.m % ranks != 0)
      throw rejected({"TW0903", "rows of " + s.name, std::to_string(s.m),
                      "a multiple of " + std::to_string(ranks), "NCCL's collectives need it"});
    gemm_problem p;
    p.m = s.m, p.n = s.n, p.k = s.k;
    p.a = {elem::bf16, order::row_major, s.k};
    p.b = {elem::bf16, order::col_major, s.k};
    p.d = {elem::bf16, order::row_major, s.n};
    for (dist::path const via : paths_of(s, ranks))
      largest = std::max(largest,
                         dist::gathered_bytes(s.op, p, dist::shards::even(s.m, ranks), false, via));
  }
  return std::make_unique<gpu_dist_lab>(o, ranks, largest);
}

}  // namespace tw::bench
