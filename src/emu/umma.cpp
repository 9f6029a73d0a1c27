// SPDX-License-Identifier: Apache-2.0
// umma.cpp  The descriptors of tcgen05.mma and the places that they name.
#include "emu/umma.hpp"

#include <fmt/format.h>

#include "emu/operand.hpp"

namespace tw::emu {

namespace {

int field(std::uint32_t bits, int at, int size) {
  return static_cast<int>(bits >> at & ((1U << size) - 1));
}

struct type_code {
  int code;
  elem type;
};
constexpr type_code f16_types[] = {{0, elem::f16}, {1, elem::bf16}};

std::optional<elem> type_of(umma_kind kind, int code) {
  if (kind == umma_kind::f16)
    for (type_code const& t : f16_types)
      if (t.code == code) return t.type;
  return std::nullopt;
}

char const* name_of_kind(umma_kind k) {
  static constexpr char const* names[] = {"f16", "tf32", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4"};
  return names[static_cast<int>(k)];
}

/// M and N that PTX ISA, "Matrix Shape", allows.
std::optional<std::string> check_shape(umma_shape const& s) {
  bool const m_fits = s.ctas == 1 ? s.m == 64 || s.m == 128 : s.m == 128 || s.m == 256;
  if (!m_fits)
    return fmt::format("M = {}; {} multiply {}", s.m,
                       s.ctas == 1 ? "one CTA can" : "a CTA pair can",
                       s.ctas == 1 ? "64 or 128 rows" : "128 or 256 rows");
  int const step = s.ctas == 1 ? 8 : 16;
  if (s.n < step || s.n > 256 || s.n % step != 0)
    return fmt::format("N = {}; it is a multiple of {} from {} to 256 for {}", s.n, step, step,
                       s.ctas == 1 ? "one CTA" : "a CTA pair");
  return std::nullopt;
}

}  // namespace

std::optional<std::string> decode_umma(umma_call const& call, umma_shape& s) {
  std::uint32_t const d = call.idesc;
  auto const wrong = [&](std::string const& what) {
    return fmt::format("instruction descriptor {:#010x} of .kind::{}: {}", d,
                       name_of_kind(call.kind), what);
  };
  if (call.kind != umma_kind::f16) return wrong("this emulator multiplies .kind::f16");
  if ((d & (1U << 6 | 1U << 23 | 1U << 29 | 0xBU)) != 0)
    return wrong("bits 0, 1, 3, 6, 23 and 29 are zero");
  if (field(d, 2, 1) != 0) return wrong("bit 2 is set: sparse A is not emulated");
  if (field(d, 30, 2) != 0) return wrong("bits 30 and 31 are zero without .ws");
  auto const a = type_of(call.kind, field(d, 7, 3));
  auto const b = type_of(call.kind, field(d, 10, 3));
  if (!a || !b)
    return wrong(fmt::format("type {} of {} does not exist; f16 is 0, bf16 is 1",
                             field(d, a ? 10 : 7, 3), a ? 'B' : 'A'));
  if (*a != *b) return wrong("A and B have different types");
  int const d_format = field(d, 4, 2);
  if (d_format > 1) return wrong(fmt::format("type {} of D; f16 is 0, f32 is 1", d_format));
  if (d_format == 0 && *a == elem::bf16) return wrong("D of bf16 operands is f32");
  s = {*a,
       *b,
       d_format == 0 ? elem::f16 : elem::f32,
       static_cast<operand_major>(field(d, 15, 1)),
       static_cast<operand_major>(field(d, 16, 1)),
       field(d, 13, 1) != 0,
       field(d, 14, 1) != 0,
       16 * field(d, 24, 5),
       8 * field(d, 17, 6),
       256 / size_bits(*a),
       call.ctas};
  if (call.a_in_tmem && s.a_major == operand_major::mn)
    return wrong("A in tensor memory is K-major: bit 15 is zero");
  if (auto const text = check_shape(s)) return wrong(*text);
  return std::nullopt;
}

smem_desc as_wgmma_desc(std::uint64_t u) {
  umma_desc const d{u};
  swizzle_mode const swizzle = d.layout_type() == 2   ? swizzle_mode::b128
                               : d.layout_type() == 4 ? swizzle_mode::b64
                               : d.layout_type() == 6 ? swizzle_mode::b32
                                                      : swizzle_mode::none;
  return make_smem_desc(d.address(), d.leading_bytes(), d.stride_bytes(), swizzle);
}

std::optional<std::string> check_umma_operand(char name, std::uint64_t u, operand_major major, elem,
                                              int extent, std::uint32_t base, std::uint32_t bytes) {
  auto const wrong = [&](std::string const& what) {
    return fmt::format("descriptor {:#018x} of {}: {}", u, name, what);
  };
  constexpr std::uint64_t reserved = 3ULL << 14 | 3ULL << 30 | 0xFFULL << 53;
  if ((u & reserved) != 0)
    return wrong("bits 14, 15, 30, 31 and 53 to 60 are zero (has a field overflowed?)");
  if ((u >> 46 & 7U) != 1)
    return wrong(fmt::format("bits 46-48 are {:#b}; tcgen05 needs 0b001", u >> 46 & 7U));
  if ((u >> 49 & 7U) != 0)
    return wrong("the base offset is not zero; atoms start at multiples of 8 swizzle spans");
  if ((u >> 52 & 1U) != 0)
    return wrong("bit 52, an address for the leading offset, is not emulated");
  int const type = umma_desc{u}.layout_type();
  if (type == 3 || type == 5 || type == 7)
    return wrong(
        fmt::format("layout type {} does not exist: 0 no swizzle, 1 128 bytes in chunks "
                    "of 32, 2 128, 4 64, 6 32 bytes",
                    type));
  if (type == 1) return wrong("layout type 1 is for MN-major tf32 operands");
  return check_operand(name, as_wgmma_desc(u), major, extent, base, bytes);
}

namespace {

/// Rows of one CTA: one lane each, or with M = 64 in 16 of each 32 lanes.
std::vector<tmem_area> rows_at(umma_shape const& s, std::uint32_t address, int columns) {
  int const lane = static_cast<int>(address >> 16);
  int const column = static_cast<int>(address & 0xFFFF);
  if (s.ctas == 2 || s.m == 128) return {{lane, tmem_lanes, column, columns}};
  std::vector<tmem_area> parts;
  for (int i = 0; i < tmem_lanes; i += 32) parts.push_back({lane + i, 16, column, columns});
  return parts;
}

}  // namespace

std::vector<tmem_area> umma_accumulator(umma_shape const& s, std::uint32_t address) {
  bool const halves = s.ctas == 2 && s.m == 128;  // columns from N / 2 on are in lanes from 64 on
  return rows_at(s, address, halves ? s.n / 2 : s.n);
}

std::vector<tmem_area> umma_a_in_tmem(umma_shape const& s, std::uint32_t address) {
  return rows_at(s, address, s.k * size_bits(s.a) / 32);
}

}  // namespace tw::emu
