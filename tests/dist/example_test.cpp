// SPDX-License-Identifier: Apache-2.0
// example_test.cpp  The example of docs/several-gpus.md.
#include "tests/dist/ranks.hpp"

namespace tw {
namespace {

void all_gather_on_two_ranks(gemm_problem const& p, std::vector<gemm_operands> const& of_rank) {
  dist::shards const rows = dist::shards::even(p.m, 2);
  std::int64_t const bytes = dist::gathered_bytes(dist::operation::all_gather_gemm, p, rows);
  auto const groups = dist::group::virtual_ranks(2, {.gathered_bytes = bytes, .timeout_s = 60});
  dist::run_ranks(groups, [&](dist::group const& g) {  // a thread for each rank
    dist::all_gather_gemm(g, p, of_rank[static_cast<std::size_t>(g.rank())]);
  });
}

[[maybe_unused]] void all_reduce_on_gpus(ncclComm_t comm, gemm_problem const& p,
                                         gemm_operands const& o, cudaStream_t stream) {
  dist::group const g = dist::group::from_nccl(comm);  // all ranks, once: it registers a window
  dist::gemm_all_reduce(g, p, o, {.stream = stream});
  // After the stream has been synchronised: throws if a rank was late or had another problem.
  g.check();
}

TEST(SeveralGpusPage, TheExampleComputesTheGemm) {
  using namespace dist::test;
  std::int64_t const m = 20, n = 16, k = 24;
  std::mt19937_64 rng(5);
  matrix a = integer_matrix(elem::bf16, order::row_major, m, k, 0, rng);
  matrix b = integer_matrix(elem::bf16, order::col_major, k, n, 0, rng);
  matrix want = empty_matrix(elem::f32, order::row_major, m, n);
  std::vector<matrix> d(2, want);
  gemm_problem const p{m, n, k, a.desc, b.desc, want.desc};
  emu_options one_thread;
  one_thread.os_threads = 1;
  gemm_emulated(p, {a.data(), b.data(), nullptr, want.data()}, one_thread);
  auto* const second = static_cast<std::byte*>(a.data()) + 10 * a.desc.pitch_bytes();
  all_gather_on_two_ranks(
      p, {{a.data(), b.data(), nullptr, d[0].data()}, {second, b.data(), nullptr, d[1].data()}});
  for (matrix const& x : d) expect_part(x, want, 0, 0, "example");
}

}  // namespace
}  // namespace tw
