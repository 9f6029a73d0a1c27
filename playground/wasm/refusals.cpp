// SPDX-License-Identifier: Apache-2.0
// refusals.cpp  The sources of the emulator that catch the refusal of a tensor map; unlike the rest
//               of the emulator they are compiled with exceptions.
#include "emu/global_names.cpp"
#include "emu/maps.cpp"
