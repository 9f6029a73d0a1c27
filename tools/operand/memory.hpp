// SPDX-License-Identifier: Apache-2.0
// memory.hpp  Large host allocations: checked before they are made, aligned for TMA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "tilewright/base/units.hpp"

namespace tw {

/// Bytes that can still be allocated: what the system calls available, or what the control group
/// has left if that is less.
bytes available_memory();

/// Throws `rejected` TW0613 when `need` is more than available. `what` says what the memory is for.
void require_memory(bytes need, std::string const& what);

/// Uninitialised memory, aligned to 256 bytes as a workspace must be. Throws `rejected` TW0613 when
/// too little is available.
class host_buffer {
 public:
  host_buffer() = default;
  explicit host_buffer(bytes size);
  std::byte* data() { return data_.get(); }
  std::byte const* data() const { return data_.get(); }

 private:
  struct release {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, release> data_;
};

}  // namespace tw
