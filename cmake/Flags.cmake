# Warnings are errors for our own code; floating point keeps the source's meaning: no contraction (DESIGN section 4).
add_library(stepc_flags INTERFACE)
target_compile_definitions(stepc_flags INTERFACE _GNU_SOURCE)
target_compile_options(stepc_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wconversion -Wswitch-enum
  -Wformat=2 -Wundef -Wcast-qual -Wwrite-strings -Werror
  -ffp-contract=off -fno-math-errno -fvisibility=hidden -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
  target_compile_options(stepc_flags INTERFACE -Wno-gnu-statement-expression)
endif()
if(STEPC_SANITIZE)
  target_compile_options(stepc_flags INTERFACE -fsanitize=${STEPC_SANITIZE} -fno-omit-frame-pointer -g)
  target_link_options(stepc_flags INTERFACE -fsanitize=${STEPC_SANITIZE})
  if(STEPC_SANITIZE MATCHES "undefined")
    target_compile_options(stepc_flags INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()
