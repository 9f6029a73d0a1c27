// SPDX-License-Identifier: Apache-2.0
// checkpoint_tensors.cpp  Names of a weight's tensors, tried in turn.
#include "tools/operand/checkpoint_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "tilewright/base/elem_traits.hpp"
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

[[noreturn]] void refuse_missing(matrix_address const& at, std::string const& tensor) {
  refuse("TW0468", "4-bit weight", in_quotes(tensor) + " in " + at.path,
         "a tensor with scales: NAME.qweight, NAME.weight_packed, NAME_blocks or NAME.weight",
         weights_in(at) + "--scales FILE.safetensors:TENSOR names the scales");
}

}  // namespace

checkpoint_file::checkpoint_file(addresses const& at) {
  matrix_address const weight = parse_address(at.weight);
  if (weight.format == file_format::npy || weight.format == file_format::stream)
    refuse("TW0468", "weights", at.weight, "FILE.safetensors:NAME, or the index of a checkpoint");
  std::size_t const star = weight.tensor.find('*');
  if (star == std::string::npos) {
    std::optional<one_weight> const found = find_weight(at, weight.tensor);
    if (!found) refuse_missing(weight, weight.tensor);
    take(*found);
    tensors_ = found->tensors;
    return;
  }
  std::vector<one_weight> experts;
  auto const expert = [&](std::size_t i) {
    auto const numbered = [&](std::string text) {
      if (std::size_t const place = text.find('*'); place != std::string::npos)
        text.replace(place, 1, std::to_string(i));
      return text;
    };
    return find_weight({at.weight, numbered(at.scales), numbered(at.zeros), numbered(at.second)},
                       numbered(weight.tensor));
  };
  while (std::optional<one_weight> found = expert(experts.size()))
    experts.push_back(std::move(*found));
  if (experts.empty()) refuse_missing(weight, weight.tensor);
  if (expert(experts.size() + 1))
    refuse("TW0468", "experts of " + in_quotes(weight.tensor),
           fmt::format("{}, and {}", experts.size() - 1, experts.size() + 1),
           fmt::format("a weight {} too", experts.size()));
  take(experts.front());
  stack(experts);
}

void checkpoint_file::take(one_weight const& w) { name_ = w.name, reciprocal_ = w.reciprocal; }

std::optional<checkpoint_tensor> checkpoint_file::open(std::string const& path,
                                                       std::string const& tensor,
                                                       file_format format) {
  std::string where = path;
  if (format == file_format::index) try {
      where = file_of_tensor(path, tensor);
    } catch (rejected const&) {
      return std::nullopt;
    }
  auto known = std::ranges::find(files_, where, &mapped::path);
  if (known == files_.end()) {
    auto file = std::make_unique<mapped_file>(where);
    safetensors_list list = list_safetensors(file->content(), where);
    known = files_.insert(files_.end(), {where, std::move(file), std::move(list)});
  }
  auto const t = std::ranges::find(known->list.tensors, tensor, &tensor_entry::name);
  if (t == known->list.tensors.end()) return std::nullopt;
  auto const type = type_of_dtype(t->dtype);
  if (!type)
    refuse("TW0468", "type of " + in_quotes(tensor), t->dtype,
           "a type that holds 4-bit weights, their scales or zero points");
  std::byte const* const data = known->file->content().data() + known->list.data_at;
  return checkpoint_tensor{*type, t->shape, data + t->begin_bytes};
}

std::optional<checkpoint_file::one_weight> checkpoint_file::find_weight(addresses const& at,
                                                                        std::string const& tensor) {
  matrix_address const weight = parse_address(at.weight);
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
  for (suffixes const& s : known_suffixes) {
    std::string base = tensor;
    std::string const end = s.values;
    if (base.ends_with(end)) base.resize(base.size() - end.size());
    auto const values = open(weight.path, base + end, weight.format);
    if (!values) continue;
    std::optional<checkpoint_tensor> scales;
    if (!at.scales.empty()) scales = given(at.scales);
    for (char const* name : s.scales)
      if (!scales) scales = open(weight.path, base + name, weight.format);
    if (!scales) continue;
    one_weight found;
    checkpoint_tensors& t = found.tensors;
    t.values = *values, t.scales = *scales, found.name = base + end;
    if (!at.zeros.empty())
      t.zeros = given(at.zeros);
    else if (s.zeros != nullptr)
      t.zeros = open(weight.path, base + s.zeros, weight.format);
    if (!at.second.empty())
      t.second = given(at.second);
    else if (s.second != nullptr)
      t.second = open(weight.path, base + s.second, weight.format);
    found.reciprocal = s.reciprocal;
    if (s.order != nullptr) t.order = open(weight.path, base + s.order, weight.format);
    return found;
  }
  return std::nullopt;
}

void checkpoint_file::stack(std::vector<one_weight> const& experts) {
  auto const joined = [&](auto const& tensor_of) {
    checkpoint_tensor const& first = *tensor_of(experts.front().tensors);
    std::int64_t count = size_bytes(first.type);
    for (std::int64_t const extent : first.shape) count *= extent;
    auto const bytes_each = static_cast<std::size_t>(count);
    std::vector<std::byte>& to = copies_.emplace_back(bytes_each * experts.size());
    for (std::size_t i = 0; i < experts.size(); ++i) {
      checkpoint_tensor const* const t = tensor_of(experts[i].tensors);
      if (t == nullptr || t->type != first.type || t->shape != first.shape)
        refuse("TW0468", "tensors of " + in_quotes(experts[i].name),
               "another type or shape than of " + in_quotes(experts.front().name),
               "experts of one type and shape");
      std::copy_n(static_cast<std::byte const*>(t->data), bytes_each, to.data() + i * bytes_each);
    }
    checkpoint_tensor all{first.type, first.shape, to.data()};
    all.shape.insert(all.shape.begin(), static_cast<std::int64_t>(experts.size()));
    return all;
  };
  auto const joined_if = [&](std::optional<checkpoint_tensor> checkpoint_tensors::*of) {
    auto const tensor = [of](checkpoint_tensors const& t) { return t.*of ? &*(t.*of) : nullptr; };
    return tensor(experts.front().tensors) == nullptr ? std::nullopt
                                                      : std::optional(joined(tensor));
  };
  tensors_.values = joined([](checkpoint_tensors const& t) { return &t.values; });
  tensors_.scales = joined([](checkpoint_tensors const& t) { return &t.scales; });
  tensors_.zeros = joined_if(&checkpoint_tensors::zeros);
  tensors_.second = joined_if(&checkpoint_tensors::second);
  tensors_.order = joined_if(&checkpoint_tensors::order);
}

}  // namespace tw
