// SPDX-License-Identifier: Apache-2.0
// checklist.cpp  Which code belongs to which line, and when a line applies.
#include "tools/check/hazards/checklist.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/arch/emu/options.hpp"

namespace tw::hazards {

namespace {

using emu::statistics;
using verdict = std::pair<bool, std::string>;  // does the line apply, and what was counted or why

struct rule {
  std::string_view line;
  std::vector<std::string_view> codes;
  verdict (*applies)(statistics const&);
};

bool copies(statistics const& c) { return c.tma_loads + c.tma_stores + c.tma_reductions > 0; }

std::string bytes_per_cta(statistics const& c) {
  return fmt::format("{} of 232448 bytes per CTA", c.smem_bytes);
}

// The eight lines of the checklist, then the rules that none of them covers.
std::vector<rule> const& rules() {
  static std::vector<rule> const all{
      {"shared-memory size",
       {"E0017", "E0006"},
       [](statistics const& c) -> verdict {
         return {c.smem_bytes > 0, c.smem_bytes > 0 ? bytes_per_cta(c) : "no shared memory"};
       }},
      {"expect_tx bytes",
       {"E0015", "E0032", "E0004"},
       [](statistics const& c) -> verdict {
         if (c.tma_loads + c.async_stores == 0) return {false, "no TMA loads"};
         return {true,
                 fmt::format(
                     "{} loads{} brought {} bytes, {} were expected", c.tma_loads,
                     c.async_stores == 0 ? "" : fmt::format(" and {} store_async", c.async_stores),
                     c.tma_load_bytes + c.async_store_bytes, c.expected_bytes)};
       }},
      {"TMA coordinates",
       {"E0023", "E0005", "E0013", "E0039", "E0040"},
       [](statistics const& c) -> verdict {
         if (!copies(c)) return {false, "no TMA copies"};
         return {true,
                 fmt::format("{} loads, {} stores", c.tma_loads, c.tma_stores + c.tma_reductions)};
       }},
      {"fence placement",
       {"E0025", "E0031", "E0033", "E0049", "E0050"},
       [](statistics const& c) -> verdict {
         if (!copies(c) && c.wgmmas == 0 && c.mbarriers == 0)
           return {false, "no TMA, wgmma or mbarriers"};
         return {true, fmt::format("{} proxy fences, {} fences after mbarrier inits{}",
                                   c.proxy_fences, c.init_fences,
                                   c.plain_accesses_seen
                                       ? ""
                                       : "; plain loads and stores were not seen (compile with "
                                         "tilewright_add_kernel)")};
       }},
      {"phase flips",
       {"E0034", "E0035"},
       [](statistics const& c) -> verdict {
         if (c.mbarrier_waits == 0) return {false, "no waits on mbarriers"};
         return {true, fmt::format("{} waits, {} phases", c.mbarrier_waits, c.phases)};
       }},
      {"swizzle and major-ness of MMA operands",
       {"E0037", "E0038", "E0020"},
       [](statistics const& c) -> verdict {
         if (c.wgmmas == 0) return {false, "no wgmma"};
         return {true, fmt::format("{} wgmma, operands traced to the copies that brought them",
                                   c.wgmmas)};
       }},
      {"epilogue layout",
       {"E0022", "E0041", ""},
       [](statistics const& c) -> verdict {
         if (c.matrix_stores > 0)
           return {true, fmt::format("{} stmatrix, results compared", c.matrix_stores)};
         if (c.tma_stores + c.tma_reductions > 0)
           return {true,
                   fmt::format("{} TMA stores, results compared", c.tma_stores + c.tma_reductions)};
         return {true, "results compared"};
       }},
      {"cluster barriers",
       {"E0036", "E0016", "E0007", "E0014", "E0061"},
       [](statistics const& c) -> verdict {
         if (c.cluster <= 1) return {false, "no clusters"};
         return {true, fmt::format("{} rounds, {} remote arrives, {} multicasts",
                                   c.cluster_barriers, c.remote_arrives, c.multicasts)};
       }},
      {"order of accesses",
       {"E0024", "E0026", "E0027", "E0028", "E0029", "E0045", "E0051"},
       [](statistics const& c) -> verdict {
         auto const n = c.plain_loads + c.plain_stores + c.matrix_loads + c.matrix_stores +
                        c.tma_loads + c.tma_stores + c.tma_reductions + c.async_stores + c.wgmmas;
         if (n == 0 && !c.plain_accesses_seen)
           return {false,
                   "ordinary loads and stores were not seen (compile with "
                   "tilewright_add_kernel, or -fsanitize=thread)"};
         if (n == 0) return {false, "no accesses of shared memory"};
         if (!c.hazards) return {false, "hazards were not checked"};
         return {true, fmt::format("{} operations on shared memory, {} of them plain", n,
                                   c.plain_loads + c.plain_stores)};
       }},
      {"global memory",
       {"E0042", "E0043", "E0044", "E0046", "E0047", "E0052", "E0055", "E0082", "E0087", "E0088",
        "E0130", "E0131", "E0132"},
       [](statistics const& c) -> verdict {
         if (!c.hazards) return {false, "hazards were not checked"};
         if (!copies(c) && !c.plain_accesses_seen) return {false, "no accesses were seen"};
         return {true, fmt::format("{} TMA copies{}", c.tma_loads + c.tma_stores + c.tma_reductions,
                                   c.plain_accesses_seen ? ", and ordinary loads and stores" : "")};
       }},
      {"barriers and progress",
       {"E0001", "E0002", "E0003", "E0010", "E0019", "E0021", "E0008", "E0018", "E0053",
        "E0056", "E0057", "E0058", "E0059", "E0060", "E0070", "E0071", "E0072", "E0073",
        "E0074", "E0075", "E0076", "E0080", "E0081", "E0120", "E0121", "E0133"},
       [](statistics const& c) -> verdict {
         return {true, fmt::format("{} CTAs, {} rounds of barriers, {} arrives "
                                   "on mbarriers",
                                   c.ctas, c.barriers + c.cluster_barriers, c.arrives)};
       }},
      {"accumulators",
       {"E0030", "E0009", "E0012", "E0048", "E0054"},
       [](statistics const& c) -> verdict {
         if (c.wgmmas == 0) return {false, "no wgmma"};
         return {true, fmt::format("{} wgmma in {} groups", c.wgmmas, c.wgmma_groups)};
       }},
      {"tensor memory",
       {"E0100", "E0101", "E0102", "E0103", "E0104", "E0105", "E0106", "E0107", "E0108", "E0109",
        "E0110", "E0111", "E0112", "E0113", "E0114", "E0115", "E0116"},
       [](statistics const& c) -> verdict {
         if (c.ummas + c.tmem_loads + c.tmem_stores == 0) return {false, "no tcgen05"};
         return {true, fmt::format("{} tcgen05.mma, {} loads and {} stores of tensor memory",
                                   c.ummas, c.tmem_loads, c.tmem_stores)};
       }},
      {"TMA stores at exit",
       {"E0011"},
       [](statistics const& c) -> verdict {
         auto const n = c.tma_stores + c.tma_reductions;
         return {n > 0, n > 0 ? fmt::format("{} stores", n) : "no TMA stores"};
       }},
  };
  return all;
}

constexpr std::string_view other = "other rules";

std::string describe(finding const& f) {
  constexpr int columns = 96;  // it is printed 4 to the right
  std::string text = f.code.empty() ? f.text : emu::to_text({f.code, f.kind, f.text}, columns);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::string_view constexpr field = "options::time_limit_seconds";
  if (std::size_t const at = text.find(field); at != text.npos)
    text.replace(at, field.size(), "--timeout");
  return text;
}

}  // namespace

std::string_view name_of(line_state s) {
  return s == line_state::passed ? "passed" : s == line_state::failed ? "failed" : "not applicable";
}

std::string_view line_of(std::string_view code) {
  for (rule const& r : rules())
    if (std::ranges::find(r.codes, code) != r.codes.end()) return r.line;
  return other;
}

std::vector<checklist_line> checklist_of(kernel_result const& r) {
  std::vector<checklist_line> lines;
  auto const failures = [&](std::string_view line) {
    std::string text;
    for (finding const& f : r.findings)
      if (line_of(f.code) == line) text += (text.empty() ? "" : "\n") + describe(f);
    return text;
  };
  for (rule const& x : rules()) {
    checklist_line line{std::string(x.line), line_state::passed, failures(x.line)};
    if (!line.detail.empty()) {
      line.state = line_state::failed;
    } else if (r.on_gpu && x.line != line_of("")) {
      line.state = line_state::not_applicable;
      line.detail = "the GPU shows results alone";
    } else {
      auto [applies, detail] = x.applies(r.counts);
      if (applies && x.line == line_of("") && r.runs > 0 && r.elements == 0) {
        applies = false;
        detail = "a run with findings has no result";
      }
      if (!applies) line.state = line_state::not_applicable;
      line.detail = std::move(detail);
    }
    lines.push_back(std::move(line));
  }
  if (std::string const text = failures(other); !text.empty())
    lines.push_back({std::string(other), line_state::failed, text});
  return lines;
}

std::string text_of(std::vector<checklist_line> const& lines) {
  std::string text;
  for (checklist_line const& l : lines) {
    bool const failed = l.state == line_state::failed;
    text += fmt::format("  {:<14} {:<40}{}\n", name_of(l.state), l.name, failed ? "" : l.detail);
    while (text.size() > 1 && text[text.size() - 2] == ' ') text.erase(text.size() - 2, 1);
    if (!failed) continue;
    text += "    ";
    for (char const c : l.detail) {
      text += c;
      if (c == '\n') text += "    ";
    }
    text += '\n';
  }
  return text;
}

}  // namespace tw::hazards
