#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_page.py  Writes the reference of docs/python.md from the docstrings of the package.

    gen/python/python_page.py          writes the page
    gen/python/python_page.py --check  exit status 1 where it differs
"""
import ast
import inspect
import os
import re
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
PAGE = os.path.join(ROOT, "docs/python.md")
BEGIN, END = "<!-- reference: by gen/python/python_page.py -->\n", "<!-- end of the reference -->\n"
# (heading, file, names)
PARTS = [
    ("GEMMs", "_gemm", ["gemm"]), ("Groups", "_grouped", ["grouped_gemm"]),
    ("Quantisation", "_scaled", ["quantize", "Scaled"]),
    ("4-bit weights", "_weights", ["prepare", "Prepared"]),
    ("Plans", "_plan", ["plan", "spec", "Plan"]),
    ("Plans of models", "_model", ["plan_model", "ModelPlan"]),
    ("Layouts", "_layout", ["layout", "Layout"]),
    ("Devices, codes, the log", "__init__", ["devices", "explain", "set_log", "set_interrupt"]),
    ("Errors", "_errors", ["TilewrightError", "RefusedError", "NoDeviceError", "KernelFault",
                           "LayoutError", "Interrupted"]),
    ("Own kernels", "emu", ["build", "load", "Plugin", "Kernel", "Run", "Report"]),
    ("torch", "torch", ["gemm", "grouped_gemm", "quantize", "Linear", "scaled_mm", "scaled_addmm",
                         "grouped_mm", "scaled_grouped_mm"]),
    ("JAX", "jax", ["gemm", "quantize", "ragged_dot", "all_gather_matmul",
                     "matmul_reduce_scatter", "matmul_all_reduce"]),
    ("Several GPUs", "dist", ["Group", "CallPlan"]),
    ("Several GPUs in torch", "torch_dist", ["ColumnParallelLinear", "RowParallelLinear"])]
SECTIONS = ("Args:", "Returns:", "Raises:", "Attributes:")


def signature(node):
    """The call of a function, on lines of at most 100 columns."""
    text = f"{node.name}({ast.unparse(node.args)})"
    if len(text) <= 96:
        return text
    lines, line = [], node.name + "("
    for part in re.split(r"(?<=,) ", ast.unparse(node.args)):
        if len(line) + len(part) > 96:
            lines.append(line.rstrip())
            line = " " * (len(node.name) + 1)
        line += part + " "
    return "\n".join([*lines, line.rstrip() + ")"])


def markdown(doc):
    """Sections of a docstring as bold words; their entries as lists; examples as code."""
    out, code, listed = [], False, False
    for line in inspect.cleandoc(doc).split("\n"):
        if line in SECTIONS:
            if code:
                out.append("```")
            out += [f"**{line[:-1]}**", ""]
            code, listed = False, True
            continue
        indent = len(line) - len(line.lstrip())
        if listed and line.strip():
            entry = re.match(r"    (\w[\w, ]*): (.*)", line) if indent == 4 else None
            if entry:
                out.append(f"- `{entry[1]}`: {entry[2]}")
            elif indent > 4 or (indent == 4 and out[-1].startswith("- ")):
                out[-1] += " " + line.strip()
            elif indent == 4:
                out.append(line.strip())
            else:
                listed = False
                out += [line]
            continue
        if not listed and indent >= 4 and not code:
            out.append("```python")
            code = True
        elif code and indent < 4 and line.strip():
            if out[-1] == "":
                out.pop()
            out += ["```", ""]
            code = False
        out.append(line[4:] if code else line)
    if code:
        out.append("```")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip() + "\n"


def public_methods(node):
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
            doc = ast.get_docstring(item)
            decorated = {ast.unparse(d) for d in item.decorator_list}
            if doc and "property" not in decorated:
                yield item, doc


def reference():
    text = []
    for heading, module, names in PARTS:
        path = os.path.join(ROOT, "python/tilewright", module + ".py")
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        prefix = {"emu": "emu.", "jax": "jax.", "torch": "torch.",
                  "torch_dist": "torch_dist."}.get(module, "")
        text.append(f"### {heading}\n")
        body = list(tree.body)
        for x in tree.body:  # functions that the module takes from another one
            if isinstance(x, ast.ImportFrom) and x.level == 1 and x.module is not None:
                with open(os.path.join(os.path.dirname(path), x.module + ".py"),
                          encoding="utf-8") as file:
                    body += ast.parse(file.read()).body
        found = {x.name: x for x in reversed(body)
                 if isinstance(x, (ast.FunctionDef, ast.ClassDef))}
        for name in names:
            node = found[name]
            doc = ast.get_docstring(node, clean=False)
            if isinstance(node, ast.ClassDef):
                text.append(f"#### `{prefix}{name}`\n\n{markdown(doc)}")
                for method, method_doc in public_methods(node):
                    method.args.args = method.args.args[1:]
                    text.append(f"```python\n{name}.{signature(method)}\n```\n\n"
                                f"{markdown(method_doc)}")
            else:
                text.append(f"#### `{prefix}{name}`\n\n```python\n{prefix}{signature(node)}\n```\n"
                            f"\n{markdown(doc)}")
    return "\n".join(text)


def main():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    before, rest = page.split(BEGIN)
    new = before + BEGIN + "\n" + reference() + "\n" + END + rest.split(END)[1]
    if "--check" in sys.argv:
        if new != page:
            print("docs/python.md is not what gen/python/python_page.py writes", file=sys.stderr)
        return int(new != page)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
