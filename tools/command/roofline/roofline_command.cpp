// SPDX-License-Identifier: Apache-2.0
// roofline_command.cpp  Options to a problem, a report and a plot.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tilewright/base/elem_text.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/precision.hpp"
#include "tools/command/guarded.hpp"
#include "tools/command/roofline/roofline_report.hpp"
#include "tools/io/output_file.hpp"
#include "tools/io/refuse.hpp"
#include "tools/report/json_output.hpp"
#include "tools/request/number_checks.hpp"
#include "tools/request/precision_options.hpp"
#include "tools/request/sizes.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

char const* const roofline_manual =
    "Counts the operations and the bytes of D = A B at each level of a device, and divides them "
    "by its peak rates: the level that takes longest bounds the GEMM. Nothing runs, no GPU is "
    "needed. docs/roofline.md explains the columns.";

struct roofline_request {
  std::vector<std::string> size;
  std::string ab = "bf16", d, device = "h200", tile = "128x256", cluster, plot;
  std::int64_t batch = 1;
  bool as_json = false;
};

/// "128x256": two numbers, of which the second is at most `most`.
std::pair<std::int64_t, std::int64_t> pair_of(char const* what, std::string const& text,
                                              std::int64_t most) {
  std::size_t const at = text.find('x');
  std::int64_t values[2] = {0, 0};
  std::string const parts[2] = {text.substr(0, at),
                                at == std::string::npos ? "" : text.substr(at + 1)};
  for (int i = 0; i < 2; ++i)
    if (!CLI::detail::lexical_cast(parts[i], values[i]) || values[i] < 1 || values[i] > most)
      refuse("TW0653", what, "\"" + text + "\"",
             fmt::format("two numbers from 1 to {}, as 128x256", most));
  return {values[0], values[1]};
}

/// Extents that no GEMM of the library has.
void check_extents_of(roofline_problem const& p) {
  gemm_problem of_size;
  of_size.m = p.m, of_size.n = p.n, of_size.k = p.k, of_size.batch = p.batch;
  of_size.a = {elem::bf16, order::row_major, p.k};
  of_size.b = {elem::bf16, order::col_major, p.k};
  of_size.d = {elem::f32, order::row_major, p.n};
  if (auto const why = accept(of_size); why && (why->code == "TW0401" || why->code == "TW0403" ||
                                                why->code == "TW0420" || why->code == "TW0421"))
    throw rejected(*why);
}

roofline_problem problem_of(roofline_request const& r) {
  std::vector<gemm_size> const sizes = parse_sizes(r.size);
  if (sizes.size() != 1)
    refuse("TW0803", "sizes of `tilewright roofline`", fmt::format("{}", sizes.size()),
           "one GEMM: M N K, or MxNxK");
  roofline_problem p{sizes[0].m, sizes[0].n, sizes[0].k, r.batch};
  check_extents_of(p);
  p.format = parse_block_format(r.ab);
  p.ab = p.format ? traits_of(*p.format).value : parse_elem(r.ab).value();
  elem const usual = p.format ? elem::bf16 : usual_result(p.ab);
  p.d = r.d.empty() ? usual : parse_elem(r.d).value();
  std::tie(p.tile_m, p.tile_n) = pair_of("tile", r.tile, 1024);
  if (!r.cluster.empty()) std::tie(p.cluster_m, p.cluster_n) = pair_of("cluster", r.cluster, 16);
  if (p.cluster_m * p.cluster_n > 16)
    refuse("TW0653", "cluster", fmt::format("{} CTAs", p.cluster_m * p.cluster_n), "at most 16");
  if (holds_integer_sums(p.d) && !is_8_bit_integer(p.ab))
    refuse("TW0405", "type of D", "s32", fmt::format("a float, for A and B of {}", name(p.ab)));
  return p;
}

/// Types that the device's tensor cores do not multiply, and clusters that it does not have.
void check_device(roofline_request const& r, roofline_problem const& p, device const& d) {
  bool const eight = is_fp8(p.ab) && !p.format;
  if (eight && d.compute_capability < 89)
    refuse("TW0471", fmt::format("rate of {} on {}", name(p.ab), d.id),
           "tensor cores that do not multiply 8-bit floats",
           "a device of compute capability 8.9 on");
  if (p.format && d.compute_capability < 100)
    refuse("TW0471", fmt::format("rate of {} on {}", traits_of(*p.format).name, d.id),
           "tensor cores that do not multiply with factors of blocks",
           "a device of compute capability 10.0 on", "for example --device b200");
  if (!r.cluster.empty() && p.cluster_m * p.cluster_n > 1 && !has_clusters(d))
    refuse("TW0650", "CTAs of a cluster", fmt::format("{} on {}", r.cluster, d.id),
           "1x1: clusters came with compute capability 9.0");
}

void write_plot(std::string const& path, std::string const& svg) {
  output_file file(path);
  file.write(std::as_bytes(std::span(svg)));
  file.commit();
}

exit_status answer_roofline(roofline_request const& r) {
  check_replaceable(r.plot, "--plot", "<");
  roofline_problem const p = problem_of(r);
  auto const& device = known_device(r.device);
  check_device(r, p, device);
  roofline const line = roofline_of(p, device);
  if (!r.plot.empty()) write_plot(r.plot, roofline_svg(line));
  if (r.as_json)
    print_json("tilewright.roofline/1", roofline_json(line));
  else
    fmt::print("{}", roofline_text(line));
  return exit_status::done;
}

}  // namespace

void add_roofline_command(CLI::App& app, int& status) {
  auto const r = std::make_shared<roofline_request>();
  CLI::App* verb = app.add_subcommand(
      "roofline", "bytes, operations and peak rates of a GEMM, and the level that bounds it");
  verb->footer(roofline_manual);
  verb->add_option("SIZE", r->size, "M N K, or MxNxK")->required()->expected(1, 3);
  verb->add_option("--dtype,--ab", r->ab, "type of A and B")
      ->transform(elem_word(with_block_formats(multiplied_words())))
      ->capture_default_str();
  verb->add_option("--out-dtype,--d", r->d,
                   "type of D (default: that of A and B; f32 for tf32, "
                   "bf16 for 8- and 4-bit floats, s32 for integers)")
      ->transform(elem_word(result_words_with_scales()));
  verb->add_option("--batch", r->batch, "number of GEMMs of this shape")
      ->check(above_zero())
      ->capture_default_str();
  verb->add_option("--tile", r->tile, "rows and columns of a CTA's tile, for L2 and shared memory")
      ->capture_default_str();
  verb->add_option("--cluster", r->cluster,
                   "CTAs of a cluster along M and N, which multicast; on Blackwell two along M are "
                   "a pair (default: 2x1; 1x1 without clusters)");
  std::vector<std::string> ids;
  for (device const& d : known_devices()) ids.push_back(d.id);
  verb->add_option("--device", r->device, "device: its rates")
      ->transform(device_word(ids))
      ->capture_default_str();
  verb->add_option("--plot", r->plot, "write the roofline as SVG to this file");
  verb->add_flag("--json", r->as_json, "one JSON record on stdout");
  verb->callback([r, &status] {
    status = static_cast<int>(guarded(r->as_json, [&] { return answer_roofline(*r); }));
  });
}

}  // namespace tw
