# LLVM 19 through llvm-config: the C API, ORC and the X86 back end only.
find_program(LLVM_CONFIG NAMES llvm-config-19 REQUIRED)
function(llvm_config out)
  execute_process(COMMAND ${LLVM_CONFIG} ${ARGN} OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

add_library(stepc_llvm INTERFACE)
llvm_config(include --includedir)
target_include_directories(stepc_llvm SYSTEM INTERFACE ${include})
llvm_config(dir --libdir)
llvm_config(STEPC_LLVM_VERSION --version)
target_link_directories(stepc_llvm INTERFACE ${dir})
if(STEPC_LLVM_STATIC)
  llvm_config(libs --link-static --libs orcjit x86 passes)
  llvm_config(system --link-static --system-libs orcjit x86 passes)
  separate_arguments(libs)
  separate_arguments(system)
  # What the distribution's LLVM was configured with and we never reach: Z3 serves clang's analyzer, libxml2
  # Windows manifests. The others go in statically: fewer libraries to relocate at start (1 ms of `stepc check`).
  list(FILTER system EXCLUDE REGEX "z3|xml2")
  list(TRANSFORM system REPLACE "^-l(z|zstd)$" "-l:lib\\1.a")
  # LLVM must not leak into a process that loads another one (PyTorch, Triton).
  target_link_options(stepc_llvm INTERFACE -Wl,--exclude-libs,ALL -Wl,--gc-sections -static-libgcc)
  target_link_libraries(stepc_llvm INTERFACE ${libs} -Wl,--as-needed ${system} -l:libstdc++.a -lm)
else()
  llvm_config(libs --link-shared --libs)
  separate_arguments(libs)
  target_link_libraries(stepc_llvm INTERFACE -Wl,--as-needed ${libs})
endif()
