// SPDX-License-Identifier: Apache-2.0
// write_json.hpp  A picture as JSON, for programs that draw it themselves.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/picture/frame.hpp"
#include "tools/picture/picture.hpp"

namespace tw {

/// {"title", "captions", "owner_name", "legend": [{"colour", "text"}], "panels": [{"title", "rows",
/// "columns", "row_labels", ..., "cells": [{"text", "hint", "colour", "owners": [[thread, value],
/// ...]}]}]}; cells are row-major. Colours are 0 .. 7, "pale", "warning" or null.
nlohmann::ordered_json write_json(picture const& p);

/// JSON for the script of a page, which may stand in a script element: places and sizes in pixels,
/// texts, hints and owners [thread, value, thread, value, ...] of each panel's cells.
std::string page_data(picture const& p, picture_frame const& f);

}  // namespace tw
