# SPDX-License-Identifier: Apache-2.0
"""checkpoint_files.py  Files of arrays, written and read without a library: .safetensors and .npy
files, and the number formats by their definitions. The tests of this folder share it."""
import json
import math
import operator
import struct


def numbers(exponent, mantissa, last):
    """The non-negative finite numbers of a format by code (OCP 8-bit and MX specifications)."""
    bias = (1 << (exponent - 1)) - 1
    out = []
    for code in range(last + 1):
        e, m = code >> mantissa, code & ((1 << mantissa) - 1)
        out.append(math.ldexp(m, 1 - bias - mantissa) if e == 0
                   else math.ldexp(m + (1 << mantissa), e - bias - mantissa))
    return out


E2M1, E4M3 = numbers(2, 1, 7), numbers(4, 3, 126)


def f32(x):
    """Rounded to float32."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def bf16_bits(x):
    """Rounded to bfloat16, to nearest even."""
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def of_bf16(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def decoded(code, table):
    """The number of a code with a sign bit above those of the table."""
    size = 8 if len(table) == 8 else 128
    return -table[code % size] if code >= size else table[code % size]


def pack_f32(values):
    return struct.pack(f"<{len(values)}f", *values)


def pack_bf16(values):
    return struct.pack(f"<{len(values)}H", *[bf16_bits(x) for x in values])


def pack_pairs(codes):
    """Two codes of e2m1 to a byte, the first in the low half."""
    return bytes(codes[i] | codes[i + 1] << 4 for i in range(0, len(codes), 2))


def safetensors_content(tensors):
    """The bytes of a .safetensors file. tensors: {name: (dtype, shape, bytes)}."""
    header, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(t[2] for t in tensors.values())


def write_safetensors(path, tensors):
    with open(path, "wb") as file:
        file.write(safetensors_content(tensors))


def read_safetensors(path):
    """{name: (dtype, shape, bytes)}."""
    with open(path, "rb") as file:
        content = file.read()
    size = struct.unpack("<Q", content[:8])[0]
    tensors = {}
    for name, t in json.loads(content[8:8 + size]).items():
        begin, end = t["data_offsets"]
        tensors[name] = (t["dtype"], t["shape"], content[8 + size + begin:8 + size + end])
    return tensors


def npy_content(descr, shape, data, fortran=False):
    """The bytes of an .npy file."""
    head = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)}, }}"
    head += " " * ((-len(head) - 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


def write_npy(path, descr, shape, data, fortran=False):
    with open(path, "wb") as file:
        file.write(npy_content(descr, shape, data, fortran))


def write_f32(path, rows):
    write_npy(path, "<f4", (len(rows), len(rows[0])), pack_f32([x for row in rows for x in row]))


def npy_parts(path):
    """The header, as text, and the data of an .npy file."""
    with open(path, "rb") as file:
        content = file.read()
    size = struct.unpack("<H", content[8:10])[0]
    return content[10:10 + size].decode(), content[10 + size:]


def read_npy(path):
    """The numbers of a file of float32, bfloat16 or int32, row after row."""
    head, data = npy_parts(path)
    if "V2" in head:
        return [of_bf16(x) for x in struct.unpack(f"<{len(data) // 2}H", data)]
    letter = "f" if "f4" in head else "i"
    return list(struct.unpack(f"<{len(data) // 4}{letter}", data))


def product(x, w):
    """x (M, K) times w (N, K) transposed, in float64, and the sums of magnitudes."""
    terms = [[list(map(operator.mul, row, col)) for col in w] for row in x]
    return ([[math.fsum(t) for t in row] for row in terms],
            [[math.fsum(map(abs, t)) for t in row] for row in terms])
