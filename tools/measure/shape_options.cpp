// SPDX-License-Identifier: Apache-2.0
// shape_options.cpp  Words to shapes.
#include "tools/measure/shape_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iterator>

#include "tools/measure/shapes.hpp"
#include "tools/measure/support.hpp"
#include "tools/request/dtypes.hpp"
#include "tools/request/epilogues.hpp"
#include "tools/request/number_checks.hpp"
#include "tools/request/precision_options.hpp"
#include "tools/request/result_scales.hpp"
#include "tools/request/sizes.hpp"
#include "tools/request/words.hpp"

namespace tw::bench {
namespace {

void add_shape_groups(CLI::App& verb, shape_groups& g) {
  CLI::Option* const count =
      verb.add_option("--groups", g.count,
                      "groups of unequal size of each size, whose M, N or K they divide "
                      "(docs/groups.md)")
          ->check(CLI::Range(1, max_groups));
  verb.add_option_function<std::string>(
          "--group-axis",
          [&g](std::string const& word) {
            g.axis = word == "k" ? group_axis::k : word == "n" ? group_axis::n : group_axis::m;
          },
          "the extent that groups divide (default m)")
      ->transform(one_of({"m", "n", "k"}))
      ->needs(count);
  verb.add_option_function<std::string>(
          "--group-pattern",
          [&g](std::string const& word) { g.pattern = find_group_pattern(word).value(); },
          "sizes of groups: equal (default); uniform or zipf: rows choose groups at random; "
          "one-hot: one group has all; half-empty: every second has none")
      ->transform(one_of({std::begin(group_pattern_names), std::end(group_pattern_names)}))
      ->needs(count);
  verb.add_option("--expected-size,--expected-rows", g.expected,
                  "rows, columns or K that a group usually has, for the planner (default: all "
                  "divided by the groups)")
      ->check(above_zero())
      ->needs(count);
}

gemm_shape shape_of_size(shape_request const& r, gemm_size const& size) {
  gemm_shape s;
  s.name = fmt::format("{}x{}x{}", size.m, size.n, size.k);
  s.category = category_of_sizes;
  s.m = size.m, s.n = size.n, s.k = size.k;
  s.dtype = dtype_of_size(r.dtype, r.out_dtype, r.scale_d.any());
  s.layout = r.layout, s.epilogue = r.epilogue, s.batch = r.batch, s.scale_d = r.scale_d;
  s.groups = r.groups, s.weights = r.weights;
  if (!s.weights.empty() && !parse_weights(s.weights, find_dtype(s.dtype)->ab))
    throw rejected({"TW0615", "--weights", s.weights, weights_words, "docs/weights4.md"});
  check_result_scales(result_scales_of(s));
  detail::check_sizes(s, "size " + s.name);
  return s;
}

}  // namespace

void add_shape_options(CLI::App& verb, shape_request& r) {
  verb.add_option("SIZE", r.sizes,
                  "M N K, or any number of MxNxK; an extent may be a list, 64,128, or a range, "
                  "64:512:64 (step) or 64:4096:x2 (factor)");
  std::vector<std::string> words;
  for (dtype_row const& row : dtypes) words.emplace_back(row.name);
  verb.add_option("--dtype,--ab", r.dtype, "types of the sizes")
      ->transform(one_of(words, {{"bfloat16", "bf16"}, {"float16", "f16"}, {"half", "f16"}}))
      ->capture_default_str();
  verb.add_option("--out-dtype,--d", r.out_dtype,
                  "type of D of the sizes, or its block-scaled format (default: of --dtype)")
      ->transform(elem_word(with_block_formats(result_words_with_scales())));
  add_result_scale_words(verb, r.scale_d);
  verb.add_option("--layout", r.layout, "layout of the sizes")
      ->transform(one_of({"TN", "TT", "NT", "NN"}))
      ->capture_default_str();
  verb.add_option("--epilogue", r.epilogue,
                  "epilogue of the sizes: words joined by _, as of `tilewright plan`")
      ->check([](std::string const& text) {
        return find_epilogue(text) ? "" : "no epilogue has the name " + text;
      });
  verb.add_option("--batch", r.batch, "number of GEMMs of each size, stored one after another")
      ->check(above_zero())
      ->capture_default_str();
  add_shape_groups(verb, r.groups);
  verb.add_option("--weights", r.weights,
                  "B is prepared 4-bit weights: mxfp4, nvfp4, int4 (group 128), int4:GROUP, "
                  "int4:GROUP:integers or floats (docs/weights4.md)");
  verb.add_option("--shapes", r.list, "shape list (JSON, bench/README.md)");
  verb.add_option("--category", r.categories, "only these categories of the list")->delimiter(',');
  verb.add_option("--names", r.names, "only these shapes of the list")->delimiter(',');
}

std::vector<gemm_shape> shapes_of(shape_request const& r) {
  std::vector<gemm_shape> shapes;
  if (!r.list.empty()) shapes = select_shapes(read_shapes(r.list), r.categories, r.names);
  for (gemm_size const& size : parse_sizes(r.sizes)) shapes.push_back(shape_of_size(r, size));
  return shapes;
}

}  // namespace tw::bench
