// SPDX-License-Identifier: Apache-2.0
// sm100_gemm.cpp  One Blackwell kernel with a fault, for gemm_hazards_test.py and
//                 wrong_elements_test.py. If the environment variable TW_PLANTED_FAULT is set, its
//                 epilogue omits fence_proxy_async() between the ordinary stores to shared memory
//                 and the TMA store that reads them. With TW_PLANTED_MATRIX=i element (0, 0) of
//                 matrix i of a batch is wrong by 1000. The program faulty_command links this file
//                 before the library, so these definitions replace the library's. The file is
//                 compiled with -fsanitize=thread: the emulator sees ordinary loads and stores.
#include <cstdlib>

#include "family/sm100_gemm/launch_emu.hpp"

namespace tw {
namespace {

bool const is_planted = std::getenv("TW_PLANTED_FAULT") != nullptr;
char const* const wrong_matrix = std::getenv("TW_PLANTED_MATRIX");
/// sm100_f16_f32_nn_128x128x64_1cta_s6, in every set the only kernel of these types and majors.
constexpr sm100_config column_major_a{.a = {elem::f16, elem::f16, operand_major::mn},
                                      .b = {elem::f16},
                                      .d = elem::f32,
                                      .tile_n = 128,
                                      .stages = 6};

}  // namespace

template <>
void sm100_epilogue<column_major_a>::send(std::byte const* box, place at, destination const& to) {
  bool const is_wrong = wrong_matrix != nullptr && at.batch == std::atoi(wrong_matrix);
  if (is_wrong && at.row == 0 && at.col == 0 && lane_id() == 0)
    *reinterpret_cast<float*>(const_cast<std::byte*>(box) + offset_of(0, 0)) += 1000;
  if (!is_planted) fence_proxy_async();
  warp_sync();
  if (to.by_tma && lane_id() == 0)
    tma_store(to.map, box, tma_coord{to.col, at.row, to.where.units, to.where.spans});
  if (!to.by_tma) store_plain(box, to);
  if (lane_id() == 0) tma_store_commit();
}

namespace sm100_gemm_family {
template void launch_emu<column_major_a>(int, sm100_params const&, emu::options const&);
}

}  // namespace tw
