// SPDX-License-Identifier: Apache-2.0
// global_names.cpp  The names in reports of addresses that are not in shared memory.
#include <cxxabi.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "emu/host/source_lines.hpp"
#include "emu/machine/machine.hpp"
#include "tilewright/arch/emu/tensor_map_emu.hpp"

namespace tw::emu {

namespace {

/// Where a parameter of the kernel points: a pointer, or the tensor of a tensor map.
struct pointed {
  std::uintptr_t begin = 0;
  std::string name;
};

void nearest(std::span<smem_object const> objects, std::byte const* at, std::string const& prefix,
             std::uintptr_t address, pointed& best) {
  for (smem_object const& o : objects) {
    std::byte const* const here = at + o.offset;
    std::string const name = prefix + std::string(o.name);
    std::uintptr_t begin = 0;
    if (o.bytes == sizeof(tensor_map)) {
      tensor_map map;
      std::memcpy(&map, here, sizeof(map));
      try {
        begin = reinterpret_cast<std::uintptr_t>(unpack_tensor_map_emu(map).base);
      } catch (rejected const&) {
      }
    } else if (o.bytes == sizeof(begin)) {
      std::memcpy(&begin, here, sizeof(begin));
    } else if (o.element_bytes[0] == 0) {
      nearest(o.members, here, name + ".", address, best);
      continue;
    }
    constexpr std::uintptr_t smallest_pointer = 1 << 16;  // sizes and counts are not addresses
    if (begin >= smallest_pointer && begin <= address && begin >= best.begin) best = {begin, name};
  }
}

/// Where in the thread-local variables of the calling OS thread an address is; -1: in none.
std::ptrdiff_t offset_in_thread_locals(std::uintptr_t address) {
  struct search {
    std::uintptr_t address;
    std::ptrdiff_t found = -1;
  } s{address};
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* to) {
        auto& s = *static_cast<search*>(to);
        for (int i = 0; i < module->dlpi_phnum && module->dlpi_tls_data != nullptr; ++i) {
          auto const& segment = module->dlpi_phdr[i];
          std::uintptr_t const at =
              s.address - reinterpret_cast<std::uintptr_t>(module->dlpi_tls_data);
          if (segment.p_type == PT_TLS && at < segment.p_memsz)
            s.found = static_cast<std::ptrdiff_t>(at);
        }
        return s.found >= 0 ? 1 : 0;
      },
      &s);
  return s.found;
}

/// As the source writes it: without unnamed namespaces and, of a static local, its function. clang
/// appends a number to some symbols, after a dot.
std::string variable_name(std::string symbol) {
  if (auto const dot = symbol.find('.'); dot != symbol.npos) symbol.erase(dot);
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> const text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0) return symbol;
  std::string name = text.get();
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  for (auto at = name.find(unnamed); at != name.npos; at = name.find(unnamed))
    name.erase(at, unnamed.size());
  return name.find('(') == name.npos ? name : name.substr(name.rfind("::") + 2);
}

}  // namespace

std::string address_space::name_of_global(std::uintptr_t address) const {
  auto block = heap_.upper_bound(address);
  if (block != heap_.begin() && address - (--block)->first < block->second.bytes)
    return fmt::format("heap memory+{:#x} (allocated at {})", address - block->first,
                       text_of(block->second.where));
  if (variable const v = variable_at(reinterpret_cast<void const*>(address)); !v.symbol.empty())
    return fmt::format("global variable {}+{:#x}", variable_name(v.symbol), v.offset);
  if (std::ptrdiff_t const at = offset_in_thread_locals(address); at >= 0)
    return "a thread_local variable (of an OS thread, not of a thread of the kernel)";
  pointed best;
  thread const* const t = m_.sched.running();
  nearest(m_.grid_.params_objects, m_.params_of(t == nullptr ? 0 : t->device), "", address, best);
  // Farther away: another array. If the arrays are known, only their addresses have such names.
  constexpr std::uint64_t max_distance = std::uint64_t{1} << 32;
  bool known = m_.options_.arrays.empty() && address - best.begin <= max_distance;
  for (global_array const& a : m_.options_.arrays) {
    auto const begin = reinterpret_cast<std::uintptr_t>(a.begin);
    known = known || (best.begin >= begin && address < begin + a.bytes + a.margin_bytes);
  }
  return best.name.empty() || !known
             ? std::string("global memory")
             : fmt::format("global memory {}+{:#x}", best.name, address - best.begin);
}

}  // namespace tw::emu
