// SPDX-License-Identifier: Apache-2.0
// overlap.cpp  Two sets of lines share a byte where the distance of two of their lines, a bounded
//              sum of strides, lies within the length of a line.
#include "family/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/check.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_result.hpp"

namespace tw {

namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : ~(~a / b); }
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

/// Is there a sum of `at` and of multiples 0 .. count - 1 of each stride in [lo, hi]?
struct bounded_sum {
  strided_bytes::repeat step[4];  // by stride, the largest first
  int steps = 0;
  std::int64_t rest[5] = {};  // rest[i]: the most that steps i, i + 1, ... add
  std::int64_t lo, hi;
  int tries = 4096;

  /// Strides of the same length are one stride with more steps.
  void add(strided_bytes::repeat r) {
    if (r.stride == 0 || r.count <= 1) return;
    for (int i = 0; i < steps; ++i)
      if (step[i].stride == r.stride) {
        step[i].count += r.count - 1;
        return;
      }
    step[steps++] = r;
  }
  void sort() {
    std::sort(step, step + steps, [](auto const& x, auto const& y) { return x.stride > y.stride; });
    for (int i = steps; i-- > 0;) rest[i] = rest[i + 1] + step[i].stride * (step[i].count - 1);
  }
  bool reached(int level, std::int64_t at) {
    if (--tries < 0) return false;
    if (at > hi || at + rest[level] < lo) return false;
    if (level == steps) return true;
    strided_bytes::repeat const& s = step[level];
    std::int64_t const first =
        std::max<std::int64_t>(0, ceil_div(lo - rest[level + 1] - at, s.stride));
    std::int64_t const last = std::min(s.count - 1, floor_div(hi - at, s.stride));
    for (std::int64_t i = first; i <= last && tries >= 0; ++i)
      if (reached(level + 1, at + i * s.stride)) return true;
    return false;
  }
};

}  // namespace

bool share_a_byte(strided_bytes const& x, strided_bytes const& y) {
  if (x.run <= 0 || y.run <= 0) return false;
  bounded_sum sum;
  sum.lo = 1 - x.run, sum.hi = y.run - 1;
  std::int64_t at = x.begin - y.begin;
  for (auto const& r : x.step) sum.add(r);
  for (auto const& r : y.step) {  // -j * stride = (count - 1 - j) * stride - (count - 1) * stride
    sum.add(r);
    at -= r.stride * (r.count - 1);
  }
  sum.sort();
  return sum.reached(0, at);
}

namespace {

struct region {
  char const* name;
  strided_bytes bytes;
};

/// Without an allocation: a launch has a few hundred nanoseconds.
struct regions {
  region list[9] = {};
  int count = 0;
  void add(region const& r) { list[count++] = r; }
  region const* begin() const { return list; }
  region const* end() const { return list + count; }
};

std::int64_t address_of(void const* p) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p));
}

strided_bytes lines_of(matrix_desc const& m, void const* base, std::int64_t rows, std::int64_t cols,
                       std::int64_t batch) {
  bool const row_major = m.ord == order::row_major;
  std::int64_t const line_bits = (row_major ? cols : rows) * size_bits(m.type);
  return {address_of(base),
          (line_bits + 7) / 8,
          {{m.pitch_bytes(), row_major ? rows : cols}, {m.batch_stride_bytes(), batch}}};
}

/// Element (i, j) of each matrix of C at the address of that of D.
bool is_in_place(gemm_problem const& p, gemm_operands const& o, std::int64_t cols) {
  struct strides {
    std::int64_t row, col;
  };
  auto const of = [](matrix_desc const& m) {
    return m.ord == order::row_major ? strides{m.pitch_elems, 1} : strides{1, m.pitch_elems};
  };
  strides const c = of(*p.c), d = of(p.d);
  return o.c == o.d && size_bytes(p.c->type) == size_bytes(p.d.type) &&
         (p.m == 1 || c.row == d.row) && (cols == 1 || c.col == d.col) &&
         (p.batch == 1 || p.c->batch_stride_elems == p.d.batch_stride_elems);
}

/// Everything that the GEMM reads and that has an address here.
regions inputs_of(gemm_problem const& p, gemm_operands const& o, std::int64_t d_cols) {
  regions list;
  auto const matrix = [&](char const* name, matrix_desc const& m, void const* base,
                          std::int64_t rows, std::int64_t cols) {
    if (!m.has_pointers() && base != nullptr)
      list.add({name, lines_of(m, base, rows, cols, p.batch)});
  };
  auto const scales = [&](char const* name, std::optional<scale_desc> const& s, void const* base,
                          std::int64_t outer) {
    if (!s || !is_block_scale(*s) || base == nullptr) return;
    std::int64_t const size = size_bytes(s->type);
    list.add({name,
              {address_of(base),
               scale_extent(*s, outer, p.k) * size,
               {{s->batch_stride * size, p.batch}}}});
  };
  auto const vector = [&](char const* name, bool present, void const* base, elem type,
                          std::int64_t count) {
    if (present && base != nullptr)
      list.add({name, {address_of(base), count * size_bytes(type), {}}});
  };
  matrix("A", p.a, o.a, p.m, p.k);
  matrix("B", p.b, o.b, p.k, p.n);
  scales("the scales of A", p.scale_a, o.scale_a, p.m);
  scales("the scales of B", p.scale_b, o.scale_b, p.n);
  if (p.c && p.beta != 0.0F && !is_in_place(p, o, d_cols)) matrix("C", *p.c, o.c, p.m, d_cols);
  gemm_epilogue const& e = p.epilogue;
  vector("the bias", e.bias != along::none, o.bias, e.bias_type, e.bias == along::rows ? p.m : p.n);
  vector("the row scale", e.row_scale, o.row_scale, elem::f32, p.m);
  if (p.scale_d && p.scale_d->given) vector("the scale of D", true, o.scale_d, elem::f32, 1);
  vector("the column scale", e.col_scale, o.col_scale, elem::f32, p.n);
  return list;
}

/// The bytes of the scales that are written, with what lies between them.
strided_bytes scales_of_d(gemm_problem const& p, gemm_operands const& o) {
  scale_desc const& s = p.scale_d->desc;
  if (is_block_result(p)) return {address_of(o.scale_d), block_result_bytes(p), {}};
  std::int64_t const size = size_bytes(s.type);
  std::int64_t const one = scale_extent(s, p.m, result_cols(p.epilogue, p.n));
  return {address_of(o.scale_d), one * size, {{s.batch_stride * size, p.batch}}};
}

[[noreturn]] void refuse(char const* code, region const& output, region const& other,
                         char const* need, char const* hint) {
  throw rejected({code, fmt::format("memory of {}", output.name),
                  fmt::format("an overlap with {}: they begin at {:#x} and {:#x}", other.name,
                              output.bytes.begin, other.bytes.begin),
                  need, hint});
}

}  // namespace

void check_apart(gemm_problem const& p, gemm_operands const& o) {
  std::int64_t const d_cols = result_cols(p.epilogue, p.n);
  regions outputs;
  if (!p.d.has_pointers()) outputs.add({"D", lines_of(p.d, o.d, p.m, d_cols, p.batch)});
  if (p.aux) outputs.add({"the auxiliary output", lines_of(*p.aux, o.aux, p.m, p.n, p.batch)});
  if (p.scale_d && !p.scale_d->given) outputs.add({"the scales of D", scales_of_d(p, o)});
  if (o.workspace != nullptr && o.workspace_bytes > 0)
    outputs.add({"the workspace", {address_of(o.workspace), o.workspace_bytes, {}}});
  for (region const* i = outputs.begin(); i != outputs.end(); ++i)
    for (region const* j = outputs.begin(); j != i; ++j)
      if (share_a_byte(i->bytes, j->bytes))
        refuse("TW0428", *i, *j, "separate memory: both are written", "");
  for (region const& input : inputs_of(p, o, d_cols))
    for (region const& output : outputs)
      if (share_a_byte(output.bytes, input.bytes))
        refuse("TW0446", output, input, "separate memory",
               input.name[0] == 'C' && output.name[0] == 'D'
                   ? "C may be D itself: the same address, leading dimension, order and batch "
                     "stride, and types of the same size"
                   : "");
}

}  // namespace tw
