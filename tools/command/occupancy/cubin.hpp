// SPDX-License-Identifier: Apache-2.0
// cubin.hpp  Registers, shared memory and launch bounds of the kernels in a cubin.
//
// A cubin is an ELF file of machine 190 (EM_CUDA). Sections, as `cuobjdump -elf` prints them:
//   .text.KERNEL        the machine code
//   .nv.info            EIATTR_REGCOUNT (0x2f): index of the kernel's symbol, registers
//   .nv.info.KERNEL     EIATTR_MAX_THREADS (0x05) and EIATTR_REQNTID (0x10): three extents;
//                       EIATTR_CTA_PER_CLUSTER (0x3d): three extents; EIATTR_NUM_BARRIERS (0x4c)
//   .nv.shared.KERNEL   static shared memory, with the 1024 bytes that CUDA reserves where the
//                       section .nv.shared.reserved.0 exists
// Read from cubins of ptxas 13.0 (ABI version 8); older ABIs place registers elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tw {

struct cubin_kernel {
  std::string name;  // as the linker has it: "_Z4axpyPf"
  int registers = 0;
  std::int64_t static_smem_bytes = 0;
  int max_threads = 0;  // of __launch_bounds__ or __block_size__; 0: not stated
  int cluster = 1;      // of __cluster_dims__
  int barriers = 0;
};

struct cubin {
  int compute_capability = 0;  // 90 for sm_90 and sm_90a
  std::vector<cubin_kernel> kernels;
};

/// The kernels of a file, in the order of their names. Throws `rejected` TW0601 where it cannot be
/// read, and TW0651 if it is no cubin, or one that is damaged or older.
cubin read_cubin(std::string const& path);

}  // namespace tw
