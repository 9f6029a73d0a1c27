// SPDX-License-Identifier: Apache-2.0
// tensor_mutants.cpp  The mutants of the GEMM with tcgen05.
#include <algorithm>
#include <random>

#include "tilewright/base/convert.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/mutants/reported_run.hpp"
#include "tools/check/mutants/tensor_kernels.hpp"

namespace tw::mutants {

namespace {

/// 4 tiles, so that each accumulator is used twice. Sums of small fractions are exact.
template <int Ctas>
struct tensor_product {
  static constexpr int m = 256 * Ctas, n = 256, k = 256;
  std::vector<std::uint16_t> a, b, d, right;

  tensor_product() : a(m * k), b(n * k), d(m * n), right(m * n) {
    std::mt19937 random(1);
    std::vector<float> fa(a.size()), fb(b.size());
    auto const fill = [&](std::vector<std::uint16_t>& bits, std::vector<float>& values) {
      for (std::size_t i = 0; i < bits.size(); ++i) {
        values[i] = static_cast<float>(static_cast<int>(random() % 17) - 8) / 8.0F;
        bits[i] = to_bf16(values[i]).bits;
      }
    };
    fill(a, fa);
    fill(b, fb);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int x = 0; x < k; ++x)
          sum += fa[static_cast<std::size_t>(i * k + x)] * fb[static_cast<std::size_t>(j * k + x)];
        right[static_cast<std::size_t>(i * n + j)] = to_bf16(sum).bits;
      }
  }

  static tensor_map map_of(void* base, int columns, int rows, int box_rows) {
    tensor_map_desc x;
    x.base = base;
    x.dim[0] = columns;
    x.dim[1] = rows;
    x.stride_bytes[0] = 2 * columns;
    x.box[0] = 64;
    x.box[1] = box_rows;
    x.swizzle = swizzle_mode::b128;
    return make_tensor_map(x, target::emu);
  }
  tensor_params params(tensor_mutation broken) {
    using kernel = tensor_gemm<Ctas>;
    return {map_of(a.data(), k, m, kernel::tile_m),
            map_of(b.data(), k, n, kernel::columns_of_b),
            map_of(d.data(), n, m, 32),
            m / kernel::tile_m / Ctas,
            m / kernel::tile_m / Ctas * (n / kernel::tile_n),
            k / kernel::tile_k,
            broken};
  }
};

template <int Ctas>
outcome run(int which, emu::options const& given) {
  static tensor_product<Ctas> p;
  std::fill(p.d.begin(), p.d.end(), std::uint16_t{0xFFFF});
  outcome out;
  emu::options o = given;
  o.bank_conflicts = false;  // a word at a time: the epilogue is not meant to be fast
  auto const params = p.params(static_cast<tensor_mutation>(which));
  out.diagnoses = reported_run(tensor_gemm<Ctas>{}, Ctas, params, o).diagnoses;
  if (!out.diagnoses.empty()) return out;
  for (std::size_t i = 0; i < p.d.size(); ++i) out.wrong_elements += p.d[i] != p.right[i];
  return out;
}

struct row {
  tensor_mutation what;
  std::string_view name, change;
  std::vector<std::string_view> codes;
};

std::vector<mutant> made() {
  using enum tensor_mutation;
  std::vector<row> const of_one{
      {none, "", "", {}},
      {no_full_wait, "no-full-wait", "the epilogue does not wait for acc_full", {"E0100", "E0102"}},
      {no_fence_after_full,
       "no-fence-after-full",
       "no tcgen05_fence_after before the loads of the epilogue",
       {"E0101"}},
      {no_load_wait,
       "no-load-wait",
       "no tmem_wait_load before the accumulator is given back",
       {"E0100"}},
      {no_fence_before_free,
       "no-fence-before-free",
       "no tcgen05_fence_before where the accumulator is given back",
       {"E0101"}},
      {no_free_wait, "no-free-wait", "the multiplies do not wait for acc_free", {"E0100"}},
      {no_fence_after_free,
       "no-fence-after-free",
       "no tcgen05_fence_after between that wait and the multiplies",
       {"E0101"}},
      {accumulates_at_first,
       "accumulates-at-first",
       "the first multiply of a tile adds to what is there",
       {"E0102"}},
      {full_committed_early,
       "full-committed-early",
       "acc_full is committed before the last multiplies",
       {"E0100", "E0111"}},
      {accumulator_not_advanced,
       "accumulator-not-advanced",
       "all tiles use the first accumulator",
       {"E0100"}},
      {free_phase_never_flips,
       "free-phase-never-flips",
       "the wait for acc_free never flips its parity",
       {"E0001", "E0034", "E0100"}},
      {stage_released_by_arrive,
       "stage-released-by-arrive",
       "a stage is released by an arrive, not by a commit",
       {"E0112"}},
      {commit_by_another_warp,
       "commit-by-another-thread",
       "another lane than that of the multiplies commits the stages",
       {"E0111"}},
      {no_commit_of_stages, "no-commit-of-stages", "no stage is ever released", {"E0001"}},
      {no_proxy_fence, "no-proxy-fence", "no fence_proxy_async before the TMA store", {"E0025"}},
      {all_lanes_store, "all-lanes-store", "all lanes of the warp store each box", {"E0043"}},
      {half_stride, "half-stride", "descriptors have half of the stride byte offset", {"E0038"}},
      {wrong_layout_type, "wrong-layout-type", "descriptors say 64 bytes, the maps 128", {"E0037"}},
      {no_version, "no-version", "bits 46-48 of the descriptors are zero", {"E0103"}},
      {n_too_large,
       "n-too-large",
       "N of the instruction descriptor is twice the rows of B",
       {"E0026", "E0029", "E0038", "E0103", "E0104"}},
      {wrong_type_code, "wrong-type-code", "the type of B is that of another kind", {"E0103"}},
      {mn_major_bit, "mn-major-bit", "A is called MN-major", {"E0037", "E0038"}},
      {neighbours_lanes, "neighbours-lanes", "a warp loads its neighbour's lanes", {"E0105"}},
      {load_beyond_columns, "load-beyond-columns", "loads reach beyond column 512", {"E0104"}},
      {too_few_columns, "too-few-columns", "only the first accumulator is allocated", {"E0104"}},
      {no_dealloc, "no-dealloc", "the columns are not given back", {"E0106"}},
      {dealloc_of_half, "dealloc-of-half", "half of the columns is given back", {"E0104"}},
      {dealloc_early,
       "dealloc-early",
       "the columns are given back before the epilogue has ended",
       {"E0100", "E0104"}},
      {alloc_after_relinquish,
       "alloc-after-relinquish",
       "tmem_relinquish comes before tmem_alloc",
       {"E0107"}},
      {address_read_early,
       "address-read-early",
       "the address is read before the barrier",
       {"E0024", "E0029"}},
      {all_lanes_issue, "all-lanes-issue", "all lanes of the warp multiply", {"E0109"}},
      {commit_of_other_group, "commit-of-other-group", "the commits are of a pair", {"E0108"}},
      {inval_under_commit,
       "inval-under-commit",
       "inval() of a stage's barrier, to which the last commit may be under way",
       {"E0080"}},
  };
  std::vector<row> const of_pair{
      {none, "", "", {}},
      {no_fence_after_full,
       "no-fence-after-full",
       "no tcgen05_fence_after before the loads of the epilogue",
       {"E0101"}},
      {no_fence_before_free,
       "no-fence-before-free",
       "no tcgen05_fence_before where the accumulator is given back",
       {"E0101"}},
      {own_barrier_of_peer,
       "own-barrier-of-peer",
       "the odd CTA's loads count on its own barrier",
       {"E0001", "E0015"}},
      {expects_own_bytes,
       "expects-own-bytes",
       "the even CTA expects its own bytes",
       {"E0015", "E0026"}},
      {commit_reaches_leader_only,
       "commit-reaches-leader-only",
       "the mask of the commits leaves out the odd CTA",
       {"E0001"}},
      {both_ctas_issue,
       "both-ctas-issue",
       "both CTAs of the pair multiply",
       {"E0109", "E0001", "E0026"}},
      {cta_barrier_after_init,
       "cta-barrier-after-init",
       "cta_sync for cluster_sync after the inits",
       {"E0110", "E0033", "E0002"}},
      {no_barrier_before_alloc,
       "no-barrier-before-alloc",
       "tmem_alloc comes before the cluster barrier",
       {"E0110"}},
      {no_barrier_at_exit,
       "no-barrier-at-exit",
       "cta_sync for cluster_sync at the end",
       {"E0036", "E0100", "E0110", "E0115"}},
      {dealloc_without_peer,
       "dealloc-without-peer",
       "cta_sync for cluster_sync before the columns are given back",
       {"E0115"}},
      {free_with_cta_scope,
       "free-with-cta-scope",
       "the warps of the odd CTA give the accumulator back with an arrive of CTA scope",
       {"E0116"}},
  };
  std::vector<mutant> list;
  for (row const& r : of_one)
    list.push_back({"tensor_gemm", r.name, r.change, r.codes, run<1>, static_cast<int>(r.what)});
  for (row const& r : of_pair)
    list.push_back(
        {"tensor_gemm_pair", r.name, r.change, r.codes, run<2>, static_cast<int>(r.what)});
  return list;
}

}  // namespace

std::span<mutant const> tensor_mutants() {
  static std::vector<mutant> const list = made();
  return list;
}

}  // namespace tw::mutants
