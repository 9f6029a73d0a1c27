// SPDX-License-Identifier: Apache-2.0
// safetensors.cpp  Header against data: every byte belongs to exactly one tensor of the right size.
#include "tools/io/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "tools/io/file_types.hpp"
#include "tools/io/in_quotes.hpp"
#include "tools/io/packed_tensor.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/safetensors_header.hpp"

namespace tw {
namespace {

constexpr std::uint64_t header_limit_bytes = 100'000'000;  // the format's own limit

/// Bits of an element by the format's name of its type; nothing for a type not known here.
std::optional<int> bits_of_dtype(std::string const& dtype) {
  struct row {
    int bits;
    std::string_view name;
  };
  constexpr row rows[] = {{4, "F4"},          {6, "F6_E2M3"},    {6, "F6_E3M2"}, {8, "BOOL"},
                          {8, "U8"},          {8, "I8"},         {8, "F8_E5M2"}, {8, "F8_E4M3"},
                          {8, "F8_E8M0"},     {16, "U16"},       {16, "I16"},    {16, "F16"},
                          {16, "BF16"},       {32, "U32"},       {32, "I32"},    {32, "F32"},
                          {64, "U64"},        {64, "I64"},       {64, "F64"},    {64, "C64"},
                          {8, "F8_E4M3FNUZ"}, {8, "F8_E5M2FNUZ"}};
  for (row const& r : rows)
    if (dtype == r.name) return r.bits;
  return std::nullopt;
}

std::optional<std::int64_t> size_of(tensor_entry const& t, int bits) {
  std::int64_t n = bits;
  for (std::int64_t extent : t.shape) {
    if (__builtin_mul_overflow(n, extent, &n)) return std::nullopt;
  }
  return n / 8 + (n % 8 != 0 ? 1 : 0);
}

std::string shape_text(tensor_entry const& t) {
  return fmt::format("{} of shape [{}]", in_quotes(t.dtype), fmt::join(t.shape, ", "));
}

void check_size(tensor_entry const& t, std::string const& what) {
  auto const bits = bits_of_dtype(t.dtype);
  if (!bits) return;
  auto const size = size_of(t, *bits);
  if (!size) {
    refuse("TW0606", what, shape_text(t), "a size in bytes below 2^63", "the header is corrupt");
  }
  if (*size != t.end_bytes - t.begin_bytes) {
    refuse("TW0609", what, fmt::format("data_offsets of {} bytes", t.end_bytes - t.begin_bytes),
           fmt::format("{} bytes for {}", *size, shape_text(t)), "the header is corrupt");
  }
}

/// Tensors, in the order of their offsets, follow each other from 0 to the end of the data.
void check_offsets(std::vector<tensor_entry> const& tensors, std::int64_t data_bytes,
                   std::string const& file) {
  std::vector<tensor_entry const*> sorted;
  for (tensor_entry const& t : tensors) sorted.push_back(&t);
  std::sort(sorted.begin(), sorted.end(), [](auto const* a, auto const* b) {
    return std::pair(a->begin_bytes, a->end_bytes) < std::pair(b->begin_bytes, b->end_bytes);
  });
  std::int64_t covered = 0;
  for (tensor_entry const* t : sorted) {
    std::string const what = fmt::format("tensor {} of {}", in_quotes(t->name), file);
    std::string const got = fmt::format("data_offsets [{}, {}]", t->begin_bytes, t->end_bytes);
    if (t->begin_bytes != covered || t->end_bytes < t->begin_bytes) {
      refuse("TW0609", what, got, fmt::format("a range that begins at {}", covered),
             "offsets must not overlap or leave gaps; the header is corrupt");
    }
    if (t->end_bytes > data_bytes) {
      refuse("TW0603", what, got, fmt::format("offsets within the {} bytes of data", data_bytes),
             "the file is truncated");
    }
    check_size(*t, what);
    covered = t->end_bytes;
  }
  if (covered != data_bytes) {
    refuse("TW0609", "data of " + file, fmt::format("{} bytes", data_bytes),
           fmt::format("the {} bytes of its tensors", covered), "the file is corrupt");
  }
}

matrix_view typed_view(tensor_entry const& t, std::string const& what, bool longs) {
  if (longs && t.dtype == "I64") return {.type = elem::s32, .longs = true};
  if (t.dtype == "F64") return {.type = elem::f32, .doubles = true};
  if (auto const type = type_of_dtype(t.dtype)) return {.type = *type};
  if (is_fnuz(t.dtype))
    refuse("TW0661", "element type of " + what,
           in_quotes(t.dtype) + ", an 8-bit float of AMD with another bias",
           "F8_E4M3 or F8_E5M2, or F16, BF16 or F32",
           "its numbers are exact in BF16: tensor.to(torch.bfloat16); then `tilewright quantize`");
  refuse("TW0604", "element type of " + what, in_quotes(t.dtype),
         "F16, BF16, F32, F64, F4, F6_E2M3, F6_E3M2, F8_E4M3, F8_E5M2, F8_E8M0, I8, U8 or I32");
}

/// Part `index` of a tensor along its first dimension: what "experts[3]" names.
tensor_entry part_of(tensor_entry t, std::int64_t index, std::string const& file) {
  std::string const what = fmt::format("part of {}:{}", file, in_quotes_if_odd(t.name));
  if (t.shape.size() < 2)
    refuse("TW0610", what, fmt::format("[{}] of {}", index, shape_text(t)),
           "a tensor of at least two dimensions");
  std::int64_t const parts = t.shape[0], bytes = t.end_bytes - t.begin_bytes;
  if (index >= parts)
    refuse("TW0610", what, fmt::format("[{}]", index), fmt::format("[0] to [{}]", parts - 1));
  auto const bits = bits_of_dtype(t.dtype);
  if (bits && *bits < 8) {
    std::int64_t in_part = *bits;
    for (std::size_t i = 1; i < t.shape.size(); ++i) in_part *= t.shape[i];
    if (in_part % 8 != 0)
      refuse("TW0610", what, fmt::format("[{}] of {}", index, shape_text(t)),
             "parts that begin with a byte");
  }
  t.begin_bytes += bytes / parts * index;
  t.end_bytes = t.begin_bytes + bytes / parts;
  t.shape.erase(t.shape.begin());
  t.name += fmt::format("[{}]", index);
  return t;
}

tensor_entry find(std::vector<tensor_entry> const& tensors, std::string const& file,
                  std::string const& tensor) {
  if (tensor.empty() && tensors.size() == 1) return tensors[0];
  auto const named = [&](std::string_view name) {
    return std::ranges::find(tensors, name, &tensor_entry::name);
  };
  if (auto const t = named(tensor); !tensor.empty() && t != tensors.end()) return *t;
  if (auto const part = part_in(tensor))
    if (auto const t = named(part->tensor); t != tensors.end())
      return part_of(*t, part->index, file);
  std::size_t const shown = std::min<std::size_t>(tensors.size(), 20);
  std::string names;
  for (std::size_t i = 0; i < shown; ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", in_quotes(tensors[i].name));
  }
  if (shown < tensors.size()) names += fmt::format(" and {} more", tensors.size() - shown);
  refuse("TW0610", "tensor of " + file, tensor.empty() ? "no name" : in_quotes(tensor),
         names.empty() ? "a file that holds tensors" : "one of " + names,
         "write FILE.safetensors:TENSOR");
}

}  // namespace

std::optional<named_part> part_in(std::string_view tensor) {
  std::size_t const open = tensor.rfind('[');
  if (open == std::string_view::npos || !tensor.ends_with("]")) return std::nullopt;
  named_part part{std::string(tensor.substr(0, open)), 0};
  char const *const first = tensor.data() + open + 1, *const last = tensor.data() + tensor.size();
  auto const [end, error] = std::from_chars(first, last - 1, part.index);
  if (error != std::errc{} || end != last - 1 || part.index < 0) return std::nullopt;
  return part;
}

safetensors_list list_safetensors(std::span<std::byte const> content, std::string const& file) {
  refuse_gguf(content, file);
  if (content.size() < 8) {
    refuse("TW0603", "header length of " + file, fmt::format("a file of {} bytes", content.size()),
           "at least 8 bytes", "the file is truncated, or no .safetensors file");
  }
  std::uint64_t header_bytes = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    header_bytes |= static_cast<std::uint64_t>(content[i]) << (8 * i);
  }
  if (header_bytes > header_limit_bytes) {
    refuse("TW0608", "header length of " + file, fmt::format("{} bytes", header_bytes),
           fmt::format("at most {} bytes", header_limit_bytes), "this is no .safetensors file");
  }
  if (content.size() - 8 < header_bytes) {
    refuse("TW0603", "header of " + file, fmt::format("a file of {} bytes", content.size()),
           fmt::format("{} bytes for the header alone", 8 + header_bytes), "the file is truncated");
  }
  safetensors_list list;
  list.data_at = 8 + static_cast<std::size_t>(header_bytes);
  std::string_view const text{reinterpret_cast<char const*>(content.data()) + 8, header_bytes};
  list.tensors = parse_safetensors_header(text, file);
  check_offsets(list.tensors, static_cast<std::int64_t>(content.size() - list.data_at), file);
  return list;
}

matrix_view view_safetensors(std::span<std::byte const> content, std::string const& file,
                             std::string const& tensor, accepted_shapes const& accepted) {
  safetensors_list const list = list_safetensors(content, file);
  tensor_entry const t = find(list.tensors, file, tensor);
  std::string const what = file + ":" + in_quotes_if_odd(t.name);
  auto const part = part_in(t.name);
  std::string const name = part ? part->tensor : t.name;
  if (accepted.of_operand) refuse_packed(t, name, list.tensors, what, accepted.packed_e2m1);
  matrix_view m = typed_view(t, what, accepted.longs);
  bool const bytes_of_two = accepted.packed_e2m1 && m.type == elem::u8;
  std::vector<std::int64_t> const shape = folded(t.shape, accepted, m.type == elem::u8, name);
  if (shape.size() == 3 && accepted.stacks) {
    m.matrices = shape[0], m.rows = shape[1], m.cols = shape[2];
  } else if (shape.size() == 2) {
    m.rows = shape[0], m.cols = shape[1];
  } else if (shape.size() == 1 && accepted.vectors) {
    m.rows = 1, m.cols = shape[0], m.vector = true;
  } else if (shape.empty() && accepted.scalars) {
    m.rows = m.cols = 1, m.vector = true;
  } else {
    refuse("TW0605", "shape of " + what,
           fmt::format("{} dimension{}", shape.size(), shape.size() == 1 ? "" : "s"),
           accepted.stacks ? "2 or 3 dimensions" : "2 dimensions",
           shape.size() == 3 ? accepted.for_stacks : "");
  }
  check_extents(what, m, bytes{t.end_bytes - t.begin_bytes}, accepted.empty);
  m.data = content.data() + list.data_at + static_cast<std::size_t>(t.begin_bytes);
  return bytes_of_two ? as_packed_e2m1(m, what) : m;
}

std::string safetensors_header(std::string const& tensor, elem type, std::int64_t rows,
                               std::int64_t cols) {
  return safetensors_header(tensor, type, {rows, cols});
}

std::string safetensors_header(std::string const& tensor, elem type,
                               std::vector<std::int64_t> const& shape) {
  return safetensors_header({{tensor, type, shape}});
}

std::string safetensors_header(std::vector<named_tensor> const& tensors) {
  nlohmann::ordered_json header;
  std::string text;
  std::int64_t at = 0;
  for (named_tensor const& t : tensors) {
    std::int64_t size = size_bits(t.type);
    for (std::int64_t const extent : t.shape) size *= extent;
    size = (size + 7) / 8;
    header[t.name] = {
        {"dtype", in_files(t.type).dtype}, {"shape", t.shape}, {"data_offsets", {at, at + size}}};
    at += size;
    try {
      if (t.name.empty() || t.name == "__metadata__") throw std::invalid_argument("reserved");
      text = header.dump();  // throws on a name that is not UTF-8
    } catch (std::exception const&) {
      refuse("TW0608", "name of the output tensor", in_quotes(t.name),
             "a name in UTF-8, not empty and not __metadata__");
    }
  }
  text.append((64 - (8 + text.size()) % 64) % 64, ' ');  // data aligned as TMA and mmap like it
  std::string out;
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(text.size() >> (8 * i) & 0xFF));
  return out + text;
}

}  // namespace tw
