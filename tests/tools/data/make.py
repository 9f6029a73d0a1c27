# SPDX-License-Identifier: Apache-2.0
# make.py  Wrote the files beside it: what NumPy, ml_dtypes and safetensors really write.
# Every matrix is 3 x 5 with element (i, j) = 10 i + j - 7.5.
# Run: python3 make.py, with numpy 2.4, ml_dtypes 0.6, safetensors 0.8.
import json
import struct

import ml_dtypes
import numpy as np

a = np.add.outer(10.0 * np.arange(3), np.arange(5)) - 7.5
types = {"f16": np.float16, "f32": np.float32, "bf16": ml_dtypes.bfloat16}
for text, dtype in types.items():
    np.save(f"{text}_c.npy", a.astype(dtype))
    np.save(f"{text}_f.npy", np.asfortranarray(a.astype(dtype)))
    np.save(f"{text}_again.npy", np.load(f"{text}_c.npy"))  # bf16: NumPy's own '|V2'
# Types of 8 bits and int32: element (i, j) = 5 i + j - 7, uint8 5 i + j.
small = np.arange(15).reshape(3, 5) - 7
small_types = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "s8": np.int8,
               "u8": np.uint8, "s32": np.int32}
for text, dtype in small_types.items():
    np.save(f"{text}_c.npy", (small + 7 * (text == "u8")).astype(dtype))
    np.save(f"{text}_f.npy", np.asfortranarray((small + 7 * (text == "u8")).astype(dtype)))
np.save("e4m3_again.npy", np.load("e4m3_c.npy"))  # NumPy's own '|V1'
np.save("scalar.npy", np.float32(0.5))
for version in (2, 3):
    with open(f"version{version}.npy", "wb") as f:
        np.lib.format.write_array(f, a.astype(np.float32), version=(version, 0))
np.save("big_endian.npy", a.astype(">f4"))
np.save("int64.npy", a.astype(np.int64))
np.save("vector.npy", a[0].astype(np.float32))
np.save("cube.npy", np.zeros((2, 3, 4), np.float32))
np.save("empty.npy", np.zeros((0, 5), np.float32))
np.save("struct.npy", np.zeros((2, 2), [("x", "<f2")]))

from safetensors.numpy import save_file  # noqa: E402

tensors = {k: a.astype(v) for k, v in types.items() if k != "bf16"}
tensors["vector"] = a[0].astype(np.float32)
tensors["ints"] = a.astype(np.int64)
save_file(tensors, "tensors.safetensors", metadata={"made by": "make.py"})

save_file({text: (small + 7 * (text == "u8")).astype(dtype) for text, dtype in small_types.items()}
          | {"e8m0": np.float32([[0.5, 1, 4]]).astype(ml_dtypes.float8_e8m0fnu)},
          "small.safetensors")

raw = a.astype(ml_dtypes.bfloat16).tobytes()  # what torch's writer makes of a bfloat16 tensor
head = json.dumps({"bf16": {"dtype": "BF16", "shape": [3, 5], "data_offsets": [0, len(raw)]}})
with open("bf16.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(head)) + head.encode() + raw)
