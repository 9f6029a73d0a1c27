// SPDX-License-Identifier: Apache-2.0
// checkpoint_tensors.hpp  The tensors of a 4-bit weight in a .safetensors file, by its name.
//
//   given                          others of the same weight
//   NAME or NAME.qweight           NAME.scales, NAME.qzeros, NAME.g_idx
//   NAME or NAME.weight_packed     NAME.weight_scale, .weight_zero_point, .weight_global_scale
//   NAME or NAME_blocks            NAME_scales
//   NAME or NAME.weight            NAME.weight_scale, .weight_scale_inv, .weight_scale_2
//   any                            the same name with _scale
//
// An asterisk stands for 0, 1, 2 ..., the experts of a layer, of which each has separate tensors:
// "experts.*.down_proj.qweight". Their tensors are copied one after the other.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/kernel/weights/weight_checkpoint.hpp"
#include "tools/io/mapped_file.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/io/safetensors.hpp"

namespace tw {

/// Tensors that stay mapped as long as this lives. Throws `rejected`: TW0468 for a name without a
/// weight, and what list_safetensors() throws.
class checkpoint_file {
 public:
  /// `address`: FILE.safetensors:NAME, or model.safetensors.index.json:NAME. The others, if they
  /// are not empty, are the addresses of scales, zero points and second level.
  struct addresses {
    std::string weight, scales, zeros, second;
  };
  explicit checkpoint_file(addresses const& at);

  checkpoint_tensors const& tensors() const { return tensors_; }
  std::string const& name() const { return name_; }  // of the values
  /// Does the file give the second level as 1 / it, as its name says?
  bool second_is_reciprocal() const { return reciprocal_; }

 private:
  struct mapped {
    std::string path;
    std::unique_ptr<mapped_file> file;
    safetensors_list list;
  };
  struct one_weight {
    checkpoint_tensors tensors;
    std::string name;
    bool reciprocal = false;
  };
  std::optional<checkpoint_tensor> open(std::string const& path, std::string const& tensor,
                                        file_format format);
  /// Nothing, if the file lacks the weight. `at`: addresses of scales, zero points, second level.
  std::optional<one_weight> find_weight(addresses const& at, std::string const& tensor);
  void take(one_weight const& w);
  void stack(std::vector<one_weight> const& experts);

  std::vector<mapped> files_;
  std::deque<std::vector<std::byte>> copies_;  // of the tensors of experts
  checkpoint_tensors tensors_;
  std::string name_;
  bool reciprocal_ = false;
};

}  // namespace tw
