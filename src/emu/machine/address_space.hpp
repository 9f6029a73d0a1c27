// SPDX-License-Identifier: Apache-2.0
// address_space.hpp  The meaning of an address of the kernel: shared memory of a CTA, global
//                    memory, a tensor map; and ordinary accesses of them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emu/machine/state.hpp"

namespace tw::emu {

class machine;

inline constexpr std::size_t smem_bytes_of_cta = 228 * 1024;

class address_space {
 public:
  explicit address_space(machine& m) : m_(m) {}

  void begin();
  /// An ordinary load or store of the running kernel (hook.cpp). aligned: the program says that
  /// the address is a multiple of the size.
  void plain_access(void const* address, std::size_t bytes, bool write, bool aligned, site where);
  /// A load by the running thread. If the thread repeats one load, it polls, and others run.
  void note_load(thread::repeated_load& last, void const* address, int max_in_a_row, site where);
  /// True if the address is in the shared memory of the cluster.
  static bool is_shared(cluster_state const& c, void const* address);
  struct smem_place {
    cta_state* owner = nullptr;
    std::uint32_t offset = 0;
  };
  /// Where the bytes lie in the shared memory of a live CTA of the cluster; owner null: not in
  /// shared memory. E0006, E0016 if they are past its end, or the CTA has ended.
  smem_place place_of(void const* address, std::size_t bytes, site where);
  /// E0055: an operation of global memory is given an address in shared memory.
  void require_global(void const* address, char const* what, site where);
  /// E0055: an atomic operation is given a variable of one thread, or a parameter of the kernel.
  void require_shared_by_threads(void const* address, char const* what, site where);
  /// E0052: an access of global memory before or after one of options::arrays.
  void check_bounds(void const* address, std::size_t bytes, char const* what, site where);
  /// E0052 for the tensor that a map describes.
  void check_tensor_bounds(tensor_map_desc const& d, site where);
  /// E0057: a write to shared memory in which an mbarrier lives.
  void check_no_mbarrier(cta_state& c, std::uint32_t offset, std::size_t bytes, char const* what,
                         site where);
  /// The running kernel has allocated memory (hook.cpp), or gives it back.
  void allocated(void const* p, std::size_t bytes, site where);
  void freed(void const* p, std::size_t bytes);
  /// The name in reports of an address that is not in shared memory: "global memory NAME+0x40"
  /// after the parameter of the kernel that points there, a variable of the program, heap memory.
  std::string name_of_global(std::uintptr_t address) const;
  void leave_undefined(void* p, int bytes, site where);
  /// E0047 if it is not a multiple of `bytes`.
  void require_aligned(void const* address, int bytes, char const* what, site where);
  /// E0006 if it is not in the CTA's shared memory.
  std::uint32_t offset_in_smem(cta_state& c, void const* p, std::size_t bytes, site where);
  cta_state& peer_cta(int cta, site where);  // of the running thread
  [[noreturn]] void exited_cta(int cta, site where);

  bool is_parameter(void const* address) const;
  /// The fields that a TMA operation reads of the map at `m`; E0013, E0049 if it cannot.
  tensor_map_desc const* map_of(tensor_map const& m, site where);
  /// The fields of the map; E0013 if its bytes are not a map.
  tensor_map_desc read_map(tensor_map const& m, site where);
  void acquire_map(tensor_map const& m, site where);
  [[noreturn]] void stop_at_unreleased_map(thread const& t);

 private:
  /// True if the address is in neither the running thread's stack nor the emulator's own memory.
  bool is_global(void const* address) const;

  struct heap_block {
    std::size_t bytes;
    site where;
  };

  machine& m_;
  std::map<std::uintptr_t, heap_block> heap_;  // that the kernel has allocated in this launch
  std::vector<std::pair<tensor_map const*, std::unique_ptr<tensor_map_desc>>> maps_;
  std::vector<std::unique_ptr<tensor_map_desc>> acquired_descs_;
};

}  // namespace tw::emu
