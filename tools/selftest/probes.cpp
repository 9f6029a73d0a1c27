// SPDX-License-Identifier: Apache-2.0
// probes.cpp  The words that each probe must give, from the tables of the PTX ISA, and a run.
#include "tools/selftest/probes.hpp"

#include <algorithm>
#include <span>

#include "tilewright/arch/emu/options.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tools/selftest/digest.hpp"
#include "tools/selftest/selftest.hpp"

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

template <umma_kind K, elem AB>
std::vector<std::uint32_t> expected_of(umma_probe<K, AB>) {
  using probe = umma_probe<K, AB>;
  std::vector<std::uint32_t> words(probe_words);
  for (int i = 0; i < probe::m; ++i)
    for (int j = 0; j < probe::n; ++j) {
      int sum = 0;
      for (int k = 0; k < probe::row_bytes / size_bytes(AB); ++k)
        sum += probe::operand_value(i, k, 0) * probe::operand_value(j, k, 1);
      words[static_cast<std::size_t>(i * probe::n + j)] =
          __builtin_bit_cast(std::uint32_t, static_cast<float>(sum));
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
