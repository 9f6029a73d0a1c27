// SPDX-License-Identifier: Apache-2.0
// umma.cpp  The descriptors of tcgen05.mma and the places that they name.
#include "emu/umma.hpp"

#include <fmt/format.h>

#include <span>

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
constexpr type_code tf32_types[] = {{2, elem::tf32}};
constexpr type_code byte_types[] = {
    {0, elem::e4m3}, {1, elem::e5m2}, {3, elem::e2m3}, {4, elem::e3m2}, {5, elem::e2m1}};

std::span<type_code const> types_of(umma_kind kind) {
  if (kind == umma_kind::f16) return f16_types;
  if (kind == umma_kind::tf32) return tf32_types;
  return byte_types;
}

std::optional<elem> type_of(umma_kind kind, int code) {
  for (type_code const& t : types_of(kind))
    if (t.code == code) return t.type;
  return std::nullopt;
}

std::string types_text(umma_kind kind) {
  std::string text;
  for (type_code const& t : types_of(kind))
    text += fmt::format("{}{} is {}", text.empty() ? "" : ", ", name(t.type), t.code);
  return text;
}

/// K of an instruction: 32 bytes of an operand's row; narrow types lie in containers of a byte.
int k_of(umma_kind kind) { return kind == umma_kind::f16 ? 16 : kind == umma_kind::tf32 ? 8 : 32; }

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
  if (call.kind > umma_kind::f8f6f4)
    return wrong("this emulator multiplies .kind::f16, .kind::tf32 and .kind::f8f6f4");
  if ((d & (1U << 6 | 1U << 23 | 1U << 29 | 0xBU)) != 0)
    return wrong("bits 0, 1, 3, 6, 23 and 29 are zero");
  if (field(d, 2, 1) != 0) return wrong("bit 2 is set: sparse A is not emulated");
  if (field(d, 30, 2) != 0) return wrong("bits 30 and 31 are zero without .ws");
  auto const a = type_of(call.kind, field(d, 7, 3));
  auto const b = type_of(call.kind, field(d, 10, 3));
  if (!a || !b)
    return wrong(fmt::format("type {} of {} does not exist; {}", field(d, a ? 10 : 7, 3),
                             a ? 'B' : 'A', types_text(call.kind)));
  if (call.kind == umma_kind::f16 && *a != *b) return wrong("A and B have different types");
  int const d_format = field(d, 4, 2);
  if (d_format > 1) return wrong(fmt::format("type {} of D; f16 is 0, f32 is 1", d_format));
  if (d_format == 0 && (*a == elem::bf16 || *a == elem::tf32))
    return wrong(fmt::format("D of {} operands is f32", name(*a)));
  s = {*a,
       *b,
       d_format == 0 ? elem::f16 : elem::f32,
       static_cast<operand_major>(field(d, 15, 1)),
       static_cast<operand_major>(field(d, 16, 1)),
       field(d, 13, 1) != 0,
       field(d, 14, 1) != 0,
       16 * field(d, 24, 5),
       8 * field(d, 17, 6),
       k_of(call.kind),
       call.ctas};
  if (call.a_in_tmem && s.a_major == operand_major::mn)
    return wrong("A in tensor memory is K-major: bit 15 is zero");
  if (call.a_in_tmem && size_bits(*a) < 8)
    return wrong("A of 4 or 6 bits in tensor memory is not emulated");
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

std::optional<std::string> check_umma_operand(char name, std::uint64_t u, operand_major major,
                                              elem type, int extent, std::uint32_t base,
                                              std::uint32_t bytes) {
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
  int const layout = umma_desc{u}.layout_type();
  if (layout == 3 || layout == 5 || layout == 7)
    return wrong(
        fmt::format("layout type {} does not exist: 0 no swizzle, 1 128 bytes in chunks "
                    "of 32, 2 128, 4 64, 6 32 bytes",
                    layout));
  if (layout == 1) return wrong("layout type 1, for MN-major tf32 operands, is not emulated");
  if (major == operand_major::mn && type != elem::bf16 && type != elem::f16)
    return wrong(fmt::format("an MN-major operand of {} is not emulated", tw::name(type)));
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
  return rows_at(s, address, 8);  // 32 bytes of a row
}

}  // namespace tw::emu
