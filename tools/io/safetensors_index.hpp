// SPDX-License-Identifier: Apache-2.0
// safetensors_index.hpp  model.safetensors.index.json: which file of a sharded checkpoint holds a
//                        tensor.
#pragma once

#include <string>

namespace tw {

/// The path of the .safetensors file that the index in file `path` names for `tensor`: its
/// "weight_map", {tensor: file}, with files in the index's folder. Throws `rejected`: TW0601 the
/// file, TW0608 what is no index, TW0610 no such tensor.
std::string file_of_tensor(std::string const& path, std::string const& tensor);

}  // namespace tw
