// SPDX-License-Identifier: Apache-2.0
// mma_names.cpp  Lists of MMA atoms, and atoms by names with parts left out.
#include "tilewright/atom/mma_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "atom/spelling.hpp"
#include "tilewright/base/check.hpp"

namespace tw {
namespace {

std::vector<mma_type> members(mma_types set) {
  std::vector<mma_type> all;
  for (int i = 1; i < mma_type_count; ++i) {
    if (set.has(static_cast<mma_type>(i))) all.push_back(static_cast<mma_type>(i));
  }
  return all;
}

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= name.size();) {
    std::size_t const end = std::min(name.find('.', at), name.size());
    parts.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// `some` are parts of `all`, in the same order.
bool contains(std::vector<std::string_view> const& all, std::vector<std::string_view> const& some) {
  auto at = all.begin();
  for (std::string_view const part : some) {
    at = std::find(at, all.end(), part);
    if (at == all.end()) return false;
    ++at;
  }
  return true;
}

/// Which N there are with this architecture, M and K, for a refusal.
std::string shapes_like(mma_atom const& a) {
  std::string text;
  for (mma_row const& r : mma_rows) {
    if (r.arch != a.arch || r.m != a.m || r.k != a.k) continue;
    std::string row = fmt::format("N = {}", r.n_first);
    if (r.n_last > r.n_first) row += fmt::format(" to {} in steps of {}", r.n_last, r.n_step);
    std::string formats;
    for (mma_type const t : members(r.ab))
      formats += std::string(formats.empty() ? "" : " ") + name(t);
    row += fmt::format(" ({})", formats);
    if (text.find(row) == std::string::npos) text += (text.empty() ? "" : ", ") + row;
  }
  return text;
}

/// arch and mMnNkK of a name that has them both; M is 0 if it has not.
mma_atom shape_of(std::vector<std::string_view> const& parts) {
  mma_atom a;
  a.m = 0;
  if (parts.size() < 3) return a;
  int arch = 0;
  while (arch < mma_arch_count && parts[1] != name(static_cast<mma_arch>(arch))) ++arch;
  if (arch == mma_arch_count) return a;
  a.arch = static_cast<mma_arch>(arch);
  detail::name_scanner s{parts[2].data(), static_cast<int>(parts[2].size())};
  s.next();
  int i = 0;
  try {
    int const m = s.number("m", i);
    a.n = s.number("n", i);
    a.k = s.number("k", i);
    a.m = m;
  } catch (rejected const&) {
    a.m = 0;  // the second part is no shape: the name leaves it out, or is none
  }
  return a;
}

std::string candidates(std::vector<mma_atom> const& atoms) {
  std::string text;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    if (i == 8) return text + fmt::format(" and {} more", atoms.size() - i);
    text += (i == 0 ? "" : ", ") + to_string(atoms[i]);
  }
  return text;
}

[[noreturn]] void refuse_ambiguous(std::string_view name, std::vector<mma_atom> const& atoms) {
  throw rejected({"TW0212", "name of an MMA atom", std::string(name), "the name of one atom",
                  "it may be " + candidates(atoms)});
}

}  // namespace

std::string to_string(mma_atom const& a) {
  mma_name const s = name_of(a);
  return {s.text, static_cast<std::size_t>(s.length)};
}

std::vector<mma_atom> atoms_of(mma_row const& row) {
  constexpr mma_source sources[] = {mma_source::shared, mma_source::registers, mma_source::tensor};
  constexpr operand_major majors[] = {operand_major::k, operand_major::mn};
  std::vector<mma_type> scales = members(row.scale);
  if (scales.empty()) scales.push_back(mma_type::none);
  std::vector<mma_atom> all;
  mma_atom a{.arch = row.arch, .m = row.m, .k = row.k, .ctas = row.ctas};
  auto const add = [&] {
    if (allows(row, a)) all.push_back(a);
  };
  for (a.n = row.n_first; a.n <= row.n_last; a.n += row.n_step)
    for (mma_type const d : members(row.d))
      for (mma_type const ta : members(row.ab))
        for (mma_type const tb : members(row.ab))
          for (mma_source const source : sources)
            for (operand_major const major_a : majors)
              for (operand_major const major_b : majors)
                for (int option = 0; option < mma_option_count; ++option)
                  for (mma_type const scale : scales)
                    for (int const block : row.scale_blocks) {
                      a.d = d;
                      a.a = ta;
                      a.b = tb;
                      a.a_from = source;
                      a.a_major = major_a;
                      a.b_major = major_b;
                      a.option = static_cast<mma_option>(option);
                      a.scale = scale;
                      a.scale_block = block;
                      add();
                      if (scale == mma_type::none) break;  // both blocks are 0
                    }
  return all;
}

std::vector<mma_atom> match_mma(std::string_view name) {
  mma_atom spelled;
  if (!name.starts_with("mma")) {
    if (detail::read_field_spelling(name, spelled)) return {checked(spelled)};
    if (std::string const ours = detail::tcgen05_like(name); !ours.empty())
      throw rejected({"TW0210", "name of an MMA atom", std::string(name),
                      "a name of tcgen05.mma as CUTLASS has it, SM100_MMA_KIND_SS<...>, or ours",
                      ours});
    throw rejected(
        {"TW0210", "name of an MMA atom", std::string(name),
         "mma.ARCH.mMnNkK.D.A.B or the field's spelling",
         "for example mma.sm90.m64n96k16.f32.bf16.bf16.ss or SM90_64x96x16_F32BF16BF16_SS"});
  }
  std::vector<std::string_view> const wanted = parts_of(name);
  mma_atom const shape = shape_of(wanted);
  std::vector<mma_atom> found;
  for (mma_row row : mma_rows) {
    if (shape.m != 0) {
      if (row.arch != shape.arch || row.m != shape.m || row.k != shape.k) continue;
      if (shape.n < row.n_first || shape.n > row.n_last) continue;
      if ((shape.n - row.n_first) % row.n_step != 0) continue;
      row.n_first = row.n_last = shape.n;
    }
    for (mma_atom const& a : atoms_of(row)) {
      mma_name const whole = name_of(a);
      std::string_view const text(whole.text, static_cast<std::size_t>(whole.length));
      if (text == name) return {a};
      if (contains(parts_of(text), wanted)) found.push_back(a);
    }
  }
  if (!found.empty()) return found;
  std::string const shapes = shape.m == 0 ? "" : shapes_like(shape);
  if (!shapes.empty()) {
    throw rejected({"TW0211", "MMA atom", std::string(name),
                    fmt::format("with {}: {}", wanted[1], shapes),
                    "docs/atoms.md lists the atoms"});
  }
  throw rejected({"TW0210", "name of an MMA atom", std::string(name),
                  "mma.ARCH.mMnNkK.D.A.B and variants, or parts of such a name in this order",
                  "docs/atoms.md lists the atoms"});
}

mma_atom one_mma(std::string_view name) {
  std::vector<mma_atom> const atoms = match_mma(name);
  if (atoms.size() > 1) refuse_ambiguous(name, atoms);
  return atoms.front();
}

mma_operand mma_operand_of(std::string_view text) {
  if (text == "A" || text == "a") return mma_operand::a;
  if (text == "B" || text == "b") return mma_operand::b;
  if (text == "C" || text == "c" || text == "D" || text == "d") return mma_operand::c;
  throw rejected({"TW0213", "operand of an atom", std::string(text), "A, B, C or D", ""});
}

layout tv_layout(std::string_view name, mma_operand which) {
  std::vector<mma_atom> const atoms = match_mma(name);
  layout const first = tv_layout(atoms.front(), which);
  for (mma_atom const& a : atoms) {
    if (tv_layout(a, which) != first) refuse_ambiguous(name, atoms);
  }
  return first;
}

}  // namespace tw
