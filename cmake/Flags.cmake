# Flags of our own code. Warnings are errors; floating point keeps the source's meaning: no contraction
# (DESIGN section 4).
add_library(stepc_flags INTERFACE)
target_compile_definitions(stepc_flags INTERFACE _GNU_SOURCE)
target_compile_options(stepc_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wconversion -Wswitch-enum
  -Wformat=2 -Wundef -Wcast-qual -Wwrite-strings -Werror
  -ffp-contract=off -fno-math-errno -fvisibility=hidden)
if(NOT STEPC_COVERAGE) # gcovr finds sources by their full paths
  target_compile_options(stepc_flags INTERFACE -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
endif()
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # Unoptimized, gcc takes the temporaries of compound literals around setjmp for variables; optimized builds keep it.
  target_compile_options(stepc_flags INTERFACE $<$<CONFIG:Debug>:-Wno-clobbered>)
endif()
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
  # Integer constants are enumerators here, also in floating-point expressions.
  target_compile_options(stepc_flags INTERFACE -Wno-gnu-statement-expression -Wno-enum-float-conversion)
endif()

if(STEPC_SANITIZE)
  target_compile_options(stepc_flags INTERFACE -fsanitize=${STEPC_SANITIZE} -fno-omit-frame-pointer -g)
  target_link_options(stepc_flags INTERFACE -fsanitize=${STEPC_SANITIZE})
  if(STEPC_SANITIZE MATCHES "undefined")
    target_compile_options(stepc_flags INTERFACE -fno-sanitize-recover=undefined)
    if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
      # It looks for the callee's type in the bytes before its entry, which code made by LLVM at run time has not.
      target_compile_options(stepc_flags INTERFACE -fno-sanitize=function)
    endif()
  endif()
endif()
if(STEPC_COVERAGE)
  target_compile_options(stepc_flags INTERFACE --coverage -fprofile-abs-path -fprofile-update=atomic)
  target_link_options(stepc_flags INTERFACE --coverage)
endif()
if(STEPC_FUZZ)
  # Coverage in all of our code; only the harnesses link libFuzzer's main.
  target_compile_options(stepc_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(stepc_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# lld links the static LLVM in half a second, GNU ld in five. It is LLVM 19's own, found beside its other tools.
find_program(STEPC_LLD NAMES ld.lld PATHS /usr/lib/llvm-19/bin NO_DEFAULT_PATH)
if(STEPC_LLD)
  get_filename_component(lld_dir ${STEPC_LLD} DIRECTORY)
  target_link_options(stepc_flags INTERFACE -B${lld_dir} -fuse-ld=lld)
endif()
