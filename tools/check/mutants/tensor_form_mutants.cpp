// SPDX-License-Identifier: Apache-2.0
// tensor_form_mutants.cpp  The mutants of the small kernels with tcgen05.
#include <algorithm>
#include <random>

#include "tilewright/base/convert.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/mutants/reported_run.hpp"
#include "tools/check/mutants/tensor_form_kernels.hpp"

namespace tw::mutants {

namespace {

/// Sums of small integers are exact in f16.
struct form_product {
  static constexpr int m = 128, n = tensor_forms::n, k = 2 * tensor_forms::row_words;
  std::vector<std::uint32_t> a, b, halves, right_halves;
  std::vector<float> floats, right_floats;

  form_product()
      : a(m * k / 2),
        b(n * k / 2),
        halves(m * n / 2),
        right_halves(m * n / 2),
        floats(m * n),
        right_floats(m * n) {
    std::mt19937 random(1);
    auto const fill = [&](std::vector<std::uint32_t>& words) {
      std::vector<float> values;
      for (std::size_t i = 0; i < 2 * words.size(); ++i) {
        values.push_back(static_cast<float>(static_cast<int>(random() % 9) - 4));
        words[i / 2] |= static_cast<std::uint32_t>(to_f16(values.back()).bits) << i % 2 * 16;
      }
      return values;
    };
    std::vector<float> const x = fill(a), y = fill(b);
    for (std::size_t i = 0; i < right_floats.size(); ++i) {
      float sum = 0;
      for (std::size_t j = 0; j < k; ++j) sum += x[i / n * k + j] * y[i % n * k + j];
      right_floats[i] = sum;
      right_halves[i / 2] |= static_cast<std::uint32_t>(to_f16(sum).bits) << i % 2 * 16;
    }
  }
};

template <class T>
std::int64_t differences(std::vector<T> const& x, std::vector<T> const& y) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) count += x[i] != y[i];
  return count;
}

template <class Kernel>
outcome run_small(int ctas, typename Kernel::params const& params, emu::options o) {
  outcome out;
  o.bank_conflicts = false;  // they are not arranged to be fast
  out.diagnoses = reported_run(Kernel{}, ctas, params, o).diagnoses;
  return out;
}

outcome run_forms(int which, emu::options const& o) {
  static form_product p;
  std::ranges::fill(p.halves, 0xFFFFFFFFU);
  std::ranges::fill(p.floats, -1.0F);
  outcome out = run_small<tensor_forms>(
      1,
      {p.a.data(), p.b.data(), p.halves.data(), p.floats.data(), static_cast<form_mutation>(which)},
      o);
  if (out.diagnoses.empty())
    out.wrong_elements =
        differences(p.halves, p.right_halves) + differences(p.floats, p.right_floats);
  return out;
}

outcome run_columns(int which, emu::options const& given) {
  constexpr std::uint32_t threads = shared_columns::threads;
  std::vector<std::uint32_t> sums(2 * threads), words(2 * threads), right(2 * threads);
  std::vector<int> flags(2);
  for (std::uint32_t i = 0; i < right.size(); ++i) right[i] = 1000 + i % threads * 2;
  emu::options o = given;
  o.ctas_per_sm = 2;
  outcome out = run_small<shared_columns>(
      2, {sums.data(), words.data(), flags.data(), static_cast<column_mutation>(which)}, o);
  if (out.diagnoses.empty()) out.wrong_elements = differences(sums, right);
  return out;
}

/// Sums of small numbers are exact.
struct mxf4_product {
  using kernel = mxf4_gemm;
  static constexpr int m = kernel::m, n = kernel::n, k = kernel::k_blocks * kernel::tile_k;
  static constexpr int all_factor_bytes = kernel::k_blocks * kernel::factor_bytes;
  alignas(32) std::uint8_t a[m * k / 2] = {}, b[n * k / 2] = {};
  alignas(16) std::uint8_t sfa[all_factor_bytes] = {}, sfb[all_factor_bytes] = {};
  std::vector<float> d, right;

  mxf4_product() : d(m * n), right(m * n) {
    std::mt19937 random(1);
    auto const fill = [&](std::uint8_t* codes, std::uint8_t* factors, int rows) {
      std::vector<float> values;
      for (int r = 0; r < rows; ++r)
        for (int i = 0; i < k; ++i) {
          int const f = i / 32;
          std::uint8_t& scale = factors[f / 4 * 512 + r % 32 * 16 + r / 32 * 4 + f % 4];
          if (i % 32 == 0) scale = static_cast<std::uint8_t>(126 + random() % 3);
          e2m1 const code{static_cast<std::uint8_t>(random() % 16)};
          std::uint8_t& byte = codes[(r * k + i) / 2];
          byte = static_cast<std::uint8_t>(byte | code.bits << i % 2 * 4);
          values.push_back(to_float(code) * to_float(ue8m0{scale}));
        }
      return values;
    };
    std::vector<float> const x = fill(a, sfa, m), y = fill(b, sfb, n);
    for (std::size_t i = 0; i < right.size(); ++i) {
      float sum = 0;
      for (std::size_t j = 0; j < k; ++j) sum += x[i / n * k + j] * y[i % n * k + j];
      right[i] = sum;
    }
  }

  mxf4_params params(mxf4_mutation broken) {
    auto const operand = [](void* base, int rows) {
      tensor_map_desc x;
      x.base = base;
      x.type = elem::e2m1;
      x.dim[0] = k;
      x.dim[1] = rows;
      x.stride_bytes[0] = x.row_bytes(k);
      x.box[0] = kernel::tile_k;
      x.box[1] = rows;
      x.swizzle = swizzle_mode::b128;
      return make_tensor_map(x, target::emu);
    };
    auto const factors = [](void* base) {
      tensor_map_desc x;
      x.base = base;
      x.type = elem::ue8m0;
      x.dim[0] = x.stride_bytes[0] = x.box[0] = 256;
      x.dim[1] = all_factor_bytes / 256;
      x.box[1] = kernel::factor_bytes / 256;
      return make_tensor_map(x, target::emu);
    };
    return {operand(a, m), operand(b, n), factors(sfa), factors(sfb), d.data(), broken};
  }
};

outcome run_mxf4(int which, emu::options const& o) {
  static mxf4_product p;
  std::ranges::fill(p.d, -1.0F);
  outcome out = run_small<mxf4_gemm>(1, p.params(static_cast<mxf4_mutation>(which)), o);
  if (out.diagnoses.empty()) out.wrong_elements = differences(p.d, p.right);
  return out;
}

}  // namespace

std::span<mutant const> tensor_form_mutants() {
  static auto const forms = [](form_mutation what, std::string_view name, std::string_view change,
                               std::vector<std::string_view> codes) {
    return mutant{"tensor_forms",   name,      change,
                  std::move(codes), run_forms, static_cast<int>(what)};
  };
  static auto const columns = [](column_mutation what, std::string_view name,
                                 std::string_view change, std::vector<std::string_view> codes) {
    return mutant{"shared_columns", name,        change,
                  std::move(codes), run_columns, static_cast<int>(what)};
  };
  static auto const mxf4 = [](mxf4_mutation what, std::string_view name, std::string_view change,
                              std::vector<std::string_view> codes) {
    return mutant{"mxf4_gemm", name, change, std::move(codes), run_mxf4, static_cast<int>(what)};
  };
  static std::vector<mutant> const list{
      forms(form_mutation::none, "", "", {}),
      forms(form_mutation::no_store_wait, "no-store-wait",
            "no tmem_wait_store between the stores of A and the multiplies", {"E0100"}),
      forms(form_mutation::unpacked_width, "unpacked-width",
            "a packed load has the count of an unpacked one", {"E0104"}),
      forms(form_mutation::map_of_another_shape, "map-of-another-shape",
            "the registers of l16x256b from lane 16 on are taken for those of l16x32bx2",
            {"wrong-result"}),
      columns(column_mutation::none, "", "", {}),
      columns(column_mutation::no_relinquish, "no-relinquish",
              "no tmem_relinquish: the other CTA of the SM cannot allocate", {"E0001"}),
      columns(column_mutation::all_columns, "all-columns",
              "each of the two CTAs allocates all 512 columns", {"E0001"}),
      mxf4(mxf4_mutation::none, "", "", {}),
      mxf4(mxf4_mutation::odd_id, "odd-id", "the second step of a column has factor id 1, not 2",
           {"E0113"}),
      mxf4(mxf4_mutation::blocks_of_16, "blocks-of-16",
           "the multiplies take four factors of a row, for blocks of 16; it has two", {"E0113"}),
      mxf4(mxf4_mutation::k_96, "k-96",
           "bit 31 of the descriptor says K = 96, with the factors of K = 64", {"E0103"}),
  };
  return list;
}

}  // namespace tw::mutants
