// SPDX-License-Identifier: Apache-2.0
// tmem_access.cpp  Loads and stores by their rules; everything else by its layout.
#include "tools/command/banks/tmem_access.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <set>

#include "tilewright/atom/access.hpp"
#include "tilewright/atom/bank_proposal.hpp"
#include "tilewright/atom/tmem_fragment.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

constexpr int lanes_of_quarter = 32;

char const* const no_banks =
    "tensor memory has no banks, so no access has conflicts; a warp reaches 32 of the 128 lanes";

std::string span_text(int first, int count) {
  return fmt::format("{}-{}", first, first + count - 1);
}

void check_question(tmem_question const& q) {
  bool const load = q.name.what == tmem_what::load;
  if (!load && (q.warp >= 0 || q.lane >= 0 || q.column != 0))
    refuse("TW0622", "--warp, --lane and --column", q.name.text, "a load or store, tmem.ld.*");
  if (!std::has_single_bit(static_cast<unsigned>(q.allocated)))
    refuse("TW0622", "--allocated", fmt::format("{}", q.allocated), "32, 64, 128, 256 or 512");
  if (q.lane >= 0 && q.warp < 0)
    refuse("TW0622", "--lane", "no --warp", "the warp that begins there: --warp 0");
}

/// Decided loads: of the warp and the lane that are given, or of four warps at their first lanes.
std::vector<tmem_verdict> verdicts_of(tmem_question const& q) {
  std::vector<tmem_verdict> all;
  for (int warp = q.warp < 0 ? 0 : q.warp; warp <= (q.warp < 0 ? 3 : q.warp); ++warp) {
    int const first = warp % 4 * lanes_of_quarter;
    if (q.lane >= 0) {
      all.push_back(decide_tmem(q, warp, q.lane));
      continue;
    }
    all.push_back(decide_tmem(q, warp, first));
    if (has_half_lanes(q.name.shape)) all.push_back(decide_tmem(q, warp, first + 16));
  }
  return all;
}

/// Values of one mode in a quarter of the lanes.
struct held_values {
  std::set<i64> values;
  std::string text() const {
    std::vector<std::string> parts;
    for (auto i = values.begin(); i != values.end();) {
      i64 const first = *i;
      i64 last = first;
      for (++i; i != values.end() && *i == last + 1; ++i) last = *i;
      parts.push_back(first == last ? std::to_string(first) : fmt::format("{}-{}", first, last));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }
};

/// The rows that the lanes of a quarter hold, and the values of the second mode.
struct quarter_content {
  held_values lanes, rows, others;
};
std::vector<quarter_content> quarters_of(tmem_name const& n) {
  layout const where = layout_of(n);
  int const per_column = 32 / n.bits();
  i64 const rows = size(mode(where, 0)), others = size(mode(where, 1));
  i64 const real = n.what == tmem_what::scales ? (n.operand == 'A' ? n.rows() : n.n) : rows;
  std::vector<quarter_content> all(4);
  for (i64 i = 0; i < size(where); ++i) {
    if (i % rows >= real) continue;  // padding
    i64 const lane = where(i) / per_column / tmem_lane;
    quarter_content& q = all[static_cast<std::size_t>(lane / lanes_of_quarter)];
    q.lanes.values.insert(lane);
    q.rows.values.insert(i % rows);
    q.others.values.insert(i / rows % others);
  }
  return all;
}

/// The names of the first two modes.
std::pair<char const*, char const*> mode_words(tmem_name const& n) {
  switch (n.what) {
    case tmem_what::load: break;
    case tmem_what::accumulator: return {"rows", "columns of D"};
    case tmem_what::operand_a: return {"rows", "k"};
    case tmem_what::scales: return {n.operand == 'A' ? "rows" : "columns of B", "factors"};
    case tmem_what::copy: return {"rows", "bytes"};
  }
  return {"", ""};
}

/// The source of a copy: rows of bytes, 8 rows of 16 bytes after one another.
layout copy_source_of(tmem_name const& n) {
  int const rows = tmem_copy_rows(n.copy), chunks = tmem_copy_chunks(n.copy);
  layout const down = make_layout(layout(8, i64{16}), layout(rows / 8, i64{128}));
  return chunks == 1
             ? make_layout(down, layout(16, i64{1}))
             : make_layout(down, make_layout(layout(16, i64{1}), layout(chunks, i64{16} * rows)));
}
bank_totals source_banks(tmem_name const& n) {
  access_kind const reads = access_named("wgmma").value();
  layout const source = copy_source_of(n);
  return count_banks(reads, source, 8, natural_map(reads, source, 8));
}

std::string load_text(tmem_question const& q) {
  std::string out = fmt::format(
      "tcgen05.ld or .st {}: {} lanes of a warp, {} columns, {} "
      "register{} of a thread\n{}\n",
      shape_text(q.name), has_half_lanes(q.name.shape) ? 16 : 32, columns_of(q.name),
      tmem_registers(q.name.shape, q.name.count),
      tmem_registers(q.name.shape, q.name.count) == 1 ? "" : "s", no_banks);
  for (tmem_verdict const& v : verdicts_of(q))
    out += fmt::format("warp {:<3} lanes {:<8} columns {:<8} {}\n", v.warp,
                       span_text(v.lane, v.lanes), span_text(v.column, v.columns),
                       v.allowed ? "allowed" : fmt::format("no: {} ({})", v.why, v.code));
  if (q.warp < 0) out += "warp w of a CTA as warp w % 4\n";
  return out;
}

std::string content_text(tmem_name const& n) {
  auto const [rows, others] = mode_words(n);
  std::string out = fmt::format("{}: {} columns\n{}\n", n.text, columns_of(n), no_banks);
  auto const all = quarters_of(n);
  for (int w = 0; w < 4; ++w) {
    quarter_content const& q = all[static_cast<std::size_t>(w)];
    out += fmt::format("warp {}  lanes {:<8} {} {}, {} {}\n", w, q.lanes.text(), rows,
                       q.rows.text(), others, q.others.text());
  }
  out += "warp w of a CTA as warp w % 4\n";
  if (n.what == tmem_what::scales)
    out += "the multiply reads them in each group of 32 lanes, for the rows of D in these lanes\n";
  if (n.what != tmem_what::copy) return out;
  bank_totals const sum = source_banks(n);
  return out + fmt::format(
                   "one thread issues the copy: it is no access of a warp\n"
                   "source in shared memory, which has banks: {}, {} bytes\n"
                   "{} reads of 8 rows of 16 bytes: {} wavefronts, {} would do, {}\n"
                   "modelled; not measured on a GPU with tcgen05\n",
                   print(copy_source_of(n)).text, cosize(copy_source_of(n)), sum.steps,
                   sum.wavefronts, sum.ideal,
                   sum.wavefronts > sum.ideal ? "conflicts" : "no conflicts");
}

}  // namespace

tmem_verdict decide_tmem(tmem_question const& q, int warp, int lane) {
  bool const half = has_half_lanes(q.name.shape);
  int const first = warp % 4 * lanes_of_quarter;
  tmem_verdict v{warp, lane, half ? 16 : 32, q.column, columns_of(q.name), true, "", ""};
  auto const no = [&](char const* code, std::string why) {
    v.allowed = false;
    v.code = code;
    v.why = std::move(why);
  };
  if (lane / lanes_of_quarter != warp % 4)
    no("E0105", fmt::format("warp {} reaches lanes {}", warp, span_text(first, lanes_of_quarter)));
  else if (lane % (half ? 16 : 32) != 0)
    no("E0105", half ? fmt::format("it begins at lane {} or {}", first, first + 16)
                     : fmt::format("it begins at lane {}", first));
  else if (v.column < 0 || v.column + v.columns > q.allocated)
    no("E0104", fmt::format("columns 0-{} are allocated", q.allocated - 1));
  return v;
}

std::string tmem_access_text(tmem_question const& q) {
  check_question(q);
  return q.name.what == tmem_what::load ? load_text(q) : content_text(q.name);
}

json tmem_access_json(tmem_question const& q) {
  check_question(q);
  json j{{"name", q.name.text},
         {"banks", false},
         {"columns", columns_of(q.name)},
         {"layout", print(layout_of(q.name)).text}};
  if (q.name.what == tmem_what::load) {
    j["registers"] = tmem_registers(q.name.shape, q.name.count);
    for (tmem_verdict const& v : verdicts_of(q)) {
      json one{{"warp", v.warp},           {"first_lane", v.lane}, {"lanes", v.lanes},
               {"first_column", v.column}, {"columns", v.columns}, {"allowed", v.allowed}};
      if (!v.allowed) one["code"] = v.code, one["why"] = v.why;
      j["accesses"].push_back(one);
    }
    return j;
  }
  auto const [rows, others] = mode_words(q.name);
  auto const all = quarters_of(q.name);
  for (int w = 0; w < 4; ++w) {
    quarter_content const& c = all[static_cast<std::size_t>(w)];
    j["warps"].push_back(
        {{"warp", w}, {"lanes", c.lanes.text()}, {rows, c.rows.text()}, {others, c.others.text()}});
  }
  if (q.name.what == tmem_what::copy) {
    bank_totals const sum = source_banks(q.name);
    j["source"] = {{"layout", print(copy_source_of(q.name)).text},
                   {"reads", sum.steps},
                   {"wavefronts", sum.wavefronts},
                   {"ideal", sum.ideal}};
  }
  return j;
}

}  // namespace tw
