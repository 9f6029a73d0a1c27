// SPDX-License-Identifier: Apache-2.0
// occupancy_command.cpp  Resources from options, a cubin or our kernels; one answer.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>

#include "tilewright/arch/limits.hpp"
#include "tilewright/base/elem_text.hpp"
#include "tilewright/family/family.hpp"
#include "tools/command/guarded.hpp"
#include "tools/command/occupancy/cubin.hpp"
#include "tools/command/occupancy/kernel_registers.hpp"
#include "tools/command/occupancy/occupancy_report.hpp"
#include "tools/io/in_quotes.hpp"
#include "tools/io/refuse.hpp"
#include "tools/report/json_output.hpp"
#include "tools/request/number_checks.hpp"
#include "tools/request/precision_options.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

char const* const occupancy_manual =
    "Calculates how many CTAs and warps of a kernel an SM holds at a time, which resource limits "
    "them, and what one register or one stage more changes. The resources are given by --regs, "
    "--threads and --smem (lists give a table), or read from a cubin (--cubin) or from the "
    "kernels of this library (--kernel). Nothing runs, no GPU is needed. docs/occupancy.md has "
    "the rules.";

struct occupancy_request {
  std::vector<int> registers, threads;
  std::vector<std::int64_t> smem_bytes;
  std::int64_t stage_bytes = 0;
  int cluster = 0, barriers = -1, tensor_columns = -1;  // 0 and -1: not given
  int warpgroups = 1;
  std::string kernel, cubin_path, function, tile, ab = "bf16", device;
  bool as_json = false;
};

/// The device if none is named: one that the kernel is for, or the H200.
std::string usual_device(std::string const& kernel) {
  for (gemm_family const* const f : families())
    for (int i = 0; i < f->kernel_count(); ++i)
      if (f->name(i) == kernel) return std::string(f->facts(i).device);
  return "h200";
}

/// The device: of a description with its SMs, or an SM alone.
void find_device(occupancy_request const& r, occupancy_answer& a) {
  std::string const typed = lower_case(r.device), id = typed == "h100" ? "h100_sxm" : typed;
  auto const known = known_devices();
  auto const found = std::ranges::find(known, id, &device::id);
  if (found != known.end()) {
    a.whole = *found;
    a.device_name = found->name;
    a.sm = find_sm_limits(found->compute_capability);
  } else {
    a.device_name = r.device;
    a.sm = sm_limits_named(typed);
  }
  if (a.sm != nullptr) return;
  std::vector<std::string> ids;
  for (device const& d : known) ids.push_back(d.id);
  refuse("TW0434", "device", in_quotes(r.device),
         fmt::format("one of {}, {}, or sm_XX", fmt::join(ids, ", "), sm_limits_words()));
}

occupancy_row row_of(gemm_family const& family, int kernel) {
  auto const resources = family.resources(kernel);
  if (!resources)
    refuse("TW0652", "kernel " + family.name(kernel), "a family that does not state its resources",
           "a kernel whose family states them", "give --regs, --threads and --smem");
  occupancy_row row{family.name(kernel), resources->cta, resources->stage_bytes, resources->stages,
                    resources->sums};
  row.cta.registers = 0;
  for (kernel_registers const& k : accepted_registers())
    if (k.family == family.id() && k.kernel == kernel) row.cta.registers = k.registers;
  return row;
}

occupancy_row row_of_kernel(std::string const& name) {
  std::vector<std::string> names;
  for (gemm_family const* const family : families())
    for (int kernel = 0; kernel < family->kernel_count(); ++kernel) {
      if (family->name(kernel) == name) return row_of(*family, kernel);
      names.push_back(family->name(kernel));
    }
  refuse("TW0652", "kernel", in_quotes(name),
         "a name as `tilewright plan M N K --all-kernels` lists them", did_you_mean(name, names));
}

std::vector<occupancy_row> rows_of_cubin(occupancy_request const& r, occupancy_answer const& a) {
  cubin const c = read_cubin(r.cubin_path);
  if (c.compute_capability != a.sm->compute_capability)
    refuse("TW0650", "device for a cubin of sm_" + std::to_string(c.compute_capability),
           fmt::format("{}, sm_{}", r.device, a.sm->compute_capability), "the same architecture",
           fmt::format("add --device sm_{}", c.compute_capability));
  std::vector<occupancy_row> rows;
  std::vector<std::string> names;
  for (cubin_kernel const& k : c.kernels) {
    names.push_back(k.name);
    if (!r.function.empty() && k.name != r.function) continue;
    bool const stated = k.max_threads > 0;
    if (!stated && r.threads.empty())
      refuse("TW0650", "threads of " + k.name, "no launch bounds in the cubin",
             "--threads, or __launch_bounds__ in the source");
    rows.push_back({k.name,
                    {.threads = k.max_threads,
                     .registers = k.registers,
                     .smem_bytes = k.static_smem_bytes,
                     .cluster = k.cluster,
                     .barriers = k.barriers}});
  }
  if (rows.empty())
    refuse("TW0652", "function of the cubin", in_quotes(r.function),
           fmt::format("one of {}", fmt::join(names, ", ")), did_you_mean(r.function, names));
  return rows;
}

/// Each row with each combination of what the options give; dynamic shared memory adds to a
/// cubin's static.
std::vector<occupancy_row> combined(occupancy_request const& r,
                                    std::vector<occupancy_row> const& rows) {
  std::vector<occupancy_row> all;
  for (occupancy_row const& row : rows) {
    std::vector<int> const registers =
        r.registers.empty() ? std::vector{row.cta.registers} : r.registers;
    std::vector<int> const threads = r.threads.empty() ? std::vector{row.cta.threads} : r.threads;
    std::vector<std::int64_t> smem = r.smem_bytes;
    if (smem.empty())
      smem = {row.cta.smem_bytes};
    else if (!r.cubin_path.empty())
      for (std::int64_t& bytes : smem) bytes += row.cta.smem_bytes;
    for (int const t : threads)
      for (std::int64_t const s : smem)
        for (int const n : registers) {
          occupancy_row x = row;
          x.cta.threads = t, x.cta.smem_bytes = s, x.cta.registers = n;
          if (r.cluster > 0) x.cta.cluster = r.cluster;
          if (r.barriers >= 0) x.cta.barriers = r.barriers;
          if (r.tensor_columns >= 0) x.cta.tensor_columns = r.tensor_columns;
          if (r.stage_bytes > 0) x.stage_bytes = r.stage_bytes;
          all.push_back(x);
        }
  }
  return all;
}

void check(occupancy_row const& row, occupancy_answer const& a) {
  sm_limits const& sm = *a.sm;
  if (row.cta.registers == 0)
    refuse("TW0652", "registers of " + row.kernel,
           fmt::format("none accepted with nvcc {}", accepted_nvcc()), "--regs",
           "ptxas -v prints them");
  int const most = sm.max_cluster == 1 ? 1 : sm_limits::max_non_portable_cluster;
  int const columns = row.cta.tensor_columns;
  if (columns != 0 && (columns < 32 || columns > 512 || (columns & (columns - 1)) != 0))
    refuse("TW0650", "columns of tensor memory", std::to_string(columns),
           "0, 32, 64, 128, 256 or 512, as tcgen05.alloc takes them");
  if (row.cta.cluster > most)
    refuse("TW0650", "CTAs of a cluster", std::to_string(row.cta.cluster),
           most == 1 ? "1: clusters came with compute capability 9.0"
                     : fmt::format("at most {}", most));
}

tile_budget tile_of(occupancy_request const& r) {
  tile_budget t{.warpgroups = r.warpgroups, .ab = parse_elem(r.ab).value()};
  std::int64_t* const extents[] = {&t.m, &t.n, &t.k};
  char const* at = r.tile.data();
  char const* const end = at + r.tile.size();
  bool good = true;
  for (int i = 0; i < 3 && good; ++i) {
    auto const [next, error] = std::from_chars(at, end, *extents[i]);
    good = error == std::errc() && *extents[i] > 0 && *extents[i] <= 4096 &&
           (i < 2 ? next != end && *next == 'x' : next == end);
    at = next + (good && i < 2 ? 1 : 0);
  }
  if (!good) refuse("TW0650", "tile", in_quotes(r.tile), "MxNxK, each from 1 to 4096: 128x256x64");
  if (t.m % (wgmma_m * t.warpgroups) != 0)
    refuse("TW0650", "rows of the tile", std::to_string(t.m),
           fmt::format("a multiple of {}, {} for each of {} warpgroups", wgmma_m * t.warpgroups,
                       wgmma_m, t.warpgroups));
  if (t.n % wgmma_n_step != 0)
    refuse("TW0650", "columns of the tile", std::to_string(t.n),
           fmt::format("a multiple of {}, as the multiplies of all architectures take them",
                       wgmma_n_step));
  return t;
}

exit_status answer_occupancy(occupancy_request r) {
  occupancy_answer a;
  if (r.device.empty()) r.device = usual_device(r.kernel);
  find_device(r, a);
  bool const by_options = r.kernel.empty() && r.cubin_path.empty();
  std::vector<occupancy_row> rows;
  if (!r.kernel.empty()) rows = {row_of_kernel(r.kernel)};
  if (!r.cubin_path.empty()) rows = rows_of_cubin(r, a);
  if (by_options && !(r.registers.empty() && r.threads.empty())) {
    if (r.registers.empty() || r.threads.empty())
      refuse("TW0650", "resources", r.registers.empty() ? "no --regs" : "no --threads",
             "--regs and --threads, --kernel or --cubin");
    rows = {occupancy_row{}};
  }
  if (rows.empty() && r.tile.empty())
    refuse("TW0650", "resources", "none", "--regs and --threads, --kernel, --cubin or --tile");
  a.rows = combined(r, rows);
  for (occupancy_row const& row : a.rows) check(row, a);
  a.one = a.rows.size() == 1;
  if (!r.tile.empty()) a.tile = tile_of(r);
  if (r.as_json)
    print_json("tilewright.occupancy/1", occupancy_json(a));
  else
    fmt::print("{}", occupancy_text(a));
  return exit_status::done;
}

}  // namespace

void add_occupancy_command(CLI::App& app, int& status) {
  auto const r = std::make_shared<occupancy_request>();
  CLI::App* verb = app.add_subcommand(
      "occupancy",
      "CTAs and warps that an SM holds of a kernel, and the resource that limits them");
  verb->footer(occupancy_manual);
  verb->add_option("--regs", r->registers, "registers of a thread, as ptxas -v prints them; a list")
      ->delimiter(',')
      ->check(CLI::Range(1, sm_limits::max_allocated_registers));
  verb->add_option("--threads", r->threads, "threads of a CTA; a list")
      ->delimiter(',')
      ->check(CLI::Range(1, sm_limits::max_threads_per_cta));
  verb->add_option("--smem", r->smem_bytes,
                   "bytes of shared memory of a CTA; a list; with --cubin the dynamic part")
      ->delimiter(',')
      ->check(not_negative());
  verb->add_option("--stage", r->stage_bytes, "bytes of a pipeline stage, to see one more or less")
      ->check(above_zero());
  verb->add_option("--cluster", r->cluster, "CTAs of a cluster")
      ->check(CLI::Range(1, sm_limits::max_non_portable_cluster));
  verb->add_option("--barriers", r->barriers, "named barriers of a CTA (bar.sync)")
      ->check(CLI::Range(0, 16));
  verb->add_option("--tensor-columns", r->tensor_columns,
                   "columns of tensor memory that a CTA allocates (tcgen05.alloc)")
      ->check(CLI::Range(0, 512));
  CLI::Option* const kernel =
      verb->add_option("--kernel", r->kernel, "a kernel of this library, as `plan` names it");
  CLI::Option* const file =
      verb->add_option("--cubin", r->cubin_path, "a file of nvcc -cubin: its kernels");
  file->excludes(kernel);
  verb->add_option("--function", r->function, "one kernel of the cubin")->needs(file);
  verb->add_option("--tile", r->tile, "MxNxK of a CTA: its registers of accumulators, A and B");
  verb->add_option("--warpgroups", r->warpgroups, "that divide the rows of --tile")
      ->check(CLI::Range(1, 4))
      ->capture_default_str();
  verb->add_option("--dtype,--ab", r->ab, "type of A and B of --tile")
      ->transform(elem_word(multiplied_words()))
      ->capture_default_str();
  verb->add_option("--device", r->device,
                   "a device of `plan`, or " + sm_limits_words() +
                       ", sm_XX (default: one that --kernel is for, else h200)");
  verb->add_flag("--json", r->as_json, "one JSON record on stdout");
  verb->callback([r, &status] {
    status = static_cast<int>(guarded(r->as_json, [&] { return answer_occupancy(*r); }));
  });
}

}  // namespace tw
