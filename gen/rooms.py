# SPDX-License-Identifier: Apache-2.0
"""rooms.py  The rooms of the command and of folders of src/: which folder may include which, and
their sizes.

A room is a folder. A file includes its own room and the rooms before it. The folders below
tools/command are verbs, which do not include each other. A file of src/emu/ itself may include all
rooms there.
"""
import collections
import os
import re

# From the lowest room to the highest.
ROOMS = ("ladder tools/io tools/report tools/picture tools/trace tools/operand tools/request "
         "tools/check tools/measure tools/command").split()
MAIN = "tools/main.cpp"  # gathers the verbs
# Folders of src/ with rooms, which sources include as FOLDER/ROOM/NAME.
LIBRARY = {
    "emu": ("host elements wgmma history umma machine report memory barrier warp tensor hazard "
            "trace run").split(),
    "dispatch": "tuning plan quantize launch moe tensors".split(),
}
# Folders whose code may include the rooms, not the other way round.
OUTSIDE = ("capi", "demo", "bench", "tests", "examples", "python")
SOURCES = (".hpp", ".cpp", ".cu", ".cuh")
MAX_FILES = 40  # of one level of a folder, but of docs/


def place_of(path):
    """(floor, verb) of a file or an include; None if it is in none."""
    if path == MAIN:
        return len(ROOMS) + 1, ""
    for floor, room in enumerate(ROOMS):
        if path.startswith(room + "/"):
            verb = re.match(r"tools/command/([^/]+)/", path)
            return (len(ROOMS), verb[1]) if verb else (floor, "")
    return None


def floor_in_library(path):
    """The floor of FOLDER/ROOM/NAME, above all rooms of FOLDER/NAME; None of an unknown room."""
    folder, room = re.fullmatch(r"(\w+)/(?:(.+)/)?[^/]+", path).groups()
    if room and room not in LIBRARY[folder]:
        return None
    return LIBRARY[folder].index(room) if room else len(LIBRARY[folder])


def check_library(f):
    """(line, complaint) of each include within a folder of src/ that runs up."""
    folder = f.path.split("/")[1] + "/"
    own = floor_in_library(f.path.removeprefix("src/"))
    if own is None:
        yield 1, f"{os.path.dirname(f.path)}/ is not a room of gen/rooms.py"
        return
    for number, target in f.includes():
        other = floor_in_library(target) if target.startswith(folder) else None
        if other is not None and other > own:
            yield number, f"the include of {target} runs up"


def check_rooms(f):
    """(line, complaint) of each include that runs up, or from one verb into another."""
    if not f.path.endswith(SOURCES):
        return
    if f.path.startswith(tuple(f"src/{folder}/" for folder in LIBRARY)):
        yield from check_library(f)
        return
    own = place_of(f.path)
    if own is None:
        if f.path.startswith("tools/"):
            yield 1, f"{os.path.dirname(f.path)}/ is not a room of gen/rooms.py"
        return
    for number, target in f.includes():
        if target.startswith(tuple(folder + "/" for folder in OUTSIDE)):
            yield number, f"{target.split('/')[0]}/ is included from outside of it"
        other = place_of(target)
        if other is None:
            continue
        if other[0] > own[0]:
            yield number, f"the include of {target} runs up"
        elif other[0] == own[0] and other[1] != own[1]:
            yield number, f"the verb {own[1]} includes the verb {other[1]}: {target}"


def check_folders(files):
    """No folder shows more than MAX_FILES files at one level."""
    count = collections.Counter(os.path.dirname(f.path) for f in files
                                if not f.path.startswith("docs/"))
    for folder, files_there in sorted(count.items()):
        if files_there > MAX_FILES:
            yield folder, 1, f"{files_there} files at one level; at most {MAX_FILES}"
