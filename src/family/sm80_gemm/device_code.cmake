# SPDX-License-Identifier: Apache-2.0
# Beside the library's architectures these kernels run on sm_80 and, from PTX, on every later GPU.
set(tw_code "--generate-code=arch=compute_80,code=[compute_80,sm_80]")
