// SPDX-License-Identifier: Apache-2.0
// refusals.cpp  The sources of the emulator that catch the refusal of a tensor map; unlike the rest
//               of the emulator they are compiled with exceptions.
#include "emu/memory/maps.cpp"
#include "emu/report/global_names.cpp"
