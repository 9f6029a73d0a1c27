// SPDX-License-Identifier: Apache-2.0
// safetensors_index.cpp  One JSON object, looked up.
#include "tools/io/safetensors_index.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/io/close_word.hpp"
#include "tools/io/in_quotes.hpp"
#include "tools/io/mapped_file.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/safetensors.hpp"

namespace tw {
namespace {

[[noreturn]] void refuse_index(std::string const& path, std::string got) {
  refuse("TW0608", "index " + path, std::move(got),
         "{\"weight_map\": {tensor: file of the same folder}}", "the file is corrupt, or no index");
}

}  // namespace

std::string file_of_tensor(std::string const& path, std::string const& tensor) {
  mapped_file const file(path);
  auto const* const text = reinterpret_cast<char const*>(file.content().data());
  auto const index = nlohmann::json::parse(text, text + file.content().size(), nullptr, false);
  if (index.is_discarded()) refuse_index(path, "no valid JSON");
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    refuse_index(path, "no object \"weight_map\"");
  nlohmann::json const& map = index["weight_map"];
  auto found = map.find(tensor);
  if (auto const part = part_in(tensor); part && found == map.end()) found = map.find(part->tensor);
  if (found == map.end()) {
    std::vector<std::string> names;
    for (auto const& [name, ignored] : map.items()) names.push_back(name);
    std::string const close = closest_word(tensor, names);
    refuse("TW0610", "tensor of " + path, tensor.empty() ? "no name" : in_quotes(tensor),
           "one of its " + std::to_string(names.size()) + " tensors",
           close.empty() ? "write FILE.safetensors.index.json:TENSOR"
                         : "did you mean " + in_quotes(close) + "?");
  }
  if (!found->is_string())
    refuse_index(path, "a file of " + in_quotes(tensor) + " that is no text");
  std::filesystem::path const name = found->get<std::string>();
  bool const plain = name == name.filename() && name != "." && name != ".." && !name.empty();
  if (!plain) refuse_index(path, "the file " + in_quotes(name.string()));
  return (std::filesystem::path(path).parent_path() / name).string();
}

}  // namespace tw
