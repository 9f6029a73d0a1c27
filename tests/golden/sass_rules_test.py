# SPDX-License-Identifier: Apache-2.0
"""sass_rules_test.py  gen/sass_check.py finds what is wrong in short listings of machine code, and
nothing in the correct ones."""
import os
import sys

ROOT = os.environ.get("TW_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "gen"))
import sass  # noqa: E402
import sass_check  # noqa: E402
import sass_loops  # noqa: E402

BLACKWELL = "tw::entry<tw::gemm_sm100<tw::sm100_config{...}> >"
SCALED = "tw::entry<tw::block_scaled_sm100<tw::block_scaled_config{...}> >"
HOPPER = "tw::entry<tw::gemm_sm90<tw::gemm_config{...}> >"
# A kernel with a loop over tiles around a loop over K. LABEL: names the next instruction.
TENSOR_CODE = """
  ELECT P0, URZ, PT
  UTCATOMSWS.FIND_AND_SET.ALIGN UP0, UR5, UR5
tile:
  MOV R2, R4
load:
  UTMALDG.3D [UR8], [UR4]
  @P0 BRA load
step:
  SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2+URZ], R3
  @!P0 BRA step
  UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR17], tmem[UR34], idesc[UR35], UP0
  UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR17], tmem[UR34], idesc[UR35], UPT
  UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR17], tmem[UR34], idesc[UR35], UPT
  UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR17], tmem[UR34], idesc[UR35], UPT
  UTCBAR [UR16], URZ
  BRA.U UP1, step
  LDTM.x64 R4, tmem[UR4]
  UTMASTG.3D [UR8], [UR4]
  MEMBAR.ALL.GPU
  @P1 BRA tile
  UTCATOMSWS.AND URZ, UR4
  EXIT
"""
WARPGROUP_CODE = """
  USETMAXREG.DEALLOC.CTAPOOL 0x18
  USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xf0
step:
  WARPGROUP.ARRIVE
  HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], R24, UP0
  HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], R24
  HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], R24
  HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], R24, gsb0
  WARPGROUP.DEPBAR.LE gsb0, 0x0
  @P0 BRA step
  EXIT
"""


def listing(text):
    """As cuobjdump -sass prints it: addresses instead of labels."""
    lines, labels = [], {}
    for line in filter(None, text.splitlines()):
        if line.endswith(":"):
            labels[line[:-1]] = f"{16 * len(lines):#x}"
        else:
            lines.append(line.strip())
    head = "arch = sm_100f\n\t\tFunction : kernel\n"
    for n, line in enumerate(lines):
        words = [labels.get(w, w) for w in line.split(" ")]
        head += f"        /*{16 * n:04x}*/    {' '.join(words)} ;  /* 0x0000000000007919 */\n"
    return head + "        /* 0x000e640000002100 */\n"


def complaints(name, text):
    (code,) = sass.read(listing(text)).values()
    return list(sass_check.rules(name, code))


def changed(text, old, new, count=1):
    assert old in text, old
    return text.replace(old, new, count)


WAIT = "  WARPGROUP.DEPBAR.LE gsb0, 0x0\n"
# Weights of 4 bits are decoded between the wgmmas.
APART = WARPGROUP_CODE.replace("  WARPGROUP.ARRIVE\n", "").replace(
    "  HGMMA", "  WARPGROUP.ARRIVE\n  HGMMA")
CASES = [  # what, kernel, code, a part of the complaint, or None
    ("correct", BLACKWELL, TENSOR_CODE, None),
    ("correct, scaled", SCALED, changed(TENSOR_CODE, "step:", "step:\n  UTCCP.T.S tmem[UR4], UR8"),
     None),
    ("correct, for pairs", BLACKWELL,
     TENSOR_CODE.replace("UTCHMMA", "UTCHMMA.2CTA").replace("UTCBAR", "UTCBAR.2CTA.MULTICAST")
     .replace("UTMALDG.3D", "UTMALDG.3D.2CTA"), None),
    ("correct, wgmma", HOPPER, WARPGROUP_CODE, None),
    ("two main loops, with a wait more each", HOPPER, "".join(
        changed(WARPGROUP_CODE.replace("step", step), "  EXIT\n", WAIT)
        for step in ("first", "second")) + "  EXIT\n", None),
    ("a main loop with two waits more", HOPPER,
     changed(WARPGROUP_CODE, "  EXIT", 2 * WAIT + "  EXIT"), "serialised"),
    ("a first step outside the loop", HOPPER,
     "tile:\n" + changed(WARPGROUP_CODE, "step:", "".join(
         line + "\n" for line in WARPGROUP_CODE.splitlines()[4:10]) + "step:")
     .replace("  EXIT", "  MEMBAR.ALL.GPU\n  @P1 BRA tile\n  EXIT"), None),
    ("three steps of four", BLACKWELL,
     changed(TENSOR_CODE, "  UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR17], tmem[UR34], idesc[UR35],"
             " UPT\n", ""), "3 tcgen05.mma"),
    ("a fence in the loop over K", BLACKWELL,
     changed(TENSOR_CODE, "  UTCBAR", "  MEMBAR.ALL.GPU\n  UTCBAR"), "is in a loop over K"),
    ("a fence in the loop of loads", BLACKWELL,
     changed(TENSOR_CODE, "  UTMALDG", "  MEMBAR.ALL.GPU\n  UTMALDG"), "is in a loop over K"),
    ("registers that are not uniform", BLACKWELL,
     changed(TENSOR_CODE, "  UTCBAR [UR16], URZ",
             "again:\n  R2UR UR16, R4\n  UTCBAR [UR16], URZ\n  BRA.U.ANY UP3, again"),
     "BRA.U.ANY"),
    ("a store to local memory", BLACKWELL, changed(TENSOR_CODE, "  EXIT", "  STL [R1], R2\n  EXIT"),
     "local memory"),
    ("no tensor-memory load", BLACKWELL, changed(TENSOR_CODE, "  LDTM.x64 R4, tmem[UR4]\n", ""),
     "no LDTM"),
    ("no store of D", BLACKWELL, changed(TENSOR_CODE, "  UTMASTG.3D [UR8], [UR4]\n", ""),
     "D is not stored"),
    ("no scales", SCALED, TENSOR_CODE, "no UTCCP"),
    ("a commit for one CTA among those of pairs", BLACKWELL,
     TENSOR_CODE.replace("UTCHMMA", "UTCHMMA.2CTA").replace("UTMALDG.3D", "UTMALDG.3D.2CTA"),
     "UTCBAR at"),
    ("serialised wgmma", HOPPER,
     WARPGROUP_CODE.replace("R24\n", "R24\n  WARPGROUP.DEPBAR.LE gsb0, 0x0\n"), "serialised"),
    ("wgmmas each after a fence, and one wait", HOPPER, APART, None),
    ("wgmmas each after a fence and before a wait", HOPPER,
     APART.replace("R24\n", "R24\n  WARPGROUP.DEPBAR.LE gsb0, 0x0\n"), "in 4 groups"),
    ("five wgmma of four", HOPPER,
     changed(WARPGROUP_CODE, "step:", "step:\n  HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], R24"),
     "5 wgmma"),
    ("registers that are released and not taken", HOPPER,
     changed(WARPGROUP_CODE, "  USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xf0\n", ""), "setmaxnreg"),
]

GROUP = "  HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], R24\n"
LOOPS = [  # what, code, the kinds that are found
    ("nothing", WARPGROUP_CODE, []),
    ("a special register", changed(WARPGROUP_CODE, "step:", "step:\n  S2UR UR9, SR_CgaCtaId"),
     ["S2UR"]),
    ("a special register before the loop",
     changed(WARPGROUP_CODE, "step:", "  S2UR UR9, SR_CgaCtaId\nstep:"), []),
    ("a vector register in a descriptor",
     changed(WARPGROUP_CODE, GROUP, "  R2UR UR4, R3\n" + GROUP), ["R2UR"]),
    ("a fence", changed(WARPGROUP_CODE, "  WARPGROUP.ARRIVE",
                        "  MEMBAR.ALL.CTA\n  WARPGROUP.ARRIVE"), ["MEMBAR"]),
    ("a load before the group", changed(WARPGROUP_CODE, "  WARPGROUP.ARRIVE",
                                        "  LDS R3, [R2]\n  FMUL R5, R3, R3\n  WARPGROUP.ARRIVE"),
     []),
    ("a load in the group", changed(WARPGROUP_CODE, GROUP, GROUP + "  LDS.64 R8, [R2]\n"),
     ["load"]),
    ("a load in the group that is read there",
     changed(WARPGROUP_CODE, GROUP, GROUP + "  LDS.64 R8, [R2]\n  FMUL R5, R9, R3\n"
             "  FMUL R6, R9, R3\n"), ["load", "wait"]),
    ("a load before the group that is read in it",
     changed(WARPGROUP_CODE, "  WARPGROUP.ARRIVE", "  LDS R3, [R2]\n  WARPGROUP.ARRIVE").replace(
         GROUP, GROUP + "  FMUL R5, R3, R4\n", 1), ["wait"]),
    ("a loaded register that is written anew",
     changed(WARPGROUP_CODE, "  WARPGROUP.ARRIVE",
             "  LDS R3, [R2]\n  MOV R3, R7\n  WARPGROUP.ARRIVE").replace(
         GROUP, GROUP + "  FMUL R5, R3, R4\n", 1), []),
    ("a load after the group", changed(WARPGROUP_CODE, "  @P0 BRA", "  LDS R3, [R2]\n  @P0 BRA"),
     []),
    ("three sources in one bank",
     changed(WARPGROUP_CODE, "  @P0 BRA", "  FFMA R4, R24, R140, R4\n  @P0 BRA"), ["bank"]),
    ("sources in two banks",
     changed(WARPGROUP_CODE, "  @P0 BRA", "  FFMA R4, R25.reuse, R140, R4\n"
             "  FFMA R4, R24, R24, R4\n  FFMA R4, R24, UR4, R6\n  @P0 BRA"), []),
]


def wrong_loops():
    for what, text, expected in LOOPS:
        (code,) = sass.read(listing(text)).values()
        found = [kind for kind, _ in sass_loops.findings(code)]
        if found != expected:
            yield f"{what}: expected {expected}, found {found}"
        accepted = sass_loops.counts(code)
        if list(sass_check.extra(code, accepted)):
            yield f"{what}: the accepted counts are complained of"
        if len(list(sass_check.extra(code, {}))) != len(expected):
            yield f"{what}: not every instruction is named"


def main():
    wrong = list(wrong_loops())
    for what, name, text, expected in CASES:
        found = complaints(name, text)
        if expected is None and found:
            wrong.append(f"{what}: expected no complaint, found {found}")
        elif expected is not None and not any(expected in line for line in found):
            wrong.append(f"{what}: expected '{expected}', found {found}")
    (code,) = sass.read(listing(WARPGROUP_CODE)).values()
    counted = sass_check.counts(code)
    if counted.get("USETMAXREG.DEALLOC.CTAPOOL 24") != 1 or \
            counted.get("HGMMA.64x128x16.F32.BF16") != 4:
        wrong.append(f"counts: {counted}")
    path = "build/CMakeFiles/tilewright_sm100.dir/generated/family/sm100_gemm/gpu_bf16_0.cu.o"
    for only, chosen in (("", True), ("^sm100", True), ("gemm/gpu_bf", True), ("^sm90", False)):
        if sass_check.is_chosen(only, path) != chosen:
            wrong.append(f"--only '{only}' for {path}")
    # A set of which a kernel was not built is not checked as a whole.
    if not list(sass_check.missing_kernels("full", {"one kernel": {}}, "sm_103a")):
        wrong.append("missing kernels: expected a complaint")
    for line in wrong:
        print(f"sass_rules: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
