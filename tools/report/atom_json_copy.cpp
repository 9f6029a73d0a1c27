// SPDX-License-Identifier: Apache-2.0
// atom_json_copy.cpp  Questions about copies, shared-memory atoms, descriptors and TMA, as JSON.
#include "tools/report/atom_json_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "tilewright/atom/call.hpp"
#include "tilewright/atom/copy_names.hpp"
#include "tilewright/atom/descriptor.hpp"
#include "tilewright/atom/tma_params.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/base/elem_text.hpp"
#include "tools/report/atom_json.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

layout layout_of(std::string_view text) {
  return parse_layout(text.data(), static_cast<int>(text.size()));
}
tree tree_of(std::string_view text) {
  return parse_tree(text.data(), static_cast<int>(text.size()));
}

[[noreturn]] void refuse_question(std::string_view what, std::string_view got,
                                  std::string_view need) {
  throw rejected({"TW0121", std::string(what), fmt::format("'{}'", got), std::string(need),
                  "see tests/conform/atoms.jsonl"});
}

i64 number_of(std::string_view text) {
  i64 n = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size()) {
    refuse_question("number", text, "an integer");
  }
  return n;
}

/// Numbers stand in the questions as numbers or as text.
i64 number_field(json const& q, std::string const& key) {
  if (q.contains(key) && q.at(key).is_string()) return number_of(text_field(q, key));
  return integer_field(q, key);
}

json answer_copy_bits(json const& q) {
  copy_atom const a = one_copy(text_field(q, "name"));
  json out;
  put_layout(out, "ThrID", a.thr_id);
  put_layout(out, "SrcLayout", a.src);
  put_layout(out, "DstLayout", a.dst);
  put_layout(out, "RefLayout", a.ref);
  return out;
}

json answer_copy_values(json const& q) {
  copy_atom const a = in_values(one_copy(text_field(q, "name")), number_field(q, "bits"));
  json out;
  put_layout(out, "ValLayoutSrc", a.src);
  put_layout(out, "ValLayoutDst", a.dst);
  put_layout(out, "ValLayoutRef", a.ref);
  return out;
}

/// Which atom a name means: [GMMA::|UMMA::][Layout_](K|MN)_(INTER|SW32|SW64|SW128|SW128_32B)[_Atom]
struct smem_name {
  operand_major major;
  smem_swizzle mode;
};

smem_name parse_smem_name(std::string_view name) {
  std::string_view n = name;
  for (std::string_view const prefix : {"GMMA::", "UMMA::"}) {
    if (n.starts_with(prefix)) n.remove_prefix(prefix.size());
  }
  if (n.starts_with("Layout_")) n.remove_prefix(7);
  if (n.ends_with("_Atom")) n.remove_suffix(5);
  smem_name out{operand_major::k, smem_swizzle::none};
  if (n.starts_with("MN_")) out.major = operand_major::mn;
  std::size_t const at = n.find('_');
  std::string_view const mode = at == std::string_view::npos ? n : n.substr(at + 1);
  struct row {
    std::string_view text;
    smem_swizzle mode;
  };
  for (row const& r : {row{"INTER", smem_swizzle::none}, row{"SW32", smem_swizzle::b32},
                       row{"SW64", smem_swizzle::b64}, row{"SW128", smem_swizzle::b128},
                       row{"SW128_32B", smem_swizzle::b128_base32}}) {
    bool const legal = r.mode != smem_swizzle::b128_base32 || out.major == operand_major::mn;
    if (mode == r.text && legal && (n.starts_with("K_") || n.starts_with("MN_"))) {
      out.mode = r.mode;
      return out;
    }
  }
  refuse_question("shared-memory atom", name,
                  "(K|MN)_(INTER|SW32|SW64|SW128), or MN_SW128_32B for tcgen05");
}

/// The reference's text of a layout whose swizzle stands for byte addresses.
std::string flagged_text(layout const& l, smem_swizzle mode, i64 bits) {
  swizzle const s = mode == smem_swizzle::none ? swizzle{0, 4, 3} : byte_swizzle(mode);
  return fmt::format("Sw<{},{},{}> o smem_ptr[{}b](unset) o {}", s.bits, s.base, s.shift, bits,
                     to_string(linear_part(l)));
}

json smem_answer(layout const& l, smem_swizzle mode, i64 bits) {
  json out;
  out["flagged"] = flagged_text(l, mode, bits);
  put_layout(out, "layout", l);
  return out;
}

json answer_smem_atom(json const& q) {
  smem_name const n = parse_smem_name(text_field(q, "name"));
  i64 const bits = number_field(q, "bits");
  return smem_answer(smem_atom(n.major, n.mode, bits), n.mode, bits);
}

json answer_smem_tile(json const& q) {
  smem_name const n = parse_smem_name(text_field(q, "name"));
  i64 const bits = number_field(q, "bits");
  layout const block = smem_atom(n.major, n.mode, bits);
  tree const shape = tree_of(text_field(q, "shape"));
  layout const l = q.contains("order")
                       ? tile_to_shape(block, shape, tree_of(text_field(q, "order")))
                       : tile_to_shape(block, shape);
  return smem_answer(l, n.mode, bits);
}

/// "K_SW32 f16 64x64 tile, k-slice 0 of 16", or "K_SW32" with fields bits and shape.
struct descriptor_question {
  smem_name atom;
  i64 bits = 16;
  tree tile;
  i64 step = 0;
};

i64 bits_named(std::string_view type) {
  if (type == "f8") return 8;
  auto const named = [](elem e) { return size_bits(e) >= 8; };
  auto const e = parse_elem(type);
  if (e && named(*e)) return size_bits(*e);
  refuse_question("element type", type, list_of(elems_that(named)));
}

descriptor_question parse_descriptor_question(json const& q) {
  descriptor_question d;
  std::string const name = text_field(q, "name");
  std::vector<std::string_view> words;
  for (std::string_view rest = name; !rest.empty();) {
    std::size_t const end = std::min(rest.find(' '), rest.size());
    if (end > 0) words.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (words.empty()) refuse_question("descriptor", name, "a shared-memory atom");
  d.atom = parse_smem_name(words[0]);
  if (q.contains("bits")) d.bits = number_field(q, "bits");
  if (q.contains("shape")) d.tile = tree_of(text_field(q, "shape"));
  if (words.size() > 1) d.bits = bits_named(words[1]);
  if (words.size() > 2) {
    std::size_t const x = words[2].find('x');
    if (x == std::string_view::npos) refuse_question("tile", words[2], "ROWSxCOLUMNS");
    d.tile = make_shape(number_of(words[2].substr(0, x)), number_of(words[2].substr(x + 1)));
  }
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "k-slice") d.step = number_of(words[i + 1]);
  }
  if (d.tile.n == 0) refuse_question("descriptor", name, "the tile's shape");
  return d;
}

operand_places places_asked(json const& q) {
  descriptor_question const d = parse_descriptor_question(q);
  layout const t = tile_to_shape(smem_atom(d.atom.major, d.atom.mode, d.bits), d.tile);
  return places_of_operand(operand_step(t, d.bits, d.step), d.atom.major, d.bits);
}

json answer_wgmma_descriptor(json const& q) {
  wgmma_descriptor const d = make_wgmma_descriptor(places_asked(q));
  return {{"lbo_16B", d.leading_16b},
          {"sbo_16B", d.stride_16b},
          {"layout_type", d.layout_type},
          {"base_offset", d.base_offset},
          {"start_16B", d.start_16b}};
}

json answer_tcgen05_descriptor(json const& q) {
  tcgen05_descriptor const d = make_tcgen05_descriptor(places_asked(q));
  return {{"lbo_16B", d.leading_16b},     {"sbo_16B", d.stride_16b},
          {"layout_type", d.layout_type}, {"version", d.version},
          {"base_offset", d.base_offset}, {"lbo_mode", d.leading_mode},
          {"start_16B", d.start_16b}};
}

json answer_tiled_copy(json const& q) {
  tiled_copy const c = parse_tiled_copy(text_field(q, "name"));
  json out;
  out["Tiler_MN"] = to_string(c.tile);
  put_layout(out, "TiledLayout_TV", c.tv);
  put_layout(out, "layoutS_TV", layout_s(c));
  put_layout(out, "layoutD_TV", layout_d(c));
  return out;
}

/// A part of a tensor with the offsets that its elements have in the tensor.
void put_part(json& out, std::string const& key, sliced const& s) {
  put_layout(out, key, s.kept, s.offset);
  out["n"] = size(s.kept);
}

json answer_partition(json const& q) {
  tiled_copy const c = parse_tiled_copy(text_field(q, "name"));
  layout const tensor = layout_of(text_field(q, "tensor"));
  i64 const thread = number_field(q, "thr");
  json out;
  put_part(out, "S", partition_s(c, tensor, thread));
  put_part(out, "D", partition_d(c, tensor, thread));
  return out;
}

/// A shared-memory layout, in elements; "smem_ptr[16b](unset)" says that its swizzle is of bytes.
layout smem_layout_of(std::string_view text, i64 bits) {
  std::size_t const flag = text.find("smem_ptr");
  if (flag == std::string_view::npos) return layout_of(text);
  std::size_t const end = text.find(" o ", flag);
  std::size_t const start = text.find(" o ");
  if (end == std::string_view::npos || start > flag) {
    refuse_question("shared-memory layout", text, "Sw<B,M,S> o smem_ptr[..] o LAYOUT");
  }
  layout const l = layout_of(text.substr(end + 3));
  std::string_view const sw = text.substr(0, start);
  return swizzled(from_bytes(parse_swizzle(sw.data(), static_cast<int>(sw.size())), bits), l);
}

json answer_tma(json const& q) {
  i64 const bits = number_field(q, "bits");
  std::string const tiler_text = text_field(q, "tiler");
  tma_params const p =
      make_tma_params(layout_of(text_field(q, "gmem")), smem_layout_of(text_field(q, "smem"), bits),
                      parse_tiler(tiler_text.data(), static_cast<int>(tiler_text.size())), bits);
  json out;
  out["gbasis"] = to_string(p.basis);
  out["dim"] = p.dims;
  for (char const* key : {"globalDim", "globalStrideBytes", "boxDim"}) out[key] = json::array();
  for (int i = 0; i < p.dims; ++i) {
    out["globalDim"].push_back(p.global_dim[i]);
    out["globalStrideBytes"].push_back(p.stride_bytes[i]);
    out["boxDim"].push_back(p.box[i]);
  }
  out["swizzleBytes"] = p.swizzle == smem_swizzle::none ? 0 : span_bytes(p.swizzle);
  return out;
}

}  // namespace

std::optional<json> answer_copy_question(json const& question) {
  std::string const op = text_field(question, "op");
  if (op == "copy_atom_bits") return answer_copy_bits(question);
  if (op == "copy_atom_val") return answer_copy_values(question);
  if (op == "smem_atom") return answer_smem_atom(question);
  if (op == "smem_tile_to_shape") return answer_smem_tile(question);
  if (op == "gmma_desc") return answer_wgmma_descriptor(question);
  if (op == "umma_desc") return answer_tcgen05_descriptor(question);
  if (op == "tiled_copy") return answer_tiled_copy(question);
  if (op == "tiled_copy_partition") return answer_partition(question);
  if (op == "tma_params") return answer_tma(question);
  return {};
}

}  // namespace tw
