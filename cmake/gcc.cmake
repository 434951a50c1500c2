# GCC, whatever `cc` is; CC and CXX in the environment win.
if(NOT DEFINED ENV{CC})
  find_program(CMAKE_C_COMPILER NAMES gcc cc REQUIRED)
endif()
if(NOT DEFINED ENV{CXX})
  find_program(CMAKE_CXX_COMPILER NAMES g++ c++ REQUIRED)
endif()
