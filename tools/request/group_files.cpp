// SPDX-License-Identifier: Apache-2.0
// group_files.cpp  Words to group_desc, and the rules that the command can check.
#include "tools/request/group_files.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstring>

#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/without_indices.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/io/refuse.hpp"
#include "tools/request/words.hpp"

namespace tw {

void add_group_options(CLI::App& verb, group_request& r) {
  CLI::Option* const file = verb.add_option(
      "--groups", r.file,
      "sizes of groups of unequal size, an array of int32 or int64: the operand that has a "
      "matrix for each group is a stack (docs/groups.md)");
  verb.add_option_function<std::string>(
          "--group-axis",
          [&r](std::string const& word) {
            r.slots = word == "slots";
            r.axis = word == "k" ? group_axis::k : word == "n" ? group_axis::n : group_axis::m;
          },
          "the extent that groups divide: m (default), n or k; slots: all are stacks, and the "
          "first "
          "rows of a matrix are used")
      ->transform(one_of({"m", "n", "k", "slots"}))
      ->needs(file);
  verb.add_option_function<std::string>(
          "--group-form",
          [&r](std::string const& word) {
            for (int i = 0; i <= static_cast<int>(group_form::rows); ++i)
              if (word == group_form_names[i]) r.form = static_cast<group_form>(i);
          },
          "the form of the numbers: ends (default), starts (one more: cu_seqlens), sizes; rows "
          "(the "
          "group of each row, -1 of none); counts of slots")
      ->transform(one_of({"ends", "starts", "sizes", "counts", "rows"}))
      ->needs(file);
  verb.add_option("--group-alpha", r.alpha,
                  "float32 alpha of each group, an array of one dimension: it multiplies --alpha")
      ->needs(file);
  verb.add_option(
          "--gather", r.gather,
          "int32 or int64: the row of A (axis n: column of B) for each row that groups divide")
      ->needs(file);
  verb.add_option("--scatter", r.scatter,
                  "int32 or int64: the row of D (axis n: column) for each row that groups divide")
      ->needs(file);
  verb.add_option("--expected-size,--expected-rows", r.expected_size,
                  "rows, columns or K that a group usually has, for the planner (default: the "
                  "total divided by the number of groups)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->needs(file);
}

void add_groups_of_plan(CLI::App& verb, std::optional<group_desc>& groups) {
  CLI::Option* const count = verb.add_option_function<std::int64_t>(
      "--groups",
      [&groups](std::int64_t n) {
        if (!groups) groups.emplace();
        groups->count = n;
      },
      "groups of unequal size that divide M, N or K (docs/groups.md)");
  verb.add_option_function<std::string>(
          "--group-axis",
          [&groups](std::string const& word) {
            if (!groups) groups.emplace();
            if (word == "slots") groups->form = group_form::counts;
            groups->axis = word == "k"   ? group_axis::k
                           : word == "n" ? group_axis::n
                                         : group_axis::m;
          },
          "the extent that groups divide: m (default), n or k; slots: M rows for each group")
      ->transform(one_of({"m", "n", "k", "slots"}))
      ->needs(count);
  verb.add_option_function<std::int64_t>(
          "--expected-size,--expected-rows",
          [&groups](std::int64_t n) {
            if (!groups) groups.emplace();
            groups->expected_size = n;
          },
          "rows, columns or K that a group usually has (default: all divided by the groups)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->needs(count);
}

namespace {
std::vector<std::int32_t> read_numbers(std::string const& address, char const* what) {
  matrix_file const file(parse_address(address),
                         accepted_shapes{.vectors = true, .empty = true, .longs = true});
  matrix_view const& v = file.view();
  if (v.type != elem::s32 || (v.rows != 1 && v.cols != 1))
    refuse("TW0616", fmt::format("{} in {}", what, address),
           fmt::format("{}x{} {}", v.rows, v.cols, type_text(v)), "an array of int32 or int64",
           "array.astype(numpy.int32)");
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(v.count().count));
  if (!v.longs) {
    if (!numbers.empty()) std::memcpy(numbers.data(), v.data, numbers.size() * sizeof numbers[0]);
    return numbers;
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::int64_t number = 0;
    std::memcpy(&number, v.data + i * sizeof number, sizeof number);
    numbers[i] = static_cast<std::int32_t>(number);
    if (numbers[i] != number)
      refuse("TW0496", fmt::format("number {} of {} in {}", i, what, address),
             fmt::format("{}", number), "a number of 32 bits", "no extent has more rows");
  }
  return numbers;
}

}  // namespace

std::vector<std::int32_t> read_groups(group_request const& r) {
  return read_numbers(r.file, "the sizes of the groups");
}

std::vector<std::int32_t> read_indices(std::string const& file) {
  if (file.empty()) return {};
  return read_numbers(file, "the numbers of rows");
}

std::vector<float> read_group_alphas(group_request const& r, std::int64_t count) {
  if (r.alpha.empty()) return {};
  matrix_file const file(parse_address(r.alpha), accepted_shapes{.vectors = true, .empty = true});
  matrix_view const& v = file.view();
  if (v.type != elem::f32 || v.doubles || v.rows * v.cols != count)
    refuse("TW0616", "the alphas of the groups in " + r.alpha,
           fmt::format("{}x{} {}", v.rows, v.cols, type_text(v)),
           fmt::format("{} of float32, one for each group", count), "array.astype(numpy.float32)");
  std::vector<float> alphas(static_cast<std::size_t>(v.count().count));
  if (!alphas.empty()) std::memcpy(alphas.data(), v.data, alphas.size() * sizeof alphas[0]);
  return alphas;
}

void put_groups(gemm_problem& p, group_request const& r, std::int64_t count,
                std::int64_t a_matrices, std::int64_t b_matrices, std::int64_t c_matrices) {
  if (r.slots && r.form.value_or(group_form::counts) != group_form::counts)
    refuse("TW0615", "command line", "--group-axis slots with another form than counts",
           "--group-form counts, or none", "");
  if (!r.slots && r.used_form() == group_form::counts)
    refuse("TW0615", "command line", "--group-form counts", "--group-axis slots with it", "");
  group_desc g;
  g.axis = r.axis, g.form = r.used_form(), g.expected_size = r.expected_size;
  g.count = count;
  g.alpha = !r.alpha.empty();
  struct stack {
    char const* name;
    std::int64_t matrices;
    bool each;  // has it a matrix for each group?
  };
  for (stack const& x : {stack{"A", a_matrices, g.slots() || g.axis == group_axis::n},
                         {"B", b_matrices, g.slots() || g.axis == group_axis::m},
                         {"C", c_matrices, g.slots() || g.axis == group_axis::k}}) {
    bool const one_for_all = x.matrices == 1 && x.name[0] != 'C';
    if (x.matrices == 0 || one_for_all || x.matrices == (x.each ? g.count : 1)) continue;
    refuse("TW0616", fmt::format("matrices in {}", x.name), fmt::format("{}", x.matrices),
           x.each ? fmt::format("{}, one for each group", g.count)
                  : "one, whose rows, columns or K the groups divide",
           "docs/groups.md says which operand has a matrix for each group");
  }
  p.groups = g;
  p.batch = g.slots() ? g.count : 1;
}

void put_indices(gemm_problem& p, std::vector<std::int32_t> const& gather,
                 std::vector<std::int32_t> const& scatter) {
  group_desc& g = *p.groups;
  std::int64_t& extent = ragged_extent(p, g.axis);
  if (!gather.empty()) {
    g.gather_from = extent;
    extent = static_cast<std::int64_t>(gather.size());
  }
  if (scatter.empty()) return;
  if (extent != static_cast<std::int64_t>(scatter.size()))
    refuse("TW0616", "numbers of --scatter", fmt::format("{}", scatter.size()),
           fmt::format("{}, one for each row that groups divide", extent));
  g.scatter_to = extent;
}

void check_indices(gemm_problem const& p, gemm_operands const& numbers) {
  auto const bad = first_bad_index(p, numbers);
  if (!bad) return;
  group_desc const& g = *p.groups;
  std::int64_t const rows = bad->of_scatter ? g.scatter_to : g.gather_from * g.choices;
  refuse("TW0496",
         fmt::format("number {} of --{}", bad->index, bad->of_scatter ? "scatter" : "gather"),
         fmt::format("{}{}", bad->number, bad->twice ? ", a second time" : ""),
         bad->twice ? "another row of D for each" : fmt::format("0 to {}", rows - 1),
         "a launch skips the row and says so in group_status");
}

std::int64_t count_of_groups(group_request const& r, std::vector<std::int32_t> const& numbers,
                             std::int64_t a_matrices, std::int64_t b_matrices) {
  auto const count = static_cast<std::int64_t>(numbers.size());
  if (r.used_form() == group_form::rows) return r.axis == group_axis::n ? a_matrices : b_matrices;
  if (r.used_form() != group_form::starts) return count;
  if (count == 0)
    refuse("TW0616", "the starts of the groups in " + r.file, "no number",
           "the first row of each group, and the end of the last one",
           "of no groups the end alone: [0]");
  return count - 1;
}

void check_group_numbers(gemm_problem const& p, std::vector<std::int32_t> const& numbers) {
  group_desc const& g = *p.groups;
  if (std::int64_t const need = g.numbers(ragged_extent(p));
      need != static_cast<std::int64_t>(numbers.size()))  // of rows: others say how many groups
    refuse("TW0616", "numbers of the form rows", fmt::format("{}", numbers.size()),
           fmt::format("{}, the group of each {}", need,
                       g.axis == group_axis::m ? "row of A" : "column of B"));
  if (auto why = refuse_numbers(p, numbers.data())) throw rejected(*why);
}

}  // namespace tw
