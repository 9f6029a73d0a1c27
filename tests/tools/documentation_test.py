# SPDX-License-Identifier: Apache-2.0
"""documentation_test.py  Manual pages and completions know every verb and option, and are valid."""
import os
import re
import shutil
import subprocess
import sys

COMMAND = os.environ["TW_COMMAND"]
failures = []


def run(*words, stdin=None):
    return subprocess.run(words, input=stdin, capture_output=True, text=True, check=False)


def expect(good, text):
    if not good:
        failures.append(text)


def options_of(words):
    """Long options in the help of a verb."""
    text = run(COMMAND, *words, "--help").stdout
    return sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", text)))


def verbs_of(text):
    return re.findall(r"^  ([a-z]+)  ", text[text.index("Subcommands:"):], re.M)


def main():
    verbs = [[v] for v in verbs_of(run(COMMAND, "--help").stdout)]
    verbs += [["bench", v] for v in verbs_of(run(COMMAND, "bench", "--help").stdout)]
    expect(["gemm"] in verbs and ["bench", "gemm"] in verbs, f"verbs: {verbs}")
    scripts = {s: run(COMMAND, "completion", s).stdout for s in ("bash", "zsh", "fish")}
    for words in [[]] + verbs:
        page = run(COMMAND, "man", *words)
        expect(page.returncode == 0 and page.stdout.startswith(".TH tilewright"), f"man {words}")
        plain = page.stdout.replace("\\-", "-")
        for option in options_of(words):
            expect(option in plain, f"{option} is missing in the manual page of {words}")
            expect(option in scripts["bash"], f"{option} of {words} is not completed by bash")
            expect("-l " + option[2:] in scripts["fish"], f"{option} is not completed by fish")
        if shutil.which("groff"):
            shown = run("groff", "-man", "-Tutf8", "-ww", stdin=page.stdout)
            expect(shown.returncode == 0 and not shown.stderr, f"groff, {words}: {shown.stderr}")
    for shell, script in scripts.items():
        if shutil.which(shell) and shell != "zsh":
            checked = run(shell, "-n", "/dev/stdin", stdin=script)
            expect(checked.returncode == 0, f"{shell}: {checked.stderr}")
    complete = scripts["bash"] + (
        "try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _tilewright; "
        "echo \"${COMPREPLY[*]}\"; }\n"
        "try tilewright ge\ntry tilewright gemm a b --dev\ntry tilewright gemm --device e\n"
        "try tilewright bench ceil\ntry tilewright bench ceiling --qui\n")
    got = run("bash", stdin=complete).stdout.split("\n")
    want = ["gemm", "--device", "emu", "ceiling", "--quick"]
    expect(got[:5] == want, f"bash completes {got}, not {want}")
    print("\n".join(failures) or f"{len(verbs)} verbs")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
