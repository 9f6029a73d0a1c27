// SPDX-License-Identifier: Apache-2.0
// global.hpp  Who has written and read which bytes of global memory in a launch, and what atomic
//             words carry from one CTA to another.
//
// One object serves all clusters of a launch on all OS threads. Clocks belong to a cluster; between
// clusters knowledge moves as copies of them: a release leaves one at the word, an acquire takes it
// along. Within the cluster an acquire is a counter of the acquiring thread like any other, so that
// cta_sync and mbarriers carry it on (checker.hpp).
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "emu/history/shadow.hpp"
#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/arch/types.hpp"

namespace tw::emu::hazard {

/// Up to which counts the accesses of other clusters are known to have happened: by cluster, by
/// component there.
class knowledge {
 public:
  using stamps = std::shared_ptr<std::vector<stamp> const>;
  /// The accesses that have passed a proxy fence of shared memory, for threads of the same cluster.
  void join_fenced(int cluster, stamps const& s) { join(fenced_, cluster, s); }
  stamps fenced(int cluster) const { return of(fenced_, cluster); }
  bool covers(int cluster, component c, stamp when) const;
  stamp happened(int cluster, component c) const;
  void join(knowledge const& o);
  void join(int cluster, stamps const& s) { join(of_cluster_, cluster, s); }
  stamps of(int cluster) const { return of(of_cluster_, cluster); }

 private:
  using by_cluster = std::map<int, stamps>;
  static void join(by_cluster& to, int cluster, stamps const& s);
  static stamps of(by_cluster const& from, int cluster);

  by_cluster of_cluster_, fenced_;
};
using knowledge_ref = std::shared_ptr<knowledge const>;

/// An accessor: a component of a cluster, and how a report names it.
struct global_face {
  int cluster = 0;
  component who = 0;
  bool own_thread = false;  // a CUDA thread (not its asynchronous work)
  int cta = 0, thread = 0;
  char const* role = "";
  int device = 0;
};

inline constexpr int several = -2;  // threads of several CTAs or clusters have released

/// The knowledge that a release has left at a word, and for which threads.
struct released {
  scope reach;
  int cta, cluster, device;
  knowledge_ref what;
  knowledge_ref sequential = {};  // the part of it that was before a fence_sc
};

/// An atomic word.
struct atomic_word {
  std::vector<released> out;
  site relaxed_at;      // the newest write without release (line 0: none)
  int relaxed_by = -1;  // the CTA that wrote it
};

class global_memory {
 public:
  std::uint32_t add_face(global_face const& f);
  global_face const& face(std::uint32_t id) const { return faces_[id]; }

  /// Thread `id` ran fence_proxy_async_global at its count `when`.
  void fenced(std::uint32_t id, stamp when) { fences_[id].push_back(when); }
  /// Did a fence of this kind lie between access `when` and what is known of the thread?
  bool fence_between(std::uint32_t id, stamp when, stamp known) const;

  /// The thread of asynchronous accesses `id` has waited for those up to `when`.
  void complete(std::uint32_t id, stamp when) { complete_[id] = when; }
  stamp completed(std::uint32_t id) const {
    auto const it = complete_.find(id);
    return it == complete_.end() ? 0 : it->second;
  }

  /// Another launch of the same stream: everything so far is a predecessor's.
  void next_launch();
  bool is_predecessor(std::uint32_t id) const { return id < first_face_; }
  /// A thread of this launch has waited for its predecessor: the launch cannot end before it.
  void waited_for_predecessor() {
    if (!launches_.empty()) launches_.back().waited = true;
  }
  /// Has each launch between predecessor `id` and this one waited for its own predecessor?
  bool chain_waits_since(std::uint32_t id) const;

  /// f(block, cells) for the 16-byte cells of [address, address + bytes), which begin and end at
  /// multiples of 16.
  template <class F>
  void each_cells(std::uintptr_t address, std::size_t bytes, F&& f) {
    while (bytes > 0) {
      std::uint32_t const inside = static_cast<std::uint32_t>(address % block_bytes);
      std::size_t const here = std::min<std::size_t>(bytes, block_bytes - inside);
      each_block(inside, static_cast<std::uint32_t>(here), [&](touched t) {
        f(touched{block_at(address), t.cells});
      });
      address += here;
      bytes -= here;
    }
  }
  std::uint32_t block_at(std::uintptr_t address);
  shadow& cells() { return shadow_; }
  atomic_word& word_at(std::uintptr_t address) { return words_[address]; }

  /// An allocation or its end: the accesses of [address, address + bytes) were of other objects.
  void forget(std::uintptr_t address, std::size_t bytes);

  /// TMA loads of tensors that nothing in the launch writes cost a line in a list: they are laid
  /// out over the cells when the first write comes. True: the tensor is written, record at once.
  bool remember_load(tensor_map_desc const& d, int const* at, record const& r);
  /// A write is about to come: loads of the tensor there are laid out.
  void before_write(std::uintptr_t address, std::size_t bytes);

  std::mutex mutex;

 private:
  struct box {
    int at[5];
    record what;
  };
  struct tensor {
    tensor_map_desc map;
    std::uintptr_t begin, end;
    bool written = false;
    std::vector<box> loads;
  };
  void lay_out(tensor& t);

  shadow shadow_{64};
  std::unordered_map<std::uintptr_t, std::uint32_t> blocks_;
  std::uintptr_t last_page_ = 0;
  std::uint32_t last_block_ = 0;
  std::vector<global_face> faces_;
  std::uint32_t first_face_ = 0;  // of this launch
  struct launch {
    std::uint32_t first_face;
    bool waited;
  };
  std::vector<launch> launches_;  // of the stream, in order
  std::unordered_map<std::uint32_t, std::vector<stamp>> fences_;
  std::unordered_map<std::uint32_t, stamp> complete_;
  std::unordered_map<std::uintptr_t, atomic_word> words_;
  std::vector<tensor> tensors_;
};

/// f(address, bytes) for each row of a box that lies in the tensor, whole chunks of 16 bytes.
template <class F>
void each_global_row(tensor_map_desc const& d, int const* at, F&& f) {
  std::int64_t low[5], high[5];
  for (int i = 0; i < 5; ++i) {
    bool const used = i < d.rank;
    low[i] = used ? std::max(at[i], 0) : 0;
    high[i] = used ? std::min<std::int64_t>(std::int64_t{at[i]} + d.box[i], d.dim[i]) : 1;
    if (low[i] >= high[i]) return;
  }
  auto const base = reinterpret_cast<std::uintptr_t>(d.base);
  auto const row = static_cast<std::size_t>(d.row_bytes(high[0] - low[0]) + 15) / 16 * 16;
  for (std::int64_t e = low[4]; e < high[4]; ++e)
    for (std::int64_t c = low[3]; c < high[3]; ++c)
      for (std::int64_t b = low[2]; b < high[2]; ++b)
        for (std::int64_t a = low[1]; a < high[1]; ++a)
          f(base + static_cast<std::uintptr_t>(d.row_bytes(low[0]) + a * d.stride_bytes[0] +
                                               b * d.stride_bytes[1] + c * d.stride_bytes[2] +
                                               e * d.stride_bytes[3]),
            row);
}

}  // namespace tw::emu::hazard
