// SPDX-License-Identifier: Apache-2.0
// overlap.cpp  Two sets of lines share a byte where the distance of two of their lines, a bounded
//              sum of strides, lies within the length of a line.
#include "family/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/check.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/operand.hpp"

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

/// The address after the last byte; strides are not negative.
std::int64_t end_of(strided_bytes const& x) {
  std::int64_t at = x.begin + x.run;
  for (auto const& r : x.step)
    if (r.count > 1) at += r.stride * (r.count - 1);
  return at;
}

}  // namespace

bool share_a_byte(strided_bytes const& x, strided_bytes const& y) {
  if (x.run <= 0 || y.run <= 0) return false;
  if (x.begin >= end_of(y) || y.begin >= end_of(x)) return false;  // most launches
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
  role is;  // none: the workspace
  char const* name;
  strided_bytes bytes;
};

std::int64_t address_of(void const* p) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p));
}

region region_of(operand_desc const& x, void const* base) {
  auto const bytes = [&](std::int64_t elems) { return elems * size_bits(x.type) / 8; };
  auto const step = [&](operand_desc::repeat r) {
    return strided_bytes::repeat{bytes(r.stride_elems), r.count};
  };
  return {x.is,
          row_of(x.is).text,
          {address_of(base),
           (x.run_elems * size_bits(x.type) + 7) / 8,
           {step(x.step[0]), step(x.step[1])}}};
}

/// Operands of known addresses. Without an allocation: a launch has a few hundred nanoseconds.
struct regions {
  region list[role_count + 1] = {};  // and the workspace
  int count = 0;
  void add(region const& r) { list[count++] = r; }
  region const* begin() const { return list; }
  region const* end() const { return list + count; }
};

/// Element (i, j) of each matrix of C at the address of that of D.
bool is_in_place(gemm_problem const& p, gemm_operands const& o) {
  struct strides {
    std::int64_t row, col;
  };
  auto const of = [](matrix_desc const& m) {
    return m.ord == order::row_major ? strides{m.pitch_elems, 1} : strides{1, m.pitch_elems};
  };
  strides const c = of(*p.c), d = of(p.d);
  return o.c == o.d && size_bytes(p.c->type) == size_bytes(p.d.type) &&
         (p.m == 1 || c.row == d.row) && (result_cols(p.epilogue, p.n) == 1 || c.col == d.col) &&
         (p.batch == 1 || p.c->batch_stride_elems == p.d.batch_stride_elems);
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
  regions inputs, outputs;
  for (operand_desc const& x : operands_of(p)) {
    void const* const base = address(o, x.is);
    if (x.by_pointers || base == nullptr) continue;
    if (x.is == role::c && (p.beta == 0.0F || is_in_place(p, o))) continue;
    (x.written ? outputs : inputs).add(region_of(x, base));
  }
  if (o.workspace != nullptr && o.workspace_bytes > 0)
    outputs.add({role::none, "the workspace", {address_of(o.workspace), o.workspace_bytes, {}}});
  for (region const* i = outputs.begin(); i != outputs.end(); ++i)
    for (region const* j = outputs.begin(); j != i; ++j)
      if (share_a_byte(i->bytes, j->bytes))
        refuse("TW0428", *i, *j, "separate memory: both are written", "");
  for (region const& input : inputs)
    for (region const& output : outputs)
      if (share_a_byte(output.bytes, input.bytes))
        refuse("TW0446", output, input, "separate memory",
               input.is == role::c && output.is == role::d
                   ? "C may be D itself: the same address, leading dimension, order and batch "
                     "stride, and types of the same size"
                   : "");
}

}  // namespace tw
