# embed_text(OUT FILE NAME): a C source that defines `const char NAME[]` with the file's bytes and a terminating NUL.
function(embed_text out file name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  file(CONFIGURE OUTPUT ${out} CONTENT "#include \"emit/cuda_prelude.h\"\n\nconst char ${name}[] = {\n${bytes}0};\n")
endfunction()
