// SPDX-License-Identifier: Apache-2.0
// report.cpp  Words for threads and places.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <string_view>

#include "base/fork_safe.hpp"
#include "emu/host/source_lines.hpp"
#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

namespace {

constexpr int address_line = -1;  // the "file" of such a site is an address of machine code

std::string joined(std::vector<diagnosis> const& d) {
  std::string text;
  for (diagnosis const& x : d) text += to_text(x) + "\n";
  return text;
}

}  // namespace

site site_of(void const* return_address) {
  return {static_cast<char const*>(return_address), address_line};
}

namespace {

/// Code that kernels are written with: a report names the line that uses it.
bool is_vocabulary(std::string_view path) {
  for (std::string_view const part :
       {"/tilewright/base/", "/tilewright/layout/", "/tilewright/tensor/", "/tilewright/atom/",
        "/tilewright/arch/", "/include/c++/"})
    if (path.find(part) != path.npos) return true;
  return false;
}

/// The line to report for a machine address: of the code that uses the vocabulary.
source_place source_of(void const* address) {
  source_place found;
  for (source_line const& at : source_lines_of(address)) {
    if (found.line == 0 || (is_vocabulary(found.file) && !is_vocabulary(at.file)))
      found = {at.file, at.line};
  }
  return found;
}

}  // namespace

std::string path_in_reports(std::string_view given, std::string_view here) {
  std::string path = std::filesystem::path(given).lexically_normal().string();
  while (path.starts_with("../")) path.erase(0, 3);
  if (!path.starts_with('/')) return path;
  // A header of the library, wherever it is installed and whatever folder the run is in.
  if (std::size_t const at = path.rfind("/include/tilewright/"); at != path.npos)
    return path.substr(at + 1);
  if (path.starts_with(here)) return path.substr(here.size());
  std::size_t slash = path.size();
  for (int part = 0; part < 3 && slash != path.npos && slash > 0; ++part)
    slash = path.rfind('/', slash - 1);
  return slash == path.npos || slash == 0 ? path : path.substr(slash + 1);
}

namespace {

std::string short_path(std::string_view path) {
  static std::string const here = [] {
    std::error_code none;
    return std::filesystem::current_path(none).string() + "/";
  }();
  return path_in_reports(path, here);
}

}  // namespace

source_place place_of(site s) {
  if (s.line != address_line) return {short_path(s.file), s.line};
  static fork_safe_mutex mutex;
  static std::map<char const*, source_place> known;
  std::scoped_lock const lock(mutex);
  auto const [it, fresh] = known.try_emplace(s.file);
  if (fresh) {
    source_place const full = source_of(s.file);
    it->second = {short_path(full.file), full.line};
  }
  return it->second;
}

std::string text_of(site s) {
  source_place const place = place_of(s);
  if (place.line == 0) return std::string(unknown_line_text());
  return fmt::format("{}:{}", place.file, place.line);
}

bool same_place(site a, site b) {
  return a == b || (a.line == address_line && b.line == address_line && place_of(a).line != 0 &&
                    text_of(a) == text_of(b));
}

bool same_hazard(diagnosis const& a, diagnosis const& b) {
  if (a.code != b.code) return false;
  if (same_place(a.where, b.where) && same_place(a.earlier, b.earlier)) return true;
  bool const race = a.code == "E0024" || a.code == "E0042";
  return race && same_place(a.where, b.earlier) && same_place(a.earlier, b.where);
}

std::string name_of(thread const& t) {
  return fmt::format("thread {} ({}CTA {}, warp {})", t.id,
                     *t.role == 0 ? "" : fmt::format("{}, ", t.role), t.cta, t.id / 32);
}

std::string warpgroup_name(thread const& t) {
  return fmt::format("warpgroup {} ({}CTA {})", t.id / 128,
                     *t.role == 0 ? "" : fmt::format("{}, ", t.role), t.cta);
}

namespace {

/// Appends ".member" or "[i]" parts until nothing smaller has a name; the rest is an offset.
std::string place_in(std::span<smem_object const> objects, std::uint32_t offset) {
  for (smem_object const& o : objects) {
    if (offset < o.offset || offset - o.offset >= o.bytes) continue;
    std::string text(o.name);
    std::uint32_t rest = offset - o.offset;
    for (std::uint32_t const bytes : o.element_bytes) {
      if (bytes == 0) break;
      text += fmt::format("[{}]", rest / bytes);
      rest %= bytes;
    }
    if (std::string const inner = place_in(o.members, rest); !inner.empty())
      return text + "." + inner;
    return rest == 0 ? text : fmt::format("{}+{:#x}", text, rest);
  }
  return "";
}

}  // namespace

std::string object_name(grid const& g, std::uint32_t offset) {
  std::string text = place_in(g.objects, offset);
  return text.empty() ? fmt::format("shared memory +{:#x}", offset) : text;
}

std::string object_name(grid const& g, cta_state const& c, std::uint32_t offset) {
  return fmt::format("{} of CTA {}", object_name(g, offset), c.threads.front().cta);
}

bool report::has(std::string_view code) const {
  return std::any_of(diagnoses.begin(), diagnoses.end(),
                     [&](diagnosis const& d) { return d.code == code; });
}

std::string report::text() const {
  std::string const all = diagnoses.empty() ? "no hazard was found" : joined(diagnoses);
  if (counts.plain_accesses_seen) return all;
  return all + (diagnoses.empty() ? "; " : "") +
         "ordinary loads and stores were not seen (tilewright_see_accesses in CMake)";
}

fault::fault(std::vector<diagnosis> d) : std::runtime_error(joined(d)), diagnoses_(std::move(d)) {}

}  // namespace tw::emu
