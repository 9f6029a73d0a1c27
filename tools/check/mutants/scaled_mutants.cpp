// SPDX-License-Identifier: Apache-2.0
// scaled_mutants.cpp  The mutants of the block-scaled GEMM.
#include <algorithm>
#include <random>

#include "tilewright/base/convert.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/mutants/reported_run.hpp"
#include "tools/check/mutants/scaled_kernels.hpp"

namespace tw::mutants {

namespace {

/// Four K blocks: each stage is used twice. Sums of small numbers are exact.
struct scaled_product {
  using kernel = scaled_gemm;
  static constexpr int m = kernel::m, n = kernel::n, k_blocks = 4, k = k_blocks * kernel::tile_k;
  alignas(32) std::uint8_t a[m * k] = {}, b[n * k / 2] = {};
  alignas(16) std::uint8_t sfa[m * k / 32] = {};
  std::vector<std::uint32_t> sfb;
  std::vector<float> d, right;

  scaled_product() : sfb(n * k_blocks), d(m * n), right(m * n) {
    std::mt19937 random(1);
    std::vector<float> x(m * k), y(n * k);
    auto const factor = [&] { return static_cast<std::uint8_t>(126 + random() % 3); };
    for (int r = 0; r < m; ++r)
      for (int i = 0; i < k; ++i) {
        e4m3 const code = to_e4m3(static_cast<float>(random() % 9) - 4, saturation::finite);
        int const f = i / 32;
        std::uint8_t& scale = sfa[f / 4 * kernel::factor_bytes + r % 32 * 16 + r / 32 * 4 + f % 4];
        if (i % 32 == 0) scale = factor();
        a[r * k + i] = code.bits;
        x[static_cast<std::size_t>(r * k + i)] = to_float(code) * to_float(ue8m0{scale});
      }
    for (int c = 0; c < n; ++c)
      for (int i = 0; i < k; ++i) {
        e2m1 const code{static_cast<std::uint8_t>(random() % 16)};
        int const f = i / 32;
        std::uint32_t& word = sfb[static_cast<std::size_t>(c * k_blocks + f / 4)];
        if (i % 32 == 0) word |= static_cast<std::uint32_t>(factor()) << f % 4 * 8;
        auto const scale = static_cast<std::uint8_t>(word >> f % 4 * 8);
        std::uint8_t& byte = b[(c * k + i) / 2];
        byte = static_cast<std::uint8_t>(byte | code.bits << i % 2 * 4);
        y[static_cast<std::size_t>(c * k + i)] = to_float(code) * to_float(ue8m0{scale});
      }
    for (int r = 0; r < m; ++r)
      for (int c = 0; c < n; ++c) {
        double sum = 0;
        for (int i = 0; i < k; ++i)
          sum += static_cast<double>(x[static_cast<std::size_t>(r * k + i)]) *
                 static_cast<double>(y[static_cast<std::size_t>(c * k + i)]);
        right[static_cast<std::size_t>(r * n + c)] = static_cast<float>(sum);
      }
  }

  scaled_params params(scaled_mutation broken) {
    auto const map_of = [](void* base, elem type, int rows, bool padded) {
      tensor_map_desc x;
      x.base = base;
      x.type = type;
      x.padded = padded;
      x.dim[0] = k;
      x.dim[1] = rows;
      x.stride_bytes[0] = x.row_bytes(k);
      x.box[0] = size_bits(type) < 8 && !padded ? 2 * kernel::tile_k : kernel::tile_k;
      x.box[1] = rows;
      x.swizzle = swizzle_mode::b128;
      return make_tensor_map(x, target::emu);
    };
    tensor_map_desc f;
    f.base = sfa;
    f.type = broken == scaled_mutation::ue4m3_map ? elem::ue4m3 : elem::ue8m0;
    f.dim[0] = f.stride_bytes[0] = kernel::factor_bytes / 2;
    f.dim[1] = 2 * k_blocks;
    f.box[0] = kernel::factor_bytes / 2;
    f.box[1] = 2;
    return {map_of(a, elem::e4m3, m, false),
            map_of(b, elem::e2m1, n, broken != scaled_mutation::dense_map),
            make_tensor_map(f, target::emu),
            sfb.data(),
            d.data(),
            k_blocks,
            broken};
  }
};

outcome run(int which, emu::options const& given) {
  static scaled_product p;
  std::fill(p.d.begin(), p.d.end(), -1.0F);
  outcome out;
  emu::options o = given;
  o.bank_conflicts = false;  // the factors are not arranged to be fast
  out.diagnoses =
      reported_run(scaled_gemm{}, 1, p.params(static_cast<scaled_mutation>(which)), o).diagnoses;
  if (!out.diagnoses.empty()) return out;
  for (std::size_t i = 0; i < p.d.size(); ++i) out.wrong_elements += p.d[i] != p.right[i];
  return out;
}

struct row {
  scaled_mutation what;
  std::string_view name, change;
  std::vector<std::string_view> codes;
};

std::vector<mutant> made() {
  using enum scaled_mutation;
  std::vector<row> const rows{
      {none, "", "", {}},
      {copied_after, "copied-after", "factors are copied after the multiplies", {"E0102"}},
      {copied_once, "copied-once", "only the first factors are copied", {"E0113"}},
      {copied_again,
       "copied-again",
       "factors are copied again between the multiplies of a stage",
       {"E0100"}},
      {id_not_advanced, "id-not-advanced", "all steps take factor 0", {"E0113"}},
      {factor_block_not_advanced,
       "factor-block-not-advanced",
       "TMA brings the first factors of A for all of K",
       {"E0113"}},
      {factors_of_a_for_b, "factors-of-a-for-b", "B has the address of A's factors", {"E0113"}},
      {ue4m3_bit, "ue4m3-bit", "the descriptor calls the factors ue4m3", {"E0103"}},
      {ue4m3_map, "ue4m3-map", "the tensor map of the factors has type ue4m3", {"E0113"}},
      {no_fence_of_factors,
       "no-fence-of-factors",
       "no fence_proxy_async after the factors were arranged",
       {"E0025"}},
      {factors_not_awaited,
       "factors-not-awaited",
       "the copies do not wait for factors_ready",
       {"E0024", "E0029", "E0112"}},
      {factor_slot_not_awaited,
       "factor-slot-not-awaited",
       "factors are arranged without a wait for slot_free",
       {"E0001", "E0035", "E0112"}},
      {swizzled_copy, "swizzled-copy", "the copies' descriptors have a swizzle", {"E0103"}},
      {no_version_of_copy, "no-version-of-copy", "bits 46-48 of them are zero", {"E0103"}},
      {too_few_columns, "too-few-columns", "no columns are allocated for the factors", {"E0104"}},
      {copy_at_a_lane, "copy-at-a-lane", "the copies begin at lane 32", {"E0105"}},
      {padding_counted,
       "padding-counted",
       "the barrier expects the padding of 4-bit elements too",
       {"E0001", "E0015"}},
      {dense_map, "dense-map", "TMA brings 4-bit elements two to a byte", {"E0114"}},
  };
  std::vector<mutant> list;
  for (row const& r : rows)
    list.push_back({"scaled_gemm", r.name, r.change, r.codes, run, static_cast<int>(r.what)});
  return list;
}

}  // namespace

std::span<mutant const> scaled_mutants() {
  static std::vector<mutant> const list = made();
  return list;
}

}  // namespace tw::mutants
