// SPDX-License-Identifier: Apache-2.0
// kind_data.hpp  Operands and sums of wgmma_kinds.hpp on the host: elements, registers, results.
#pragma once

#include <random>

#include "tests/arch/kernels/wgmma_kinds.hpp"
#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::test {

/// Everything that one launch reads and writes.
struct kind_data {
  wgmma_form form;
  int ctas, steps;
  bool accumulate;
  std::vector<std::uint32_t> a, b, c, d;

  kind_data(wgmma_form const& f, int cta_count, int step_count, bool adds)
      : form(f),
        ctas(cta_count),
        steps(step_count),
        accumulate(adds),
        a(words(64)),
        b(words(f.n)),
        c(sums()),
        d(c.size(), 0xDEADBEEFU) {}

  std::size_t words(int rows) const {
    return static_cast<std::size_t>(ctas) * static_cast<std::size_t>(steps * rows * 8);
  }
  std::size_t sums() const {
    return static_cast<std::size_t>(ctas) *
           static_cast<std::size_t>(form.sums == elem::f16 ? 32 * form.n : 64 * form.n);
  }

  /// Element k, which counts through the steps, of a row of A or B.
  void set(std::vector<std::uint32_t>& operand, int cta, int rows, int row, int k,
           std::uint32_t bits) const {
    place const at = find(cta, rows, row, k);
    std::uint32_t const mask = at.width == 32 ? ~0U : (1U << at.width) - 1;
    operand[at.word] = (operand[at.word] & ~(mask << at.shift)) | (bits & mask) << at.shift;
  }
  std::uint32_t get(std::vector<std::uint32_t> const& operand, int cta, int rows, int row,
                    int k) const {
    place const at = find(cta, rows, row, k);
    return operand[at.word] >> at.shift & (at.width == 32 ? ~0U : (1U << at.width) - 1);
  }

  /// The value at (row, column) of c or d: 32 bits, or 16 in the low half.
  std::uint32_t sum(std::vector<std::uint32_t> const& sums_of, int cta, int row, int column) const {
    std::size_t const at = register_of(cta, row, column);
    if (form.sums != elem::f16) return sums_of[at];
    return sums_of[at] >> (16 * (column % 2)) & 0xFFFFU;
  }
  void set_sum(std::vector<std::uint32_t>& sums_of, int cta, int row, int column,
               std::uint32_t bits) const {
    std::uint32_t& word = sums_of[register_of(cta, row, column)];
    if (form.sums != elem::f16) {
      word = bits;
      return;
    }
    int const shift = 16 * (column % 2);
    word = (word & ~(0xFFFFU << shift)) | bits << shift;
  }

  template <class K, class M>
  void run(M& m) {
    std::uint32_t* const out = upload(m, d);
    test::run<K>(m, ctas, {upload(m, a), upload(m, b), upload(m, c), out, steps, accumulate});
    d = download(m, out, d.size());
  }

 private:
  struct place {
    std::size_t word;
    int shift, width;
  };
  place find(int cta, int rows, int row, int k) const {
    int const width = size_bits(form.a_type), step = k / form.k();
    int const bit = k % form.k() * width;
    return {static_cast<std::size_t>(((cta * steps + step) * rows + row) * 8 + bit / 32), bit % 32,
            width};
  }
  /// accumulator_map, backwards.
  std::size_t register_of(int cta, int row, int column) const {
    int const thread = 32 * (row / 16) + 4 * (row % 8) + column % 8 / 2;
    int value = 4 * (column / 8) + 2 * (row / 8 % 2) + column % 2, size = form.n / 2;
    if (form.sums == elem::f16) {
      value /= 2;
      size /= 2;
    }
    return static_cast<std::size_t>((cta * 128 + thread) * size + value);
  }
};

/// The bits of the number of a type that is nearest to x.
inline std::uint32_t bits_of(elem type, double x) {
  auto const f = static_cast<float>(x);
  switch (type) {
    case elem::bf16: return to_bf16(f).bits;
    case elem::f16: return to_f16(f).bits;
    case elem::e4m3: return to_e4m3(f, saturation::finite).bits;
    case elem::e5m2: return to_e5m2(f, saturation::finite).bits;
    case elem::s8: return static_cast<std::uint8_t>(to_integer<std::int8_t>(f));
    case elem::u8: return to_integer<std::uint8_t>(f);
    case elem::tf32: return to_tf32(f).bits;
    case elem::s32: return static_cast<std::uint32_t>(static_cast<std::int64_t>(x));
    default: return __builtin_bit_cast(std::uint32_t, f);
  }
}
inline double number_of(elem type, std::uint32_t bits) {
  switch (type) {
    case elem::bf16: return to_float(bf16{static_cast<std::uint16_t>(bits)});
    case elem::f16: return to_float(f16{static_cast<std::uint16_t>(bits)});
    case elem::e4m3: return to_float(e4m3{static_cast<std::uint8_t>(bits)});
    case elem::e5m2: return to_float(e5m2{static_cast<std::uint8_t>(bits)});
    case elem::s8: return static_cast<std::int8_t>(bits);
    case elem::u8: return static_cast<std::uint8_t>(bits);
    case elem::s32: return static_cast<std::int32_t>(bits);
    default: return __builtin_bit_cast(float, bits);
  }
}

/// Kinds of random operands.
enum class kind_values : std::uint8_t {
  exact,     // small integers: sums are exact in every order
  normal,    // N(0, 1)
  spread,    // a random exponent in the whole range of the type
  any_bits,  // with NaN and infinities
};

template <class Random>
std::uint32_t random_element(Random& r, elem type, kind_values kind) {
  if (kind == kind_values::any_bits) return static_cast<std::uint32_t>(r());
  if (kind == kind_values::exact)
    return bits_of(type, static_cast<int>(r() % 8) - (type == elem::u8 ? 0 : 4));
  if (is_integer(type)) return static_cast<std::uint32_t>(r());
  if (kind == kind_values::normal) {
    double sum = -6;  // of 12 uniform numbers: the same everywhere, unlike std's distribution
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(r() >> 8) * 0x1p-24;
    return bits_of(type, sum);
  }
  std::uint32_t const bits = static_cast<std::uint32_t>(r());
  double const x = number_of(type, type == elem::tf32 ? bits & 0xFFFFE000U : bits);
  return x - x == 0 ? bits : 0;  // finite numbers of any exponent
}

/// Fills operands and sums; every CTA by itself.
inline void fill_kind(kind_data& x, kind_values kind, unsigned seed) {
  std::mt19937 r(seed);
  int const depth = x.steps * x.form.k();
  for (int cta = 0; cta < x.ctas; ++cta) {
    for (int k = 0; k < depth; ++k) {
      for (int row = 0; row < 64; ++row)
        x.set(x.a, cta, 64, row, k, random_element(r, x.form.a_type, kind));
      for (int n = 0; n < x.form.n; ++n)
        x.set(x.b, cta, x.form.n, n, k, random_element(r, x.form.b_type, kind));
    }
    for (int row = 0; row < 64; ++row)
      for (int n = 0; n < x.form.n; ++n)
        x.set_sum(x.c, cta, row, n, random_element(r, x.form.sums, kind));
  }
}

}  // namespace tw::test
