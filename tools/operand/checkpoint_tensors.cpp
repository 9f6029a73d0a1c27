// SPDX-License-Identifier: Apache-2.0
// checkpoint_tensors.cpp  Names of a weight's tensors, tried in turn.
#include "tools/operand/checkpoint_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "tools/io/file_types.hpp"
#include "tools/io/in_quotes.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/safetensors.hpp"
#include "tools/io/safetensors_index.hpp"

namespace tw {
namespace {

struct suffixes {
  char const* values;
  std::vector<char const*> scales;
  char const* zeros;
  char const* second;
  bool reciprocal;
  char const* order;
};
std::vector<suffixes> const known_suffixes = {
    {".qweight", {".scales"}, ".qzeros", nullptr, false, ".g_idx"},
    {".weight_packed",
     {".weight_scale"},
     ".weight_zero_point",
     ".weight_global_scale",
     true,
     nullptr},
    {"_blocks", {"_scales"}, nullptr, nullptr, false, nullptr},
    {".weight", {".weight_scale", ".weight_scale_inv"}, nullptr, ".weight_scale_2", false, nullptr},
    {"", {"_scale", "_scales"}, "_zeros", "_scale2", false, nullptr}};

std::optional<checkpoint_tensor> find(mapped_file const& file, std::string const& path,
                                      std::string const& name) {
  safetensors_list const list = list_safetensors(file.content(), path);
  auto const t = std::ranges::find(list.tensors, name, &tensor_entry::name);
  if (t == list.tensors.end()) return std::nullopt;
  auto const type = type_of_dtype(t->dtype);
  if (!type)
    refuse("TW0468", "type of " + in_quotes(name), t->dtype,
           "a type that holds 4-bit weights, their scales or zero points");
  return checkpoint_tensor{*type, t->shape, file.content().data() + list.data_at + t->begin_bytes};
}

/// "the file has up.qweight and 12 more": names that state 4 bits.
std::string weights_in(matrix_address const& at) {
  if (at.format != file_format::safetensors) return "";
  mapped_file const file(at.path);
  std::string first;
  int count = 0;
  for (tensor_entry const& t : list_safetensors(file.content(), at.path).tensors) {
    bool const named = std::ranges::any_of(known_suffixes, [&](suffixes const& s) {
      std::string_view const end = s.values;
      return end != ".weight" && !end.empty() && t.name.ends_with(end);
    });
    if (named && ++count == 1) first = t.name;
  }
  if (count == 0) return "";
  return fmt::format("the file has {}{}; ", in_quotes(first),
                     count == 1 ? "" : fmt::format(" and {} more", count - 1));
}

}  // namespace

checkpoint_file::checkpoint_file(addresses const& at) {
  matrix_address const weight = parse_address(at.weight);
  auto const open = [&](std::string const& path, std::string const& tensor,
                        file_format format) -> std::optional<checkpoint_tensor> {
    std::string where = path;
    if (format == file_format::index) try {
        where = file_of_tensor(path, tensor);
      } catch (rejected const&) {
        return std::nullopt;
      }
    files_.push_back(std::make_unique<mapped_file>(where));
    return find(*files_.back(), where, tensor);
  };
  auto const given = [&](std::string const& address) {
    matrix_address const a = parse_address(address);
    auto t = a.format == file_format::npy || a.format == file_format::stream
                 ? std::nullopt
                 : open(a.path, a.tensor, a.format);
    if (!t)
      refuse("TW0468", "tensor of a 4-bit weight", address,
             "FILE.safetensors:TENSOR that is there");
    return *t;
  };
  if (weight.format == file_format::npy || weight.format == file_format::stream)
    refuse("TW0468", "weights", at.weight, "FILE.safetensors:NAME, or the index of a checkpoint");
  for (suffixes const& s : known_suffixes) {
    std::string base = weight.tensor;
    std::string const end = s.values;
    if (base.ends_with(end)) base.resize(base.size() - end.size());
    auto const values = open(weight.path, base + end, weight.format);
    if (!values) continue;
    std::optional<checkpoint_tensor> scales;
    if (!at.scales.empty()) scales = given(at.scales);
    for (char const* name : s.scales)
      if (!scales) scales = open(weight.path, base + name, weight.format);
    if (!scales) continue;
    tensors_.values = *values, tensors_.scales = *scales, name_ = base + end;
    if (!at.zeros.empty())
      tensors_.zeros = given(at.zeros);
    else if (s.zeros != nullptr)
      tensors_.zeros = open(weight.path, base + s.zeros, weight.format);
    if (!at.second.empty())
      tensors_.second = given(at.second);
    else if (s.second != nullptr)
      tensors_.second = open(weight.path, base + s.second, weight.format);
    reciprocal_ = s.reciprocal;
    if (s.order != nullptr) tensors_.order = open(weight.path, base + s.order, weight.format);
    return;
  }
  refuse("TW0468", "4-bit weight", in_quotes(weight.tensor) + " in " + weight.path,
         "a tensor with scales: NAME.qweight, NAME.weight_packed, NAME_blocks or NAME.weight",
         weights_in(weight) + "--scales FILE.safetensors:TENSOR names the scales");
}

}  // namespace tw
