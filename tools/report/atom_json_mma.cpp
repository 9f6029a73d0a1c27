// SPDX-License-Identifier: Apache-2.0
// atom_json_mma.cpp  Questions about MMA atoms, tiled MMAs, tcgen05 descriptors, tensor memory.
#include <fmt/format.h>

#include <string_view>

#include "tilewright/atom/call.hpp"
#include "tilewright/atom/mma_names.hpp"
#include "tilewright/atom/tmem_fragment.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tilewright/base/check.hpp"
#include "tools/report/atom_json.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

constexpr mma_operand operands[] = {mma_operand::a, mma_operand::b, mma_operand::c};

std::string letter(mma_operand which) {
  return which == mma_operand::a ? "A" : which == mma_operand::b ? "B" : "C";
}

layout layout_of(std::string const& text) {
  return parse_layout(text.data(), static_cast<int>(text.size()));
}

json atom_fields(json const& question) {
  mma_atom const a = one_mma(text_field(question, "name"));
  json fields;
  put_layout(fields, "ThrID", thr_id(a));
  fields["Shape_MNK"] = to_string(shape_mnk(a));
  for (mma_operand const which : operands) {
    put_layout(fields, letter(which) + "Layout", tv_layout(a, which));
  }
  if (a.arch == mma_arch::sm120 && a.scale_block != 0) {
    put_layout(fields, "SFALayout", layout_sfa(a));
    put_layout(fields, "SFBLayout", layout_sfb(a));
  }
  return fields;
}

/// The shape of an operand of a problem of two tiles along each of m, n, k.
tree two_tiles(tiled_mma const& t, mma_operand which) {
  tree const tile = tile_mnk(t);
  auto const [row, column] = detail::modes_of(which);
  return make_shape(2 * tile.leaf[row].v, 2 * tile.leaf[column].v);
}

json tiled_fields(json const& question) {
  tiled_mma const t = parse_tiled_mma(text_field(question, "name"));
  json fields;
  put_layout(fields, "thr_layout_vmnk", thr_layout_vmnk(t));
  fields["tile_mnk"] = to_string(tile_mnk(t));
  for (mma_operand const which : operands) {
    put_layout(fields, fmt::format("layout{}_TV", letter(which)), tv_layout(t, which));
  }
  for (mma_operand const which : {mma_operand::c, mma_operand::a, mma_operand::b}) {
    fields[fmt::format("partition_shape_{}_2x", letter(which))] =
        to_string(partition_shape(t, which, two_tiles(t, which)));
  }
  return fields;
}

json partition_fields(json const& question) {
  tiled_mma const t = parse_tiled_mma(text_field(question, "name"));
  i64 const thread = integer_field(question, "thr");
  json fields;
  for (mma_operand const which : operands) {
    layout const tensor = layout_of(text_field(question, "t" + letter(which)));
    sliced const part = partition(t, which, thread, tensor);
    put_layout(fields, letter(which), part.kept, part.offset);
    fields["n"] = size(part.kept);  // of the last one, C
  }
  return fields;
}

std::vector<std::string_view> parts_between(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t i = 0; i <= text.size();) {
    std::size_t const end = std::min(text.find(at, i), text.size());
    parts.push_back(text.substr(i, end - i));
    i = end + 1;
  }
  return parts;
}

[[noreturn]] void refuse_name(std::string const& name, char const* what, char const* need) {
  throw rejected({"TW0222", what, name, need, ""});
}

mma_type type_of(std::string_view text) {
  for (int i = 1; i < mma_type_count; ++i) {
    if (text == tw::name(static_cast<mma_type>(i))) return static_cast<mma_type>(i);
  }
  return mma_type::none;
}

/// The number after one letter; 0 without one.
int after_letter(std::string_view text, char letter) {
  if (text.size() < 2 || text.size() > 5 || text[0] != letter) return 0;
  int v = 0;
  for (char const c : text.substr(1)) {
    if (c < '0' || c > '9') return 0;
    v = v * 10 + (c - '0');
  }
  return v;
}

/// "f16,f16,f32,M64,N64,K,K"
json idesc_fields(json const& question) {
  std::string const name = text_field(question, "name");
  auto const refuse = [&name] {
    refuse_name(name, "instruction descriptor", "A,B,D,Mm,Nn,K|MN,K|MN: f16,f16,f32,M128,N64,K,K");
  };
  std::vector<std::string_view> const parts = parts_between(name, ',');
  if (parts.size() != 7) refuse();
  mma_atom a{.arch = mma_arch::sm100,
             .m = after_letter(parts[3], 'M'),
             .n = after_letter(parts[4], 'N'),
             .d = type_of(parts[2]),
             .a = type_of(parts[0]),
             .b = type_of(parts[1]),
             .a_from = mma_source::shared};
  for (int i = 5; i < 7; ++i) {
    auto const part = parts[static_cast<std::size_t>(i)];
    if (part != "K" && part != "MN") refuse();
    (i == 5 ? a.a_major : a.b_major) = part == "K" ? operand_major::k : operand_major::mn;
  }
  int const bits = size_bits(a.a);
  if (bits == 0 || a.b == mma_type::none || a.d == mma_type::none || a.m == 0 || a.n == 0) refuse();
  a.k = bits >= 8 ? 256 / bits : 32;  // 32 bytes of A; narrower formats are unpacked to bytes
  if (find_row(a) < 0) a.ctas = 2;
  return {{"idesc", make_umma_idesc(checked(a)).bits()}};
}

/// "1sm f32 ((64,128),2,1)"
json tmem_fields(json const& question) {
  std::string const name = text_field(question, "name");
  std::vector<std::string_view> const parts = parts_between(name, ' ');
  mma_type const type = parts.size() == 3 ? type_of(parts[1]) : mma_type::none;
  int const bits = size_bits(type);
  if ((parts[0] != "1sm" && parts[0] != "2sm") || (bits != 32 && bits != 16)) {
    refuse_name(name, "accumulator in tensor memory", "1sm|2sm TYPE ((m,n),repeats...)");
  }
  tree const shape = parse_tree(parts[2].data(), static_cast<int>(parts[2].size()));
  tree const mn = mode(shape, 0);
  if (shape.is_leaf() || rank(mn) != 2 || mn.n != 2) {
    refuse_name(name, "accumulator in tensor memory", "a shape ((m,n),repeats...)");
  }
  tree repeats;
  for (int i = 1; i < rank(shape); ++i) detail::append(repeats, mode(shape, i));
  if (repeats.n == 0) repeats = tree(1);
  if (rank(shape) > 1) detail::wrap(repeats);
  for (num const extent : {mn.leaf[0], mn.leaf[1]}) {
    if (extent.v < 1 || extent.v > 256) refuse_tmem_shape(extent.v, 256);
  }
  json fields;
  fields["layout"] =
      to_string(tmem_accumulator(parts[0] == "1sm" ? 1 : 2, static_cast<int>(mn.leaf[0].v),
                                 static_cast<int>(mn.leaf[1].v), repeats, bits));
  return fields;
}

}  // namespace

std::optional<json> answer_mma_question(json const& question) {
  if (!question.is_object() || !question.contains("op")) return {};
  json const& op = question.at("op");
  if (op == "mma_atom") return atom_fields(question);
  if (op == "tiled_mma") return tiled_fields(question);
  if (op == "tiled_mma_partition") return partition_fields(question);
  if (op == "umma_idesc") return idesc_fields(question);
  if (op == "tmem_frg") return tmem_fields(question);
  return {};
}

}  // namespace tw
