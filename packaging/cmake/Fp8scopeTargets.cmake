# One target a part: fp8scope_part(name SOURCES... LINKS... [PRIVATE_LINKS...]) and fp8scope_test(...).
# Includes are rooted at the source tree: #include "collector/trace/trace.h".

add_library(fp8scope_build_flags INTERFACE)
target_compile_options(fp8scope_build_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor
    -Wno-missing-field-initializers  # designated initializers leave defaults on purpose
    # GCC 12 sees overlapping copies in std::string's operator+ that are not there (GCC bug 105651).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    $<$<BOOL:${FP8SCOPE_WERROR}>:-Werror>)
target_compile_definitions(fp8scope_build_flags INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
target_include_directories(fp8scope_build_flags INTERFACE ${CMAKE_SOURCE_DIR})
if(FP8SCOPE_SANITIZE)
    target_compile_options(fp8scope_build_flags INTERFACE
        -fsanitize=${FP8SCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(fp8scope_build_flags INTERFACE -fsanitize=${FP8SCOPE_SANITIZE})
endif()

if(FP8SCOPE_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "FP8SCOPE_FUZZ needs clang: configure with -DCMAKE_CXX_COMPILER=clang++, or use the preset fuzz")
    endif()
    target_compile_options(fp8scope_build_flags INTERFACE
        -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(fp8scope_build_flags INTERFACE -fsanitize=address,undefined)
endif()

function(fp8scope_part name)
    cmake_parse_arguments(arg "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
    add_library(${name} STATIC ${arg_SOURCES})
    target_link_libraries(${name} PUBLIC fp8scope_build_flags ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
endfunction()

# A GoogleTest program. Its cases become CTest tests with the label (default "unit"); GUI tests run offscreen.
function(fp8scope_test name)
    cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES;LINKS;ENVIRONMENT" ${ARGN})
    if(NOT arg_LABEL)
        set(arg_LABEL unit)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE fp8scope_build_flags ${arg_LINKS} GTest::gmock GTest::gtest_main)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# A Google Benchmark program; run by hand or by tests/bench/run.sh, never as a test.
function(fp8scope_benchmark name)
    cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
    if(NOT FP8SCOPE_BENCHMARKS)
        return()
    endif()
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE fp8scope_build_flags ${arg_LINKS} benchmark::benchmark)
endfunction()
