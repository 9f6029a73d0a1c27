// SPDX-License-Identifier: Apache-2.0
// banks.cpp  Wavefronts by instruction, and words for those that take too many.
#include "emu/machine/banks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

namespace {

std::string lanes_text(std::uint32_t lanes) {
  std::string text;
  for (int first = 0; first < 32; ++first) {
    if ((lanes >> first & 1U) == 0) continue;
    int last = first;
    while (last < 31 && (lanes >> (last + 1) & 1U) != 0) ++last;
    if (!text.empty()) text += ", ";
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    first = last;
  }
  return text;
}

}  // namespace

char const* name_of(bank_access a) {
  switch (a) {
    case bank_access::load: return "load";
    case bank_access::store: return "store";
    case bank_access::ldmatrix: return "ldmatrix";
    case bank_access::stmatrix: return "stmatrix";
    case bank_access::cp_async: return "cp.async";
  }
  return "";
}

void bank_meter::count(thread const& first, warp_access const& a, bank_access what, site where) {
  bank_report const r = count_banks(a);
  bank_finding& f = found_[{where.file, where.line, what}];
  f.total.where = where;
  f.total.what = what;
  f.bytes = a.bytes;
  ++f.total.executions;
  f.total.wavefronts += r.wavefronts;
  f.total.ideal += r.ideal;
  if (r.wavefronts < 2 * r.ideal || !f.object.empty()) return;
  bank_collision const* worst = std::max_element(
      r.collision, r.collision + r.collisions,
      [](bank_collision const& x, bank_collision const& y) { return x.ways < y.ways; });
  auto const lane = static_cast<unsigned>(std::countr_zero(worst->threads));
  f.object = object_name(grid_, *first.block, static_cast<std::uint32_t>(a.address[lane]));
  f.who = fmt::format("warp {} ({}CTA {})", first.id / 32,
                      *first.role == 0 ? "" : fmt::format("{}, ", first.role), first.cta);
  f.collision = fmt::format("lanes {} want {} different words of bank{} {}",
                            lanes_text(worst->threads), worst->ways, worst->banks > 1 ? "s" : "",
                            worst->banks > 1
                                ? fmt::format("{}-{}", worst->bank, worst->bank + worst->banks - 1)
                                : fmt::format("{}", worst->bank));
}

void bank_meter::matrix(thread const& t, std::byte* const* rows, int count_of_rows, bool write,
                        site where) {
  warp_access a;
  a.bytes = 16;
  a.rule = bank_rule::rows;
  a.active = count_of_rows == 4 ? ~0U : (1U << 8 * count_of_rows) - 1;
  for (int i = 0; i < 8 * count_of_rows; ++i) a.address[i] = rows[i] - t.block->smem;
  count(t, a, write ? bank_access::stmatrix : bank_access::ldmatrix, where);
}

void bank_meter::plain(thread const& t, warp_state const& w, std::uint32_t offset,
                       std::uint32_t bytes, bank_access what, site where) {
  // Copies of structures, and what is not aligned: in pieces, as a GPU would have to.
  std::uint32_t const width = std::min(16U, 1U << std::countr_zero(offset | bytes | 16U));
  auto const lane = static_cast<unsigned>(t.id % 32);
  for (std::uint32_t piece = 0; piece * width < bytes; ++piece) {
    series& s = open_[{w.first, where.file, where.line, piece << 8 | width}];
    if (s.first == nullptr) {
      s.first = w.first;
      s.bytes = static_cast<int>(width);
      s.what = what;
      s.where = where;
    }
    if (s.round_of[lane] != t.barriers_joined) {
      s.round_of[lane] = t.barriers_joined;
      s.next[lane] = 0;
    }
    std::uint32_t const k = s.next[lane]++;
    if (k >= most_open) continue;
    auto r = std::find_if(s.rounds.begin(), s.rounds.end(),
                          [&](round const& x) { return x.number == t.barriers_joined; });
    if (r == s.rounds.end()) {
      std::uint32_t oldest = t.barriers_joined;  // rounds before it are complete
      for (int i = 0; i < w.threads; ++i)
        if (w.first[i].waiting != wait_kind::finished)
          oldest = std::min(oldest, w.first[i].barriers_joined);
      std::erase_if(s.rounds, [&](round const& x) {
        if (x.number >= oldest) return false;
        count(s, x);
        return true;
      });
      s.rounds.push_back({t.barriers_joined, {}});
      r = s.rounds.end() - 1;
    }
    if (k >= r->accesses.size()) r->accesses.resize(k + 1);
    half_made& h = r->accesses[k];
    h.offset[lane] = offset + piece * width;
    h.lanes |= 1U << lane;
  }
}

void bank_meter::count(series const& s, round const& r) {
  for (half_made const& h : r.accesses) {
    if (h.lanes == 0) continue;
    warp_access a;
    a.bytes = s.bytes;
    a.rule = s.what == bank_access::load ? bank_rule::load : bank_rule::store;
    a.active = h.lanes;
    for (unsigned i = 0; i < 32; ++i)
      if ((h.lanes >> i & 1U) != 0) a.address[i] = h.offset[i];
    count(*s.first, a, s.what, s.where);
  }
}

void bank_meter::close(cluster_state const* c) {
  std::erase_if(open_, [&](auto const& entry) {
    series const& s = entry.second;
    if (c != nullptr && s.first->block->cluster != c) return false;
    for (round const& r : s.rounds) count(s, r);
    return true;
  });
}

std::vector<bank_finding> bank_meter::found() const {
  std::vector<bank_finding> all;
  for (auto const& [k, f] : found_) all.push_back(f);
  return all;
}

std::vector<bank_finding> merged(std::vector<bank_finding> all) {
  struct named {
    std::string at;
    bank_finding f;
  };
  std::vector<named> list;
  for (bank_finding& f : all) {
    std::string at = text_of(f.total.where);
    auto const same = std::find_if(list.begin(), list.end(), [&](named const& x) {
      return x.at == at && x.f.total.what == f.total.what &&
             x.f.total.wavefronts * f.total.ideal == f.total.wavefronts * x.f.total.ideal;
    });
    if (same == list.end()) {
      list.push_back({std::move(at), std::move(f)});
      continue;
    }
    same->f.total.executions += f.total.executions;
    same->f.total.wavefronts += f.total.wavefronts;
    same->f.total.ideal += f.total.ideal;
    if (same->f.object.empty()) {
      same->f.object = f.object;
      same->f.who = f.who;
      same->f.collision = f.collision;
    }
  }
  std::sort(list.begin(), list.end(), [](named const& x, named const& y) {
    auto const a = x.f.total.wavefronts * y.f.total.ideal;
    auto const b = y.f.total.wavefronts * x.f.total.ideal;
    return std::tie(b, x.at, x.f.total.what) < std::tie(a, y.at, y.f.total.what);
  });
  all.clear();
  for (named& x : list) all.push_back(std::move(x.f));
  return all;
}

std::vector<diagnosis> bank_diagnoses(std::vector<bank_finding> const& all) {
  std::vector<diagnosis> list;
  for (bank_finding const& f : all) {
    bank_traffic const& t = f.total;
    if (t.wavefronts < 2 * t.ideal) continue;
    diagnosis d;
    d.code = "E0041";
    d.kind = "bank-conflicts";
    d.text = report_text({
        .what = fmt::format("{} of {} takes {} passes through the banks of shared memory, where {} "
                            "would do.",
                            name_of(t.what), f.object, t.wavefronts, t.ideal),
        .now = fmt::format("{} at {}, executed {} times by a warp; first by {}, whose {}",
                           name_of(t.what), text_of(t.where), t.executions, f.who, f.collision),
        .cause = "a bank gives one word of 4 bytes at a time, and these addresses lie multiples of "
                 "128 bytes apart",
        .remedy = fmt::format("the swizzle of the tensor map on the address, or rows that are {} "
                              "bytes longer; `tilewright banks` proposes both",
                              std::max(f.bytes, bank_bytes)),
    });
    d.where = t.where;
    d.object = f.object;
    d.count = static_cast<int>(std::min<std::int64_t>(t.executions, 1 << 30));
    list.push_back(std::move(d));
  }
  return list;
}

}  // namespace tw::emu
