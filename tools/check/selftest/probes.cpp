// SPDX-License-Identifier: Apache-2.0
// probes.cpp  The words that each probe must give, from the tables of the PTX ISA, and a run.
#include "tools/check/selftest/probes.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "tilewright/arch/emu/options.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tools/check/selftest/digest.hpp"
#include "tools/check/selftest/selftest.hpp"

namespace tw::selftest {

namespace {

template <tmem_shape S, int Count, bool Packed>
std::vector<std::uint32_t> expected_of(tmem_probe<S, Count, Packed>) {
  std::vector<std::uint32_t> words(probe_words);
  auto const cell = [](int lane, int column) {
    return static_cast<std::uint32_t>(lane << 16 | column);
  };
  for (int t = 0; t < 128; ++t)
    for (int r = 0; r < tmem_registers(S, Count); ++r) {
      tmem_cell const c = tmem_cell_of(S, t % 32, r, 32);
      int const lane = t / 32 * 32 + c.lane;
      words[static_cast<std::size_t>(t * 64 + r)] =
          Packed ? (cell(lane, 2 * c.column) & 0xFFFFU) | cell(lane, 2 * c.column + 1) << 16
                 : cell(lane, c.column);
    }
  return words;
}

/// D = A B, rows and columns of the probe.
template <class Probe>
std::vector<std::uint32_t> expected_sums(int rows) {
  std::vector<std::uint32_t> words(probe_words);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < Probe::n; ++j) {
      int sum = 0;
      for (int k = 0; k < Probe::k; ++k) sum += operand_value(i, k, 0) * operand_value(j, k, 1);
      words[static_cast<std::size_t>(i * Probe::n + j)] =
          __builtin_bit_cast(std::uint32_t, static_cast<float>(sum));
    }
  return words;
}
template <umma_kind K, elem A, elem B, bool AInTmem>
std::vector<std::uint32_t> expected_of(umma_probe<K, A, B, AInTmem>) {
  return expected_sums<umma_probe<K, A, B, AInTmem>>(128);
}
template <int Ctas>
std::vector<std::uint32_t> expected_of(cluster_probe<Ctas>) {
  return expected_sums<cluster_probe<Ctas>>(256);
}

template <umma_kind K, int Block, elem A, elem B, elem Scale>
std::vector<std::uint32_t> expected_of(scaled_probe<K, Block, A, B, Scale>) {
  using probe = scaled_probe<K, Block, A, B, Scale>;
  std::vector<std::uint32_t> words(probe_words);
  for (int i = 0; i < probe::m; ++i)
    for (int j = 0; j < probe::n; ++j) {
      float sum = 0;  // exact: quarters below 2^13
      for (int f = 0; f < 4; ++f)
        for (int x = 0; x < Block; ++x) {
          int const k = f % probe::factors * Block + x;
          int const product = operand_value(i, k, 0) * operand_value(j, k, 1);
          sum += std::ldexp(static_cast<float>(product),
                            probe::factor_exponent(i, f, 0) + probe::factor_exponent(j, f, 1));
        }
      words[static_cast<std::size_t>(i * probe::n + j)] = __builtin_bit_cast(std::uint32_t, sum);
    }
  return words;
}

/// The row that a lane gets, -1: none. PTX ISA, "tcgen05.cp"; of 4x256b see tmem_copy_shape.
int copied_row(tmem_copy_shape s, int lane) {
  switch (s) {
    case tmem_copy_shape::c64x128b_02_13: return lane % 64;
    case tmem_copy_shape::c64x128b_01_23: return lane / 64 * 32 + lane % 32;
    case tmem_copy_shape::c32x128b_x4: return lane % 32;
    case tmem_copy_shape::c4x256b: return lane % 32 == 0 ? lane / 32 : -1;
    default: return lane;
  }
}
template <tmem_copy_shape S, tmem_unpack U>
std::vector<std::uint32_t> expected_of(copy_probe<S, U>) {
  using probe = copy_probe<S, U>;
  constexpr int bits = U == tmem_unpack::b4 ? 4 : U == tmem_unpack::b6 ? 6 : 8;
  std::vector<std::uint32_t> words(probe_words);
  for (int lane = 0; lane < 128; ++lane)
    for (int byte = 0; byte < 4 * probe::written; ++byte) {
      if (copied_row(S, lane) < 0) {
        words[static_cast<std::size_t>(lane * 64 + byte / 4)] = probe::untouched;
        continue;
      }
      int const first = (byte / 16 * probe::rows + copied_row(S, lane)) * 4;
      std::uint32_t value = 0;
      for (int b = 0; b < bits; ++b) {
        int const at = byte % 16 * bits + b;
        value |= (probe::source_word(first + at / 32) >> at % 32 & 1U) << (bits == 4 ? b + 2 : b);
      }
      words[static_cast<std::size_t>(lane * 64 + byte / 4)] |= value << byte % 4 * 8;
    }
  return words;
}

template <elem E>
std::vector<std::uint32_t> expected_of(convert_probe<E>) {
  using probe = convert_probe<E>;
  std::vector<std::uint32_t> words;
  constexpr int step = packs_in_pairs(E) ? 4 : 8;
  for (int i = 0; i < probe::pairs; ++i) {
    std::uint32_t two = 0, wide = 0;
    for (int half = 0; half < 2; ++half) {
      float const x = probe::input(2 * i + half);
      std::uint32_t code = 0, back = 0;
      auto const narrow = from_float<storage_of<E>>(x);
      code = narrow.bits;
      if constexpr (is_exponent(E))
        back = to_bf16(to_float(narrow)).bits;
      else
        back = to_f16(to_float(narrow)).bits;
      two |= code << half * step;
      wide |= back << half * 16;
    }
    words.push_back(two);
    words.push_back(wide);
  }
  return words;
}

std::vector<std::uint32_t> expected_of(launch_probe) {
  std::vector<std::uint32_t> words(probe_words);
  std::fill_n(words.begin(), launch_ctas, 1U);
  return words;
}

/// The emulator's first diagnosis; empty: none.
template <class Kernel>
std::string run_emulated(Kernel, int ctas, std::vector<std::uint32_t>& words) {
  emu::options o;
  o.sms = 2;
  emu::report const r = emu::run(Kernel{}, ctas, {words.data()}, o);
  return r.clean() ? "" : r.diagnoses.front().code + " " + r.diagnoses.front().text;
}

}  // namespace

std::vector<finding> run_probes(bool on_gpu, std::string const& text) {
  std::vector<finding> all;
  if (on_gpu && gpu().compute_capability / 10 != 10) return all;
  int i = 0;
  each_probe([&](char const* name, auto kernel, int ctas) {
    int const number = i++;
    if (std::string(name).find(text) == std::string::npos) return;
    std::vector<std::uint32_t> words(probe_words), expected = expected_of(kernel);
    finding f{.name = name};
    f.trouble = on_gpu ? run_probe_on_gpu(number, words) : run_emulated(kernel, ctas, words);
    f.compared = probe_words;
    for (std::size_t w = 0; w < words.size(); ++w) f.wrong += words[w] != expected[w];
    f.digest = digest_of(std::as_bytes(std::span(words)));
    f.passed = f.trouble.empty() && f.wrong == 0;
    all.push_back(std::move(f));
  });
  return all;
}

}  // namespace tw::selftest
