// SPDX-License-Identifier: Apache-2.0
// gemm_notes.hpp  Notes on a GEMM that may not be the one that its user meant; it is computed.
#pragma once

#include <string>
#include <vector>

#include "tools/command/gemm/gemm_inputs.hpp"
#include "tools/request/gemm_request.hpp"

namespace tw {

/// Sentences: bytes that look like e2m1 and are read as e4m3; wide values that are rounded beside a
/// scale that they are not divided by; a second level that looks like 1 / scale.
std::vector<std::string> notes_of(gemm_request const& r, gemm_files const& f);

/// How the scales of a file became float32: ", from bf16, exactly"; empty where they are as in the
/// file.
std::string conversion_text(matrix_view const& scales);

}  // namespace tw
