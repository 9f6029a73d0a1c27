# SPDX-License-Identifier: Apache-2.0
# No other architecture assembles tcgen05.
set(tw_code "--generate-code=arch=compute_100f,code=sm_100f")
set(tw_code_alone sm100)
