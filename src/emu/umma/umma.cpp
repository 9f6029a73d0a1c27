// SPDX-License-Identifier: Apache-2.0
// umma.cpp  The descriptors of tcgen05.mma and the places that they name.
#include "emu/umma/umma.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "emu/elements/operand.hpp"
#include "tilewright/base/elem_traits.hpp"

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
constexpr type_code mxf4_types[] = {{1, elem::e2m1}};

std::span<type_code const> types_of(umma_kind kind) {
  if (kind >= umma_kind::mxf4) return mxf4_types;
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

/// The types of A and B, or what is wrong with their codes.
std::optional<std::string> decode_types(umma_call const& call, umma_shape& s) {
  std::uint32_t const d = call.idesc;
  auto const a = type_of(call.kind, field(d, 7, 3));
  auto const b = type_of(call.kind, field(d, 10, 3));
  if (!a || !b)
    return fmt::format("type {} of {} does not exist; {}", field(d, a ? 10 : 7, 3), a ? 'B' : 'A',
                       types_text(call.kind));
  s.a = *a;
  s.b = *b;
  return std::nullopt;
}

std::optional<std::string> check_a_in_tmem(umma_call const& call, umma_shape const& s) {
  if (!call.a_in_tmem) return std::nullopt;
  if (s.a_major == operand_major::mn) return "A in tensor memory is K-major: bit 15 is zero";
  return std::nullopt;
}

/// Columns of B along N if its elements of 8 bits are MN-major (PTX ISA, "Matrix Shape").
std::optional<std::string> check_n_of_mn_major(umma_shape const& s) {
  int const step = s.ctas == 1 ? 16 : 32;
  if (s.b_major == operand_major::k || size_bits(s.b) != 8 || s.n % step == 0) return std::nullopt;
  return fmt::format("N = {}; with an MN-major B of 8 bits it is a multiple of {}", s.n, step);
}

/// The rule that a block-scaled instruction breaks (PTX ISA, "Instruction Descriptor",
/// "Scale Factor A ID", "Scale Factor B ID").
std::optional<std::string> decode_scaled(umma_call const& call, umma_shape& s) {
  std::uint32_t const d = call.idesc;
  bool const mxf4 = call.kind >= umma_kind::mxf4;
  if ((d & (0xBU | 1U << 6)) != 0) return "bits 0, 1, 3 and 6 are zero";
  if (field(d, 2, 1) != 0) return "bit 2 is set: sparse A is not emulated";
  if (field(d, 31, 1) != 0)
    return mxf4 ? "bit 31 is set: K = 96 of sm_103a is not emulated" : "bit 31 is zero";
  if (auto text = decode_types(call, s)) return text;
  if (mxf4 && field(d, 15, 2) != 0)
    return "bits 15 and 16 are zero: operands of 4 bits are K-major";
  s.a_major = static_cast<operand_major>(field(d, 15, 1));
  s.b_major = static_cast<operand_major>(field(d, 16, 1));
  s.negate_a = field(d, 13, 1) != 0;
  s.negate_b = field(d, 14, 1) != 0;
  s.m = 16 * field(d, 24, 5);
  s.n = 8 * field(d, 17, 6);
  s.k = umma_k(call.kind);
  s.ctas = call.ctas;
  s.scale = field(d, 23, 1) != 0 ? elem::ue8m0 : elem::ue4m3;
  s.block = call.block;
  s.dense = mxf4;
  s.sfb_id = field(d, 4, 2);
  s.sfa_id = field(d, 29, 2);
  if (has_second_level(s.scale) && call.block != 16)
    return "bit 23 is zero: factors of type ue4m3 belong to blocks of 16 of .kind::mxf4nvf4";
  if (s.m != 128 && (call.ctas == 1 || s.m != 256))
    return fmt::format("M = {}; with scale factors it is {}", s.m,
                       call.ctas == 1 ? "128" : "128 or 256");
  return check_a_in_tmem(call, s);
}

}  // namespace

std::optional<std::string> check_factor_ids(umma_shape const& s) {
  int const step = s.factors();  // 1, 2 or 4 factors of the 4 in a column
  for (auto const& [name, id] : {std::pair{"SFA", s.sfa_id}, std::pair{"SFB", s.sfb_id}})
    if (id % step != 0)
      return fmt::format("the id of {} is {}; with {} factors of a row in an instruction it is {}",
                         name, id, step, step == 2 ? "0 or 2" : "0");
  return std::nullopt;
}

std::optional<std::string> decode_umma(umma_call const& call, umma_shape& s) {
  std::uint32_t const d = call.idesc;
  auto const wrong = [&](std::string const& what) {
    return fmt::format("instruction descriptor {:#010x} of .kind::{}: {}", d,
                       name_of_kind(call.kind), what);
  };
  if (is_block_scaled(call.kind)) {
    if (call.block == 0) return wrong("this kind has scale factors: umma_scaled multiplies it");
    s = {};
    if (auto const text = decode_scaled(call, s)) return wrong(*text);
    if (auto const text = check_shape(s)) return wrong(*text);
    if (auto const text = check_n_of_mn_major(s)) return wrong(*text);
    return std::nullopt;
  }
  if ((d & (1U << 6 | 1U << 23 | 1U << 29 | 0xBU)) != 0)
    return wrong("bits 0, 1, 3, 6, 23 and 29 are zero");
  if (field(d, 2, 1) != 0) return wrong("bit 2 is set: sparse A is not emulated");
  if (field(d, 30, 2) != 0) return wrong("bits 30 and 31 are zero without .ws");
  s = {};
  if (auto const text = decode_types(call, s)) return wrong(*text);
  if (call.kind == umma_kind::f16 && s.a != s.b) return wrong("A and B have different types");
  int const d_format = field(d, 4, 2);
  if (d_format > 1) return wrong(fmt::format("type {} of D; f16 is 0, f32 is 1", d_format));
  if (d_format == 0 && (s.a == elem::bf16 || s.a == elem::tf32))
    return wrong(fmt::format("D of {} operands is f32", name(s.a)));
  s = {s.a,
       s.b,
       d_format == 0 ? elem::f16 : elem::f32,
       static_cast<operand_major>(field(d, 15, 1)),
       static_cast<operand_major>(field(d, 16, 1)),
       field(d, 13, 1) != 0,
       field(d, 14, 1) != 0,
       16 * field(d, 24, 5),
       8 * field(d, 17, 6),
       umma_k(call.kind),
       call.ctas};
  if (auto const text = check_a_in_tmem(call, s)) return wrong(*text);
  if (auto const text = check_shape(s)) return wrong(*text);
  if (auto const text = check_n_of_mn_major(s)) return wrong(*text);
  return std::nullopt;
}

smem_desc as_wgmma_desc(std::uint64_t u) {
  umma_desc const d{u};
  swizzle_mode const swizzle = d.layout_type() == 1   ? swizzle_mode::b128_base32
                               : d.layout_type() == 2 ? swizzle_mode::b128
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
  // Which layout types an operand may have: PTX ISA, "Valid Combinations of Type-Size, Major-ness
  // and Swizzling".
  bool const wide_mn_major = major == operand_major::mn && size_bits(type) == 32;
  if (layout == 1 && !wide_mn_major)
    return wrong("layout type 1 is for MN-major operands of 32 bits alone");
  if (layout != 1 && wide_mn_major)
    return wrong(
        fmt::format("layout type {}; an MN-major operand of {} has 1, 128 bytes in chunks "
                    "of 32: swizzle_mode::b128_base32",
                    layout, tw::name(type)));
  if (major == operand_major::mn && size_bits(type) < 8)
    return wrong(fmt::format("an MN-major operand of {} is not emulated", tw::name(type)));
  return check_operand(name, as_wgmma_desc(u), {major, extent, container_bytes(type)}, base, bytes);
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
  return rows_at(s, address, s.halves() ? s.n / 2 : s.n);
}

std::vector<tmem_area> umma_a_in_tmem(umma_shape const& s, std::uint32_t address) {
  return rows_at(s, address, 8);  // 32 bytes of a row
}

tmem_area umma_scales(umma_shape const& s, char operand, std::uint32_t address) {
  int const rows = operand == 'A' ? s.rows() : s.halves() ? s.n / 2 : s.n;
  return {static_cast<int>(address >> 16), tmem_lanes, static_cast<int>(address & 0xFFFF),
          (rows + 31) / 32};
}

std::uint32_t copy_source(tmem_copy_call const& call, int row, int chunk) {
  umma_desc const d{call.from};
  return d.address() + static_cast<std::uint32_t>(row % 8 * 16) +
         static_cast<std::uint32_t>(row / 8) * d.stride_bytes() +
         static_cast<std::uint32_t>(chunk) * d.leading_bytes();
}

std::vector<tmem_area> copied_areas(tmem_copy_call const& call) {
  int const lane = static_cast<int>(call.to >> 16), column = static_cast<int>(call.to & 0xFFFF);
  int const columns = 4 * tmem_copy_chunks(call.shape);
  if (call.shape != tmem_copy_shape::c4x256b) return {{lane, tmem_lanes, column, columns}};
  std::vector<tmem_area> areas;  // a row is in one lane; accesses are recorded for 16 lanes
  for (int row = 0; row < tmem_copy_rows(call.shape); ++row)
    areas.push_back({lane + tmem_copy_lane(call.shape, row, 0), 16, column, columns});
  return areas;
}

std::optional<std::string> check_copy_source(tmem_copy_call const& call, std::uint32_t base,
                                             std::uint32_t bytes) {
  umma_desc const d{call.from};
  auto const wrong = [&](std::string const& what) {
    return fmt::format("descriptor {:#018x}: {}", d.bits, what);
  };
  constexpr std::uint64_t reserved = 3ULL << 14 | 3ULL << 30 | 0xFFFULL << 49;
  if ((d.bits & reserved) != 0)
    return wrong("bits 14, 15, 30, 31 and 49 to 60 are zero (has a field overflowed?)");
  if ((d.bits >> 46 & 7U) != 1)
    return wrong(fmt::format("bits 46-48 are {:#b}; tcgen05 needs 0b001", d.bits >> 46 & 7U));
  if (d.layout_type() != 0) return wrong("copies from a swizzled tile are not emulated");
  for (int r = 0; r < tmem_copy_rows(call.shape); ++r)
    for (int c = 0; c < tmem_copy_chunks(call.shape); ++c) {
      std::uint32_t const at = copy_source(call, r, c);
      if (at < base || at + 16 > base + bytes)
        return wrong(fmt::format("row {} reaches address {:#x}; shared memory is [{:#x}, {:#x})", r,
                                 at, base, base + bytes));
    }
  return std::nullopt;
}

}  // namespace tw::emu
