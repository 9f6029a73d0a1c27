// SPDX-License-Identifier: Apache-2.0
// cubin.cpp  ELF sections and the attributes of kernels.
#include "tools/command/occupancy/cubin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <string_view>

#include "tools/io/mapped_file.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

constexpr std::uint16_t machine_cuda = 190;
constexpr int cuda_13_abi = 8;
constexpr std::uint32_t section_type_nobits = 8;
constexpr std::int64_t reserved_smem_bytes = 1024;

struct section {
  std::string name;
  std::uint32_t type = 0, link = 0;
  std::uint64_t offset = 0, size = 0;
};

class elf_file {
 public:
  explicit elf_file(std::string const& path) : path_(path), file_(path), bytes_(file_.content()) {
    bool const elf_64 = bytes_.size() >= 64 && std::memcmp(bytes_.data(), "\177ELF\2\1", 6) == 0;
    if (!elf_64 || get<std::uint16_t>(18) != machine_cuda)
      refuse("TW0651", "cubin " + path, "no 64-bit ELF file for CUDA", "the output of nvcc -cubin",
             "a program contains cubins: cuobjdump -xelf all PROGRAM extracts them");
    if (int const abi = get<std::uint8_t>(8); abi != cuda_13_abi)
      refuse("TW0651", "ABI version of the cubin " + path, std::to_string(abi),
             std::to_string(cuda_13_abi), "compile it with nvcc 13");
    read_sections();
  }

  int compute_capability() const { return static_cast<int>(get<std::uint32_t>(48) >> 8 & 0xFF); }
  std::vector<section> const& sections() const { return sections_; }

  section const* find(std::string_view name) const {
    auto const found = std::ranges::find(sections_, name, &section::name);
    return found == sections_.end() ? nullptr : &*found;
  }

  /// The value at an offset of the file.
  template <class T>
  T get(std::uint64_t at) const {
    T value{};
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) damaged();
    std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return value;
  }
  /// The name of a symbol of the table that a section links to.
  std::string symbol(section const& of, std::uint32_t index) const {
    if (of.link >= sections_.size()) damaged();
    section const& table = sections_[of.link];
    if (table.link >= sections_.size() || index >= table.size / 24) damaged();
    return text(sections_[table.link], get<std::uint32_t>(table.offset + 24ULL * index));
  }
  [[noreturn]] void damaged() const {
    refuse("TW0651", "cubin " + path_, "an offset beyond its end", "a whole file");
  }

 private:
  std::string text(section const& table, std::uint32_t at) const {
    std::string value;
    for (std::uint64_t i = table.offset + at; get<char>(i) != 0; ++i) value += get<char>(i);
    return value;
  }
  void read_sections() {
    auto const first = get<std::uint64_t>(40);
    auto const step = get<std::uint16_t>(58), count = get<std::uint16_t>(60);
    auto const names = get<std::uint16_t>(62);
    std::uint64_t const bytes = static_cast<std::uint64_t>(step) * count;
    bool const whole = first <= bytes_.size() && bytes <= bytes_.size() - first;
    if (step < 64 || names >= count || !whole) damaged();
    std::vector<std::uint32_t> name_at;
    for (int i = 0; i < count; ++i) {
      std::uint64_t const at = first + static_cast<std::uint64_t>(step) * static_cast<unsigned>(i);
      name_at.push_back(get<std::uint32_t>(at));
      section s{"", get<std::uint32_t>(at + 4), get<std::uint32_t>(at + 40),
                get<std::uint64_t>(at + 24), get<std::uint64_t>(at + 32)};
      bool const in_file = s.type != section_type_nobits && s.size > 0;
      if (in_file && (s.offset > bytes_.size() || s.size > bytes_.size() - s.offset)) damaged();
      sections_.push_back(s);
    }
    for (std::size_t i = 0; i < sections_.size(); ++i)
      sections_[i].name = text(sections_[names], name_at[i]);
  }

  std::string const& path_;
  mapped_file file_;
  std::span<std::byte const> bytes_;
  std::vector<section> sections_;
};

/// An attribute: a value of 16 bits, or words that follow.
struct attribute {
  int id = 0;
  std::uint16_t value = 0;
  std::vector<std::uint32_t> words;
};

std::vector<attribute> attributes_of(elf_file const& file, section const& s) {
  constexpr int words_follow = 4;
  std::vector<attribute> all;
  for (std::uint64_t at = s.offset; at < s.offset + s.size; at += 4) {
    attribute a{file.get<std::uint8_t>(at + 1), file.get<std::uint16_t>(at + 2), {}};
    if (file.get<std::uint8_t>(at) == words_follow) {
      for (int i = 0; i < a.value / 4; ++i)
        a.words.push_back(file.get<std::uint32_t>(at + 4 + 4ULL * static_cast<unsigned>(i)));
      at += a.value;
    }
    all.push_back(a);
  }
  return all;
}

/// The product of three extents.
int volume(elf_file const& file, attribute const& a) {
  if (a.words.size() != 3) file.damaged();
  std::uint64_t const v = std::uint64_t{a.words[0]} * a.words[1] * a.words[2];
  if (v == 0 || v > 1024) file.damaged();
  return static_cast<int>(v);
}

cubin_kernel kernel_of(elf_file const& file, std::string const& name) {
  cubin_kernel k{.name = name};
  if (section const* const shared = file.find(".nv.shared." + name)) {
    bool const reserved = file.find(".nv.shared.reserved.0") != nullptr;
    k.static_smem_bytes =
        static_cast<std::int64_t>(shared->size) - (reserved ? reserved_smem_bytes : 0);
  }
  if (section const* const info = file.find(".nv.info." + name))
    for (attribute const& a : attributes_of(file, *info)) {
      if (a.id == 0x05 || a.id == 0x10) k.max_threads = volume(file, a);
      if (a.id == 0x3D) k.cluster = volume(file, a);
      if (a.id == 0x4C) k.barriers = a.value & 0xFF;
    }
  return k;
}

}  // namespace

cubin read_cubin(std::string const& path) {
  elf_file const file(path);
  cubin c{file.compute_capability(), {}};
  std::map<std::string, int> registers;
  if (section const* const info = file.find(".nv.info"))
    for (attribute const& a : attributes_of(file, *info))
      if (a.id == 0x2F && a.words.size() == 2)
        registers[file.symbol(*info, a.words[0])] = static_cast<int>(a.words[1]);
  for (section const& s : file.sections()) {
    if (!s.name.starts_with(".text.")) continue;
    cubin_kernel k = kernel_of(file, s.name.substr(6));
    if (auto const found = registers.find(k.name); found != registers.end())
      k.registers = found->second;
    // A function that no kernel is has no attributes.
    if (file.find(".nv.info." + k.name) != nullptr) c.kernels.push_back(std::move(k));
  }
  std::ranges::sort(c.kernels, {}, &cubin_kernel::name);
  if (c.kernels.empty()) refuse("TW0651", "cubin " + path, "no kernel", "a section .text.KERNEL");
  return c;
}

}  // namespace tw
