// SPDX-License-Identifier: Apache-2.0
// banks_command.cpp  Layout and access in; counts, collisions and proposals out. Of tensor memory
//                    lanes and warps.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tilewright/atom/bank_proposal.hpp"
#include "tilewright/atom/call.hpp"
#include "tilewright/atom/copy_names.hpp"
#include "tools/command/banks/tmem_access.hpp"
#include "tools/command/guarded.hpp"
#include "tools/io/refuse.hpp"
#include "tools/report/json_output.hpp"
#include "tools/report/tmem_names.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

struct banks_request {
  std::string tile, access, threads, tv_tile;
  i64 thread_stride = 0;
  int bits = 0;  // 0: 16, or the access's width where that is less
  bool has_stride = false, tma = false, all = false, json_output = false;
  int warp = -1, lane = -1, column = 0, allocated = 512;  // of tensor memory; -1: not given
  std::vector<std::string> given;                         // options of the command line
};

/// The accesses that are counted.
struct subject {
  access_kind kind;
  layout tile;
  int bits;
  layout map;

  bank_report at(i64 step) const { return count_banks(access(step)); }
  warp_access access(i64 step) const { return access_of(kind, tile, bits, map, step); }
  /// The name of one step.
  std::string unit() const {
    return kind.op == smem_op::wgmma ? "read of a core matrix"
           : kind.op == smem_op::tma ? "write of 8 chunks"
                                     : "instruction";
  }
};

layout evaluated(std::string const& text) {
  answer const a = evaluate(text);
  if (!a.function) refuse("TW0123", "layout", a.res, "a layout", "");
  return *a.function;
}

/// (thread, values) of a part of the tile, repeated over all of it.
layout repeated(layout const& tv, tiler const& part, layout const& places) {
  layout const d = zipped_divide(places, part);
  layout const cells = composition(mode(d, 0), tv);
  return make_layout(mode(cells, 0), make_layout(mode(cells, 1), mode(d, 1)));
}

/// The map of --tv: a layout, of the tile or of the part that --tv-tile names, or a tiled copy.
layout map_of_text(banks_request const& r, access_kind k, layout const& tile) {
  tree extents;
  for (int i = 0; i < rank(tile); ++i) detail::append(extents, tree(size(mode(tile, i))));
  detail::wrap(extents);
  layout const places = make_layout_left(extents);
  if (r.threads.starts_with("tiled_copy") || r.threads.starts_with("cotiled_copy")) {
    tiled_copy const c = parse_tiled_copy(r.threads);
    bool const writes = k.op == smem_op::st || k.op == smem_op::stmatrix;
    return repeated(writes ? layout_d(c) : layout_s(c), c.tile, places);
  }
  layout const tv = evaluated(r.threads);
  if (!r.tv_tile.empty()) {
    return repeated(tv, parse_tiler(r.tv_tile.data(), static_cast<int>(r.tv_tile.size())), places);
  }
  i64 const cells = size(tv), rows = size(mode(places, 0));
  if (cells == cosize(tv) && cells < size(tile) && cells > rows) {
    refuse("TW0621", "thread-value layout of --tv", fmt::format("a map of {} places", cells),
           fmt::format("one of the tile's {} places, or --tv-tile", size(tile)),
           "places count through the columns of the whole tile; --tv-tile '(32,16)' says that the "
           "map is of a smaller tile, which is repeated");
  }
  return tv;
}

layout map_of_access(banks_request const& r, access_kind k, layout const& tile, int bits) {
  if (r.threads.empty() && !r.has_stride) return natural_map(k, tile, bits);
  if (!r.threads.empty() && r.has_stride) {
    refuse("TW0621", "threads", "--tv and --thread-stride", "one of them", "");
  }
  if (k.op == smem_op::wgmma || k.op == smem_op::tma) {
    refuse("TW0621", "threads of " + name_of(k), r.has_stride ? "--thread-stride" : "--tv",
           "neither --tv nor --thread-stride", "the order of the hardware is fixed");
  }
  check_access(k, tile, bits);
  if (!r.has_stride) return map_of_threads(k, map_of_text(r, k, tile), bits);
  layout const stepwise = make_layout(layout(k.threads(), r.thread_stride),
                                      layout(k.bits / bits, detail::walk_of(tile).along_step));
  return map_of_threads(k, stepwise, bits);
}

subject subject_of(banks_request const& r) {
  auto const kind = access_named(r.access);
  if (!kind) {
    refuse("TW0620", "access", r.access, fmt::format("one of {}", fmt::join(access_names(), ", ")));
  }
  layout const tile = evaluated(r.tile);
  int const bits = r.bits != 0 ? r.bits : kind->bits < 16 ? kind->bits : 16;
  return {*kind, tile, bits, map_of_access(r, *kind, tile, bits)};
}

/// "1 wavefront", "2 wavefronts".
std::string counted(i64 n, std::string_view what) {
  if (n == 1) return fmt::format("1 {}", what);
  std::size_t const noun = what.find(' ') == what.npos ? what.size() : what.find(' ');
  return fmt::format("{} {}s{}", n, what.substr(0, noun), what.substr(noun));
}

std::string range(int first, int count) {
  return count == 1 ? std::to_string(first) : fmt::format("{}-{}", first, first + count - 1);
}

/// "0-7, 12": the bits of a mask.
std::string threads_of(std::uint32_t mask) {
  std::string text;
  for (int t = 0; t < 32; ++t) {
    if (((mask >> t) & 1U) == 0) continue;
    int end = t;
    while (end + 1 < 32 && ((mask >> (end + 1)) & 1U) != 0) ++end;
    text += (text.empty() ? "" : ", ") + range(t, end - t + 1);
    t = end;
  }
  return text;
}

void print_step(subject const& s, i64 step, int most_lines) {
  bank_report const r = s.at(step);
  fmt::print("{} {}: {}, {} would do\n", s.unit(), step, counted(r.wavefronts, "wavefront"),
             r.ideal);
  for (int i = 0; i < r.collisions && i < most_lines; ++i) {
    bank_collision const& c = r.collision[i];
    fmt::print("  bank{} {:<6} {:>2} ways  threads {}\n", c.banks > 1 ? "s" : " ",
               range(c.bank, c.banks), c.ways, threads_of(c.threads));
  }
  if (r.collisions > most_lines) {
    fmt::print("  and {} more collisions: --all\n", r.collisions - most_lines);
  }
}

void print_threads(subject const& s, i64 step) {
  warp_access const a = s.access(step);
  bank_report const r = count_banks(a);
  for (int t = 0; t < 32; ++t) {
    bank_use const& u = r.thread[t];
    if (u.bank < 0) continue;
    fmt::print("  thread {:>2}  byte {:>6}  bank{} {:<6} wavefront {}\n", t, a.address[t],
               u.banks > 1 ? "s" : " ", range(u.bank, u.banks), u.wavefront);
  }
}

void print_proposal(subject const& s, bank_proposal const& p, bool hardware_only) {
  auto const show = [&](char const* what, bank_layout const& l, std::string const& note) {
    fmt::print("{:<8} {}: {}{}\n", what, print(l.tile).text, counted(l.wavefronts, "wavefront"),
               note);
  };
  if (p.plain == p.ideal) {
    fmt::print("plain    without the swizzle there are no conflicts\n");
    return;
  }
  if (p.swizzle) {
    std::string const name = hardware_name(p.swizzle->tile.sw, s.bits);
    show("swizzle", *p.swizzle, name.empty() ? "" : ", " + name);
  } else {
    fmt::print("swizzle  none {}: {}\n",
               p.beyond ? "inside the tile removes the conflicts" : "removes the conflicts", p.why);
    if (p.beyond)
      show("whole", *p.beyond, ", if the tile is a part of one that this maps to itself");
    if (p.best) show("best", *p.best, "");
  }
  if (p.padding) {
    show("padding", *p.padding, fmt::format(", {} bytes more", p.padding->extra_bytes));
  } else if (!hardware_only) {
    fmt::print("padding  up to {} bytes a row do not remove them\n", wavefront_bytes);
  }
}

void print_all(banks_request const& r, subject const& s) {
  bank_totals const sum = count_banks(s.kind, s.tile, s.bits, s.map);
  bool const conflicts = sum.wavefronts > sum.ideal;
  fmt::print("{} of {}, {} bit, {} bytes\n", name_of(s.kind), print(s.tile).text, s.bits,
             cosize(s.tile) * s.bits / 8);
  fmt::print("{}: {}, {} would do{}\n", counted(sum.steps, s.unit()),
             counted(sum.wavefronts, "wavefront"), sum.ideal,
             conflicts ? fmt::format(": {:.2f} times as many", static_cast<double>(sum.wavefronts) /
                                                                   static_cast<double>(sum.ideal))
                       : ", no conflicts");
  if (s.kind.op == smem_op::tma) fmt::print("modelled; no counter counts TMA (docs/banks.md)\n");
  if (r.all) {
    for (i64 i = 0; i < sum.steps; ++i) {
      print_step(s, i, 32);
      print_threads(s, i);
    }
  } else if (conflicts) {
    print_step(s, sum.worst, 6);
  }
  if (conflicts) {
    print_proposal(s, propose(s.kind, s.tile, s.bits, s.map, r.tma),
                   r.tma || s.kind.op == smem_op::tma);
  }
}

json to_json(bank_layout const& l, int bits) {
  return {{"layout", print(l.tile).text},
          {"wavefronts", l.wavefronts},
          {"extra_bytes", l.extra_bytes},
          {"hardware", !hardware_name(l.tile.sw, bits).empty()}};
}

json to_json(subject const& s, i64 step) {
  warp_access const a = s.access(step);
  bank_report const r = count_banks(a);
  json record{{"step", step},
              {"wavefronts", r.wavefronts},
              {"ideal", r.ideal},
              {"threads", json::array()},
              {"collisions", json::array()}};
  for (int t = 0; t < 32; ++t) {
    bank_use const& u = r.thread[t];
    if (u.bank < 0) continue;
    record["threads"].push_back({{"thread", t},
                                 {"byte", a.address[t]},
                                 {"bank", u.bank},
                                 {"banks", u.banks},
                                 {"group", u.group},
                                 {"wavefront", u.wavefront}});
  }
  for (int i = 0; i < r.collisions; ++i) {
    bank_collision const& c = r.collision[i];
    json threads = json::array();
    for (int t = 0; t < 32; ++t) {
      if (((c.threads >> t) & 1U) != 0) threads.push_back(t);
    }
    record["collisions"].push_back({{"group", c.group},
                                    {"bank", c.bank},
                                    {"banks", c.banks},
                                    {"ways", c.ways},
                                    {"threads", threads}});
  }
  return record;
}

json to_json(banks_request const& r, subject const& s) {
  bank_totals const sum = count_banks(s.kind, s.tile, s.bits, s.map);
  json record{{"access", name_of(s.kind)},
              {"layout", print(s.tile).text},
              {"bits", s.bits},
              {"bytes", cosize(s.tile) * s.bits / 8},
              {"map", print(s.map).text},
              {"steps", sum.steps},
              {"wavefronts", sum.wavefronts},
              {"ideal", sum.ideal},
              {"ratio", static_cast<double>(sum.wavefronts) / static_cast<double>(sum.ideal)},
              {"worst", to_json(s, sum.worst)}};
  if (r.all) {
    record["all"] = json::array();
    for (i64 i = 0; i < sum.steps; ++i) record["all"].push_back(to_json(s, i));
  }
  if (sum.wavefronts == sum.ideal) return record;
  bank_proposal const p = propose(s.kind, s.tile, s.bits, s.map, r.tma);
  record["plain_wavefronts"] = p.plain;
  record["swizzle"] = p.swizzle ? to_json(*p.swizzle, s.bits) : json();
  if (p.best) record["best"] = to_json(*p.best, s.bits);
  if (p.beyond) record["beyond"] = to_json(*p.beyond, s.bits);
  record["padding"] = p.padding ? to_json(*p.padding, s.bits) : json();
  if (!p.why.empty()) record["why"] = p.why;
  return record;
}

/// The answer about tensor memory, which has no banks.
exit_status answer_tensor_memory(banks_request const& r) {
  for (std::string const& option : r.given)
    if (option != "--warp" && option != "--lane" && option != "--column" &&
        option != "--allocated" && option != "--json")
      refuse("TW0622", "options for " + r.tile, option,
             "--warp, --lane, --column, --allocated or --json: tensor memory has no banks");
  tmem_question const q{parse_tmem(r.tile), r.warp, r.lane, r.column, r.allocated};
  if (r.json_output)
    print_json("tilewright.banks.tensor_memory/1", tmem_access_json(q));
  else
    fmt::print("{}", tmem_access_text(q));
  return exit_status::done;
}

exit_status answer_request(banks_request const& r) {
  if (names_tmem(r.tile)) return answer_tensor_memory(r);
  if (r.access.empty())
    refuse("TW0615", "command line of `tilewright banks`", "no --access",
           fmt::format("--access, one of {}", fmt::join(access_names(), ", ")));
  for (std::string const& option : r.given)
    if (option == "--warp" || option == "--lane" || option == "--column" || option == "--allocated")
      refuse("TW0622", option, "a layout in shared memory", "a name of tensor memory, tmem.ld.*");
  subject const s = subject_of(r);
  if (r.json_output) {
    print_json("tilewright.banks/1", to_json(r, s));
  } else {
    print_all(r, s);
  }
  return exit_status::done;
}

}  // namespace

void add_banks_command(CLI::App& app, int& status) {
  auto const request = std::make_shared<banks_request>();
  CLI::App* verb = app.add_subcommand("banks",
                                      "count the wavefronts of an access to shared memory; which "
                                      "warp reaches which lanes of tensor memory");
  verb->add_option("LAYOUT", request->tile,
                   "the tile, a layout in elements or an expression: (64,64):(64,1); or a part of "
                   "tensor memory, tmem.ld.16x64b.x4 (docs/pictures.md has the names)")
      ->required();
  verb->add_option("--access", request->access,
                   "ld.8 to ld.128, st.8 to st.128, ldmatrix.x1, .x2, .x4, stmatrix.x1, .x2, .x4, "
                   "also with .trans; wgmma: the operand read; tma: a box; needed but for tensor "
                   "memory");
  verb->add_option("--bits", request->bits,
                   "of an element: 8, 16, 32, 64; without it 16, or the access's if less");
  verb->add_option("--tv", request->threads,
                   "a layout (thread, value) -> index in the tile, or tiled_copy(...); without it "
                   "ld and st go along the contiguous mode, matrices are 16 rows by 32 bytes");
  verb->add_option("--tv-tile", request->tv_tile,
                   "the tile that --tv is a map of, where it is smaller: (32,16); it is repeated");
  CLI::Option* const stride = verb->add_option("--thread-stride", request->thread_stride,
                                               "indices of the tile from one thread to the next");
  verb->add_flag("--tma", request->tma, "propose only the swizzles of TMA and wgmma");
  verb->add_flag("--all", request->all, "every step, every collision, every thread");
  verb->add_option("--warp", request->warp, "of tmem.ld.*: the warp of the CTA")
      ->check(CLI::Range(0, 31));
  verb->add_option("--lane", request->lane, "of tmem.ld.*: where the access begins")
      ->check(CLI::Range(0, 127));
  verb->add_option("--column", request->column, "of tmem.ld.*: where the access begins")
      ->check(CLI::Range(0, 511));
  verb->add_option("--allocated", request->allocated, "columns that are allocated, from 0 on")
      ->check(CLI::Range(32, 512))
      ->capture_default_str();
  verb->add_flag("--json", request->json_output, "one JSON record");
  verb->callback([request, stride, verb, &status] {
    request->has_stride = stride->count() > 0;
    for (CLI::Option const* const o : verb->get_options())
      if (o->count() > 0 && !o->get_lnames().empty())
        request->given.push_back("--" + o->get_lnames()[0]);
    status =
        static_cast<int>(guarded(request->json_output, [&] { return answer_request(*request); }));
  });
}

}  // namespace tw
