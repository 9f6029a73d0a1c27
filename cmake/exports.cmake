# SPDX-License-Identifier: Apache-2.0
# cmake -DLIST=exports.txt -DMAP=FILE -P exports.cmake: the version script of the shared libraries,
# which exports the names of the list. A version script allows parentheses in quotes alone, and
# patterns outside of quotes alone: a function ends before a character that names do not have.
file(STRINGS ${LIST} names REGEX "^[^#]")
set(lines "")
foreach(name IN LISTS names)
  if(name MATCHES "^class (.*)")
    foreach(kind "typeinfo" "typeinfo name" "vtable")
      string(APPEND lines "\"${kind} for ${CMAKE_MATCH_1}\";\n")
    endforeach()
  else()
    string(REPLACE "~" "?" pattern "${name}")
    string(APPEND lines "\"${name}\"; ${pattern}[!A-Za-z0-9_]*;\n")
  endif()
endforeach()
file(WRITE ${MAP} "{ global: extern \"C++\" {\n${lines}}; local: *; };\n")
