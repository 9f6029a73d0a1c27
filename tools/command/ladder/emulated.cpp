// SPDX-License-Identifier: Apache-2.0
// emulated.cpp  `tilewright ladder --device emu`: runs, checks, counts, and diagnoses.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tilewright/arch/emu/trace.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/rungs/run.hpp"
#include "tools/command/ladder/chart.hpp"
#include "tools/command/ladder/request.hpp"
#include "tools/io/in_quotes.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/to_stderr.hpp"
#include "tools/report/json_output.hpp"
#include "tools/trace/write_timeline.hpp"

namespace ladder {

namespace {

constexpr int default_size = 512;
constexpr int library_rung = 12, nvfp4_rung = 15, fp8_rung = 3;

/// A diagnosis, and the number of runs that have one of its code.
struct finding {
  emu::diagnosis first;
  int runs = 0;
};

/// A rung's runs, one for each seed.
struct line {
  int number = 0;
  std::string name, idea;
  bool library = false, side = false;
  double operand_bytes = 2, result_bytes = 2;  // of an element
  run_result first;  // of the runs: the first with a fault, else the first
  int runs = 0, bad_runs = 0;
  std::vector<finding> findings;  // all of `first`, later ones with another code
  double l2_share = 1;
  std::int64_t wavefronts = 0, ideal_wavefronts = 0;  // of loads and stores of shared memory

  bool good() const { return bad_runs == 0; }
};

/// Eager completion first, then lazy, random, and random warps.
emu::options options_of(int run, bug planted_bug) {
  emu::options o =
      mutants::schedule(run % mutants::schedule_families, static_cast<std::uint64_t>(1 + run));
  o.os_threads = planted_bug == bug::none ? 0 : 1;  // 1: the same report in each run
  o.bank_conflicts = false;
  o.most_reports = 6;
  return o;
}

/// Adds the diagnoses of a run.
void add_findings(line& to, emu::report const& of_run) {
  std::set<std::string> const before = [&] {
    std::set<std::string> codes;
    for (finding const& f : to.findings) codes.insert(f.first.code);
    return codes;
  }();
  std::set<std::string> codes;
  for (emu::diagnosis const& d : of_run.diagnoses) {
    bool const new_here = codes.insert(d.code).second;
    if (before.empty() || (new_here && !before.contains(d.code))) to.findings.push_back({d, 0});
  }
  for (finding& f : to.findings) f.runs += codes.contains(f.first.code) ? 1 : 0;
}

template <class Run>
void repeat(line& to, int seeds, bug planted_bug, Run const& run) {
  for (int i = 0; i < seeds; ++i) {
    emu::options o = options_of(i, planted_bug);
    std::vector<emu::bank_traffic> banks;
    if (i == 0) o.banks = &banks;
    run_result const result = run(o);
    for (emu::bank_traffic const& b : banks) {
      to.wavefronts += b.wavefronts;
      to.ideal_wavefronts += b.ideal;
    }
    bool const bad = !result.correct();
    add_findings(to, result.report);
    if (i == 0 || (bad && to.bad_runs == 0)) to.first = result;
    ++to.runs;
    to.bad_runs += bad ? 1 : 0;
  }
}

std::string need_of(rung const& r) {
  return fmt::format("M a multiple of {}, N of {}, K of {}", r.tile[0], r.tile[1], r.tile[2]);
}

bool fits(rung const& r, product const& x) {
  return x.m() % r.tile[0] == 0 && x.n() % r.tile[1] == 0 && x.k() % r.tile[2] == 0;
}

void refuse_extents(rung const& r, product const& x) {
  if (!fits(r, x))
    refuse("TW0680", fmt::format("problem of rung {}", r.number),
           fmt::format("{} x {} x {}", x.m(), x.n(), x.k()), need_of(r),
           "--size 512; rungs 8 to 12 compute any size");
}

int sms_of(request const& r) { return r.sms > 0 ? r.sms : emulated_sms; }

/// One run, drawn over time, also if it has a fault.
template <class Run>
void draw(timeline_files const& files, bug planted_bug, Run const& run) {
  check_timeline_files(files);
  emu::trace record;
  emu::options o = options_of(0, planted_bug);
  o.record = &record;
  run(o);
  to_stderr("{}", write_timeline(record, files));
}

line line_of(rung const& r, product const& x, bug planted_bug, request const& q) {
  refuse_extents(r, x);
  timeline_files const files{q.trace, q.timeline};
  auto const one = [&](emu::options const& o) { return run(r, x, planted_bug, o, sms_of(q)); };
  if (files.any()) draw(files, planted_bug, one);
  line to;
  to.number = r.number, to.name = r.name, to.idea = r.idea, to.side = q.side;
  to.l2_share = r.l2_share;
  repeat(to, q.seeds, planted_bug, one);
  return to;
}

bool is_whole(std::array<int, 3> const& tile, product const& x) {
  return x.m() % tile[0] == 0 && x.n() % tile[1] == 0 && x.k() % tile[2] == 0;
}

void refuse_parts_of_tiles(std::array<int, 3> const& tile, std::string const& what,
                           product const& x) {
  if (!is_whole(tile, x))
    refuse("TW0680", what, fmt::format("{} x {} x {}", x.m(), x.n(), x.k()),
           fmt::format("M a multiple of {}, N of {}, K of {}", tile[0], tile[1], tile[2]),
           "--size 512");
}

line line_of_fp8_scales(product const& x, int seeds) {
  line to;
  to.number = fp8_rung, to.name = "side_fp8_scales", to.idea = "e4m3, scales of 1 x 128";
  to.side = true;
  to.operand_bytes = 1 + 4.0 / 128;
  refuse_parts_of_tiles(fp8_scales_tile(), "problem of side_fp8_scales", x);
  repeat(to, seeds, bug::none,
         [&](emu::options const& o) { return run_fp8_scales(x.m(), x.n(), x.k(), o); });
  return to;
}

line line_of_nvfp4(product const& x, request const& q) {
  line to;
  to.number = nvfp4_rung, to.name = "15_nvfp4", to.idea = "4-bit elements, scale factors";
  to.operand_bytes = 0.5 + 1.0 / 16, to.result_bytes = 4;
  refuse_parts_of_tiles(nvfp4_tile(), fmt::format("problem of rung {}", nvfp4_rung), x);
  auto const one = [&](emu::options const& o) { return run_nvfp4(x.m(), x.n(), x.k(), o); };
  if (timeline_files const files{q.trace, q.timeline}; files.any()) draw(files, bug::none, one);
  repeat(to, q.seeds, bug::none, one);
  return to;
}

line line_of_library(product const& x, int seeds) {
  line to;
  to.number = library_rung, to.name = "12_library", to.library = true;
  repeat(to, seeds, bug::none, [&](emu::options const& o) { return run_library(x, o, to.idea); });
  return to;
}

/// The name, and of an experiment the step.
std::string title_of(line const& l) {
  return l.side ? fmt::format("{}, {}", l.name, l.idea) : l.name;
}

double mib(double bytes) { return bytes / (1 << 20); }

/// A, B and D once: what memory has to deliver at least.
double least_dram_bytes(product const& x, line const& l) {
  return l.operand_bytes * (static_cast<double>(x.m()) + x.n()) * x.k() +
         l.result_bytes * static_cast<double>(x.m()) * x.n();
}

nlohmann::ordered_json json_of(line const& l, product const& x) {
  emu::statistics const& c = l.first.report.counts;
  auto diagnoses = nlohmann::ordered_json::array();
  for (finding const& f : l.findings)
    diagnoses.push_back({{"code", f.first.code},
                         {"kind", f.first.kind},
                         {"text", f.first.text},
                         {"file", f.first.where.file == nullptr ? "" : f.first.where.file},
                         {"line", f.first.where.line},
                         {"runs", f.runs}});
  nlohmann::ordered_json j{{"rung", l.number},
                           {"name", l.name},
                           {"idea", l.idea},
                           {"m", x.m()},
                           {"n", x.n()},
                           {"k", x.k()},
                           {"correct", l.good()},
                           {"runs", l.runs},
                           {"bad_runs", l.bad_runs},
                           {"diagnoses", diagnoses}};
  j["wrong_elements"] = l.first.wrong ? nlohmann::ordered_json(*l.first.wrong) : nullptr;
  j["ctas"] = c.ctas;
  j["barrier_waits"] = c.mbarrier_waits;
  j["arrivals"] = c.arrives;
  j["wgmmas"] = c.wgmmas;
  j["tcgen05_mmas"] = c.ummas;
  j["wavefronts"] = l.wavefronts;
  j["ideal_wavefronts"] = l.ideal_wavefronts;
  double const shared = static_cast<double>(c.tma_load_bytes);
  j["shared_bytes"] = c.tma_load_bytes;
  j["l2_bytes"] =
      l.library ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(shared * l.l2_share);
  j["least_dram_bytes"] = least_dram_bytes(x, l);
  return j;
}

void print_table(std::vector<line> const& lines, product const& x, int sms) {
  fmt::print("D[{},{}] = A[{},{}] B[{},{}]^T in bf16, emulated with {} SMs, hazards on\n\n", x.m(),
             x.n(), x.m(), x.k(), x.n(), x.k(), sms);
  std::size_t width = 23;
  for (line const& l : lines) width = std::max(width, title_of(l).size());
  fmt::print("{:<{}} {:>5} {:>7} {:>9} {:>8} {:>11} {:>9} {:>7}  result\n", "rung", width, "CTAs",
             "MMAs", "arrivals", "waits", "wavefronts", "smem MiB", "L2 MiB");
  for (line const& l : lines) {
    emu::statistics const& c = l.first.report.counts;
    auto const shared = static_cast<double>(c.tma_load_bytes);
    std::string const l2 =
        l.library || shared == 0 ? "-" : fmt::format("{:.2f}", mib(shared * l.l2_share));
    fmt::print("{:<{}} {:>5} {:>7} {:>9} {:>8} {:>11} {:>9} {:>7}  {}\n", title_of(l), width,
               c.ctas, c.wgmmas + c.ummas, c.arrives, c.mbarrier_waits, l.wavefronts,
               shared == 0 ? "-" : fmt::format("{:.2f}", mib(shared)), l2,
               l.good() ? "correct"
               : !l.first.report.diagnoses.empty()
                   ? l.first.report.diagnoses[0].code
                   : fmt::format("{} wrong elements", l.first.wrong.value_or(0)));
  }
  fmt::print("\nA, B and D together are {:.2f} MiB: DRAM moves at least those.\n",
             mib(least_dram_bytes(x, line{})));
  for (line const& l : lines)
    if (l.wavefronts > l.ideal_wavefronts)
      fmt::print(
          "{}: of {} wavefronts of loads and stores of shared memory {} are bank conflicts.\n",
          title_of(l), l.wavefronts, l.wavefronts - l.ideal_wavefronts);
  for (line const& l : lines)
    for (finding const& f : l.findings)
      fmt::print("\nrung {}, {} of {} runs: {}\n", l.number, f.runs, l.runs, emu::to_text(f.first));
}

planted_bug const& bug_named(std::string const& name) {
  std::string names;
  for (planted_bug const& b : bugs()) {
    if (b.name == name) return b;
    names += (names.empty() ? "" : ", ") + std::string(b.name);
  }
  refuse("TW0634", "--bug", in_quotes(name), "one of " + names, "tilewright ladder --bug list");
}

exit_status finish(std::vector<line> const& lines, product const& x, request const& r) {
  bool const good = std::ranges::all_of(lines, [](line const& l) { return l.good(); });
  if (!r.plot.empty()) {
    chart c{"Bytes that TMA reads from L2, MiB", "MiB", {}, {}};
    for (line const& l : lines) {
      c.names.push_back(l.name);
      double const shared = static_cast<double>(l.first.report.counts.tma_load_bytes);
      c.values.push_back(l.library || shared == 0 ? -1 : mib(shared * l.l2_share));
    }
    plot(r.plot, c);
  }
  if (r.json) {
    auto rows = nlohmann::ordered_json::array();
    for (line const& l : lines) rows.push_back(json_of(l, x));
    print_json("tilewright.ladder/1", {{"device", "emu"}, {"rungs", rows}});
  } else {
    print_table(lines, x, sms_of(r));
  }
  return good ? exit_status::done : exit_status::wrong;
}

}  // namespace

exit_status list_bugs(request const& r) {
  if (r.json) {
    auto rows = nlohmann::ordered_json::array();
    for (planted_bug const& b : bugs())
      rows.push_back({{"rung", b.rung}, {"name", b.name}, {"change", b.change}, {"code", b.code}});
    print_json("tilewright.ladder.bugs/1", {{"bugs", rows}});
    return exit_status::done;
  }
  fmt::print("rung  code   bug                 change\n");
  for (planted_bug const& b : bugs())
    fmt::print("{:>4}  {}  {:<18}  {}\n", b.rung, b.code, b.name, b.change);
  return exit_status::done;
}

exit_status run_in_emulator(request const& r) {
  bool const drawn = !r.timeline.empty() || !r.trace.empty();
  if (drawn && r.side)
    refuse("TW0681", "--timeline and --trace", "--side, which runs several kernels", "one rung",
           "--rung with a number from 1 to 11, without --side");
  if (drawn && (r.rung == library_rung || (r.rung == 0 && r.bug.empty())))
    refuse("TW0681", "--timeline and --trace",
           r.rung == 0 ? "all rungs" : fmt::format("rung {}", r.rung),
           "--rung with a number from 1 to 11 or 13 to 15, or --bug",
           "tilewright gemm --timeline draws the library's kernels");
  if (!r.bug.empty()) {
    planted_bug const& b = bug_named(r.bug);
    if (r.rung != 0 && r.rung != b.rung)
      refuse("TW0634", "--rung with --bug " + r.bug, std::to_string(r.rung), std::to_string(b.rung),
             "the rung may be left out");
    std::array<int, 3> const shape =
        r.size > 0 ? std::array<int, 3>{r.size, r.size, r.size} : b.shape;
    product const x(shape[0], shape[1], shape[2], 1);
    return finish({line_of(rung_of(b), x, b.which, r)}, x, r);
  }
  int const size = r.size > 0 ? r.size : default_size;
  product const x(size, size, size, 1);
  std::vector<line> lines;
  for (rung const& one : r.side ? side_rungs() : rungs())
    if (r.rung == 0 || r.rung == one.number) lines.push_back(line_of(one, x, bug::none, r));
  if (r.side && (r.rung == fp8_rung || (r.rung == 0 && is_whole(fp8_scales_tile(), x))))
    lines.push_back(line_of_fp8_scales(x, r.seeds));
  if (r.side && lines.empty())
    refuse("TW0634", "--rung with --side", std::to_string(r.rung), "3 or 5 to 10",
           "the rung may be left out");
  if (!r.side && (r.rung == 0 || r.rung == library_rung))
    lines.push_back(line_of_library(x, r.seeds));
  if (!r.side)
    for (rung const& one : blackwell_rungs())
      if (r.rung == one.number || (r.rung == 0 && fits(one, x)))
        lines.push_back(line_of(one, x, bug::none, r));
  if (!r.side && (r.rung == nvfp4_rung || (r.rung == 0 && size % nvfp4_tile()[0] == 0)))
    lines.push_back(line_of_nvfp4(x, r));
  return finish(lines, x, r);
}

}  // namespace ladder
