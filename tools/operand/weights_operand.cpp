// SPDX-License-Identifier: Apache-2.0
// weights_operand.cpp  Looks at names and at the first bytes.
#include "tools/operand/weights_operand.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "tilewright/kernel/weights/weight_checkpoint.hpp"
#include "tools/operand/checkpoint_tensors.hpp"

namespace tw {

std::optional<weights_operand> weights_operand::of_checkpoint(std::string const& address,
                                                              gating gate) {
  matrix_address const at = parse_address(address);
  bool const in_file = at.format == file_format::safetensors || at.format == file_format::index;
  bool const named = std::ranges::any_of(
      std::initializer_list<char const*>{".qweight", ".weight_packed", "_blocks"},
      [&](char const* end) { return at.tensor.ends_with(end); });
  if (!in_file || !named) return std::nullopt;
  std::optional<checkpoint_file> found;
  try {
    found.emplace(checkpoint_file::addresses{address, {}, {}, {}});
  } catch (rejected const& e) {
    if (std::string_view(e.why().code) == "TW0468") return std::nullopt;  // its scales are missing
    throw;
  }
  checkpoint_file const& file = *found;
  checkpoint_options options;
  options.second_is_reciprocal = file.second_is_reciprocal();
  checkpoint_weights c = read_checkpoint(file.tensors(), options);
  c.desc.format.gate = gate;
  weights_operand w;
  bytes const size{c.desc.bytes()};
  require_memory(size, "prepared weights");
  w.copy_ = host_buffer(size);
  static_cast<void>(prepare_weights(c.desc, c.rows(), w.copy_.data()));
  w.desc_ = c.desc, w.layout_ = c.layout, w.data_ = w.copy_.data();
  return w;
}

std::optional<weights_operand> weights_operand::of_file(matrix_view const& file) {
  std::span<std::byte const> const content(file.data, static_cast<std::size_t>(file.size().count));
  if (file.type != elem::u8 || !file.vector || !is_prepared(content)) return std::nullopt;
  weights_operand w;
  w.desc_ = read_weights_header(content), w.data_ = file.data;
  constexpr std::uintptr_t alignment = 16;  // of bulk copies
  if (reinterpret_cast<std::uintptr_t>(file.data) % alignment == 0) return w;
  w.copy_ = host_buffer(file.size());
  std::memcpy(w.copy_.data(), file.data, content.size());
  w.data_ = w.copy_.data();
  return w;
}

matrix_view weights_operand::view(elem type) const {
  return {type, order::col_major, desc_.k, desc_.n, data_, desc_.matrices};
}

elem multiplied_type(weight_format const& f, elem other) {
  if (f.fp8) return elem::e4m3;
  if (f.code == weight_code::int4) return f.scale;
  return other == elem::f16 ? elem::f16 : elem::bf16;
}

}  // namespace tw
