// SPDX-License-Identifier: Apache-2.0
// group_files.hpp  The sizes of groups, from the command line and a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/problem/gemm.hpp"

namespace CLI {
class App;
}

namespace tw {

/// --groups, --group-axis, --group-form, --group-alpha, --gather, --scatter and --expected-size.
struct group_request {
  std::string file;  // empty: no groups
  group_axis axis = group_axis::m;
  std::optional<group_form> form;  // not given: counts of slots, else ends
  bool slots = false;
  std::int64_t expected_size = 0;
  std::string alpha, gather, scatter;  // files; empty: none

  bool any() const { return !file.empty(); }
  /// The lines of D that groups divide; of groups of K rows. Nothing without groups.
  std::optional<along> ragged_lines() const {
    if (!any()) return std::nullopt;
    return axis == group_axis::n ? along::cols : along::rows;
  }
  group_form used_form() const {
    return slots ? group_form::counts : form.value_or(group_form::ends);
  }
};

/// Adds the options.
void add_group_options(CLI::App& verb, group_request& r);

/// Adds --groups N, --group-axis and --expected-size of a plan, without a file.
void add_groups_of_plan(CLI::App& verb, std::optional<group_desc>& groups);

/// The numbers of the file: int32 or int64, one dimension. Throws `rejected`: TW06xx for the file.
std::vector<std::int32_t> read_groups(group_request const& r);

/// The alphas of `count` groups; without the option none. Throws `rejected`: TW06xx for the file.
std::vector<float> read_group_alphas(group_request const& r, std::int64_t count);

/// The number of groups; of the form `rows` the number of matrices that groups have. Throws
/// `rejected` TW0616 if starts are wanted and the file is empty.
std::int64_t count_of_groups(group_request const& r, std::vector<std::int32_t> const& numbers,
                             std::int64_t a_matrices, std::int64_t b_matrices);

/// The numbers of --gather or --scatter; none without the option. Throws as read_groups().
std::vector<std::int32_t> read_indices(std::string const& file);

/// Makes `p`, whose operands have `matrices` matrices, a problem of `count` groups, without D.
/// Throws `rejected` TW0616 if a number of matrices differs from the number of groups.
void put_groups(gemm_problem& p, group_request const& r, std::int64_t count,
                std::int64_t a_matrices, std::int64_t b_matrices, std::int64_t c_matrices);

/// Adds index arrays to `p`, a problem of groups. On entry M (axis n: N) is the number of rows of A
/// (columns of B); if `gather` is not empty, M becomes the length of `gather`. Throws `rejected`
/// TW0616 if the length of an array does not fit.
void put_indices(gemm_problem& p, std::vector<std::int32_t> const& gather,
                 std::vector<std::int32_t> const& scatter);

/// Refuses numbers that are not possible (TW0496) or too few (TW0616): the command has them before
/// the launch.
void check_group_numbers(gemm_problem const& p, std::vector<std::int32_t> const& numbers);

/// Refuses numbers of gather and scatter that name no row, or a row of D twice (TW0496).
void check_indices(gemm_problem const& p, gemm_operands const& numbers);

}  // namespace tw
