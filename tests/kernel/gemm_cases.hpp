// SPDX-License-Identifier: Apache-2.0
// gemm_cases.hpp  Random GEMMs with a float64 reference and the bound a result must keep.
#pragma once

#include <cblas.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::test {

/// How the matrices of a batch lie: one for all, one after the other with a gap of `extra`
/// elements, side by side between the lines, or by pointers, at multiples of 16 bytes.
enum class batch_form { same, behind, beside, pointers };

/// Matrices in memory: bytes followed by a guard region, and their values in double (row-major).
struct matrix {
  matrix_desc desc;
  std::int64_t rows = 0, cols = 0, matrices = 1;
  std::int64_t stride = 0;       // from a matrix to the next, elements
  std::vector<void*> addresses;  // of a batch by pointers: the last matrix in memory comes first
  std::vector<std::byte> bytes;
  std::size_t offset_bytes = 0;  // of element (0, 0)
  std::vector<double> value;

  void* data() { return bytes.data() + offset_bytes; }
  std::int64_t matrix_of(std::int64_t product) const {
    return matrices == 1 ? 0 : addresses.empty() ? product : matrices - 1 - product;
  }
  void give_addresses() {
    for (std::int64_t i = matrices - 1; i >= 0; --i)
      addresses.push_back(static_cast<std::byte*>(data()) + i * stride * size_bytes(desc.type));
    desc.batch_stride_elems = matrix_desc::by_pointers;
  }
  std::size_t at(std::int64_t r, std::int64_t c, std::int64_t product) const {
    std::int64_t const i =
        matrix_of(product) * stride +
        (desc.ord == order::row_major ? r * desc.pitch_elems + c : c * desc.pitch_elems + r);
    return offset_bytes + static_cast<std::size_t>(i * size_bytes(desc.type));
  }
  double load(std::int64_t r, std::int64_t c, std::int64_t product) const {
    std::byte const* p = bytes.data() + at(r, c, product);
    std::uint32_t word = 0;
    std::memcpy(&word, p, static_cast<std::size_t>(size_bytes(desc.type)));
    auto const half = static_cast<std::uint16_t>(word);
    auto const byte = static_cast<std::uint8_t>(word);
    switch (desc.type) {
      case elem::f32:
      case elem::tf32: return std::bit_cast<float>(word);
      case elem::f16: return to_float(f16{half});
      case elem::e4m3: return to_float(e4m3{byte});
      case elem::e5m2: return to_float(e5m2{byte});
      case elem::s32: return std::bit_cast<std::int32_t>(word);
      case elem::s8: return std::bit_cast<std::int8_t>(byte);
      case elem::u8: return byte;
      default: return to_float(bf16{half});
    }
  }
  void store(std::int64_t r, std::int64_t c, std::int64_t product, float f) {
    std::byte* p = bytes.data() + at(r, c, product);
    auto const put = [&](auto value) { std::memcpy(p, &value, sizeof(value)); };
    switch (desc.type) {
      case elem::f32:
      case elem::tf32: return put(f);
      case elem::f16: return put(to_f16(f));
      case elem::e4m3: return put(to_e4m3(f, saturation::none));
      case elem::e5m2: return put(to_e5m2(f, saturation::none));
      case elem::s32: return put(to_integer<std::int32_t>(f));
      case elem::s8: return put(to_integer<std::int8_t>(f));
      case elem::u8: return put(to_integer<std::uint8_t>(f));
      default: return put(to_bf16(f));
    }
  }
};

/// A matrix of `fill` values (an empty `fill` leaves NaN poison: 0xFF everywhere).
template <class Fill>
matrix make_matrix(elem type, order ord, std::int64_t rows, std::int64_t cols,
                   std::int64_t extra_pitch, Fill fill, std::int64_t batch = 1,
                   batch_form form = batch_form::behind, std::int64_t extra_stride = 0) {
  matrix m;
  m.matrices = form == batch_form::same ? 1 : batch;
  std::int64_t const inner = ord == order::row_major ? cols : rows;
  std::int64_t const outer = ord == order::row_major ? rows : cols;
  bool const beside = form == batch_form::beside;
  m.desc = {type, ord, beside ? (inner + extra_stride) * batch + extra_pitch : inner + extra_pitch};
  if (m.matrices > 1) m.stride = extra_stride + (beside ? inner : m.desc.pitch_elems * outer);
  if (form == batch_form::pointers) m.stride = (m.stride + 7) / 8 * 8;
  m.desc.batch_stride_elems = m.stride;
  m.rows = rows;
  m.cols = cols;
  std::int64_t const elems = m.desc.pitch_elems * outer + m.stride * (m.matrices - 1);
  m.bytes.assign(static_cast<std::size_t>(elems * size_bytes(type)) + 64, std::byte{0xFF});
  auto const address = reinterpret_cast<std::uintptr_t>(m.bytes.data());
  m.offset_bytes = (16 - address % 16) % 16;
  if constexpr (!std::is_same_v<Fill, std::nullptr_t>) {
    m.value.resize(static_cast<std::size_t>(m.matrices * rows * cols));
    for (std::int64_t b = 0; b < m.matrices; ++b)
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c) {
          m.store(r, c, b, fill());
          m.value[static_cast<std::size_t>((b * rows + r) * cols + c)] = m.load(r, c, b);
        }
  }
  if (form == batch_form::pointers) m.give_addresses();
  return m;
}

/// Moves a matrix by up to 7 elements, away from a multiple of 16 bytes. Those of a batch by
/// pointers stay where TMA would use their addresses.
inline void move_base(matrix& m, std::mt19937_64& rng) {
  int const size = size_bytes(m.desc.type);
  bool const pitch_fits = m.desc.pitch_elems * size % 16 == 0;
  if (m.bytes.empty() || (!m.addresses.empty() && pitch_fits)) return;
  auto const by = static_cast<std::size_t>(size) * (rng() % (16 / static_cast<unsigned>(size)));
  std::rotate(m.bytes.begin(), m.bytes.end() - static_cast<std::ptrdiff_t>(by), m.bytes.end());
  m.offset_bytes += by;  // what comes to the front was spare
  for (void*& x : m.addresses) x = static_cast<std::byte*>(x) + by;
}

struct product {
  gemm_problem problem;
  matrix a, b, c, d;
  gemm_operands operands() {
    gemm_operands o{a.data(), b.data(), problem.c ? c.data() : nullptr, d.data()};
    if (problem.a.has_pointers()) o.a = nullptr, o.a_array = a.addresses.data();
    if (problem.b.has_pointers()) o.b = nullptr, o.b_array = b.addresses.data();
    if (problem.c && problem.c->has_pointers()) o.c = nullptr, o.c_array = c.addresses.data();
    if (problem.d.has_pointers()) o.d = nullptr, o.d_array = d.addresses.data();
    return o;
  }
  std::string text() const {
    auto const ord = [](matrix const& m) { return m.desc.ord == order::row_major ? "row" : "col"; };
    return "m=" + std::to_string(problem.m) + " n=" + std::to_string(problem.n) +
           " k=" + std::to_string(problem.k) + " batch=" + std::to_string(problem.batch) +
           " strides " + std::to_string(a.desc.batch_stride_elems) + " " +
           std::to_string(b.desc.batch_stride_elems) + " " +
           std::to_string(d.desc.batch_stride_elems) + " A " + ord(a) + " B " + ord(b) + " D " +
           ord(d) + " ab=" + std::string(name(a.desc.type)) +
           " d=" + std::string(name(d.desc.type)) + " alpha=" + std::to_string(problem.alpha) +
           " beta=" + std::to_string(problem.beta);
  }
};

/// A random GEMM with extents up to `most`: all orders, types, strides, alpha and beta; with
/// max_batch > 1 a batch in every form of strides, or by pointers.
inline product random_product(std::mt19937_64& rng, int most, int max_batch = 1) {
  auto const any = [&](int lo, int hi) {
    return static_cast<int>(lo +
                            static_cast<std::int64_t>(rng() % static_cast<unsigned>(hi - lo + 1)));
  };
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  auto const ord = [&] { return any(0, 1) != 0 ? order::row_major : order::col_major; };
  elem const outputs[] = {elem::bf16, elem::f16, elem::f32};
  product p;
  int const m = any(1, most), n = any(1, most), k = any(1, most);
  elem const ab = any(0, 1) != 0 ? elem::bf16 : elem::f16;
  // A third of the pitches are padded to 16 bytes, so that rows that TMA loads end inside a chunk.
  auto const extra = [&](order o, int rows, int cols) {
    int const inner = o == order::row_major ? cols : rows, kind = any(0, 5);
    return kind < 2 ? (inner + 7) / 8 * 8 - inner : kind == 2 ? any(0, 9) : 0;
  };
  order const oa = ord(), ob = ord(), od = ord();
  int const batch = max_batch == 1 ? 1 : any(2, max_batch);
  batch_form const forms[] = {batch_form::behind, batch_form::beside, batch_form::pointers,
                              batch_form::pointers, batch_form::same};
  auto const form = [&](int choices) {
    return batch == 1 ? batch_form::behind : forms[any(0, choices - 1)];
  };
  // Half of the distances are multiples of 16 bytes more than dense, the others anything.
  auto const gap = [&] { return batch == 1 ? 0 : any(0, 1) != 0 ? 8 * any(0, 3) : any(0, 9); };
  p.a = make_matrix(ab, oa, m, k, extra(oa, m, k), fill, batch, form(5), gap());
  p.b = make_matrix(ab, ob, k, n, extra(ob, k, n), fill, batch, form(5), gap());
  p.d = make_matrix(outputs[any(0, 2)], od, m, n, extra(od, m, n), nullptr, batch, form(4), gap());
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F, batch};
  if (any(0, 1) != 0) p.problem.alpha = normal(rng);
  if (any(0, 2) == 0) {
    p.c = make_matrix(outputs[any(0, 2)], ord(), m, n, any(0, 3), fill, batch, form(5), gap());
    p.problem.c = p.c.desc;
    p.problem.beta = normal(rng);
  }
  return p;
}

/// Nothing between and after the rows of result `d` is written.
inline void expect_nothing_else_written(product const& p, matrix const& d) {
  std::vector<bool> inside(d.bytes.size(), false);
  for (std::int64_t of = 0; of < p.problem.batch; ++of)
    for (std::int64_t r = 0; r < d.rows; ++r)
      for (std::int64_t c = 0; c < d.cols; ++c)
        for (int b = 0; b < size_bytes(d.desc.type); ++b)
          inside[d.at(r, c, of) + static_cast<std::size_t>(b)] = true;
  for (std::size_t i = 0; i < inside.size(); ++i)
    if (!inside[i] && d.bytes[i] != std::byte{0xFF})
      FAIL() << p.text() << ": byte " << i << " outside the result written";
}

/// Checks D against float64: |D - ref| <= (K + 4) * 2^-23 * (|alpha| |A||B| + |beta| |C|) plus one
/// rounding to D's type. The sum of K exact products in float32, in any order and with truncating
/// adders, stays within K * 2^-23 of the sum of magnitudes. `of`: which product of a batch.
inline void expect_right_product(product const& p, std::int64_t of) {
  auto const m = p.problem.m, n = p.problem.n, k = p.problem.k;
  std::vector<double> ref(static_cast<std::size_t>(m * n)), mag(ref.size());
  auto const values = [&](matrix const& x) {
    auto const first = x.value.begin() + x.matrix_of(of) * x.rows * x.cols;
    return std::vector<double>(first, first + x.rows * x.cols);
  };
  std::vector<double> const a = values(p.a), b = values(p.b);
  std::vector<double> abs_a = a, abs_b = b;
  for (double& x : abs_a) x = std::fabs(x);
  for (double& x : abs_b) x = std::fabs(x);
  auto const dgemm = [&](std::vector<double> const& x, std::vector<double> const& y, double scale,
                         std::vector<double>& out) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n),
                static_cast<int>(k), scale, x.data(), static_cast<int>(k), y.data(),
                static_cast<int>(n), 0.0, out.data(), static_cast<int>(n));
  };
  dgemm(a, b, p.problem.alpha, ref);
  dgemm(abs_a, abs_b, std::fabs(p.problem.alpha), mag);
  double const rounding = p.d.desc.type == elem::bf16  ? std::ldexp(1, -8)
                          : p.d.desc.type == elem::f16 ? std::ldexp(1, -11)
                                                       : std::ldexp(1, -24);
  double const tiny = p.d.desc.type == elem::f16 ? std::ldexp(1, -25) : 0;
  for (std::int64_t r = 0; r < m; ++r)
    for (std::int64_t c = 0; c < n; ++c) {
      auto const i = static_cast<std::size_t>(r * n + c);
      double want = ref[i], size = mag[i];
      if (p.problem.c) {
        double const addend = p.problem.beta * p.c.load(r, c, of);
        want += addend;
        size += std::fabs(addend);
      }
      double const sum_error = (static_cast<double>(k) + 4) * std::ldexp(1, -23) * size;
      double const bound = sum_error + rounding * (std::fabs(want) + sum_error) + tiny;
      double const got = p.d.load(r, c, of);
      if (!(std::fabs(got - want) <= bound)) {
        FAIL() << p.text() << ": matrix " << of << ", D(" << r << "," << c << ") = " << got
               << ", want " << want << " within " << bound;
      }
    }
}

/// Each product of the batch, and that no byte outside D was written.
inline void expect_right(product const& p) {
  for (std::int64_t i = 0; i < p.problem.batch; ++i) {
    expect_right_product(p, i);
    if (testing::Test::HasFatalFailure()) return;
  }
  expect_nothing_else_written(p, p.d);
}

}  // namespace tw::test
