// SPDX-License-Identifier: Apache-2.0
#include "emu/product_isa.hpp"
namespace tw::emu { product_version const product_avx2 = product_portable; }
