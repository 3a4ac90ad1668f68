# The program's edges, without a display: version, help, wrong usage, a file that is no trace; and what it links.
function(expect code pattern)
    execute_process(COMMAND env -u DISPLAY -u WAYLAND_DISPLAY -u QT_QPA_PLATFORM ${GUI} ${ARGN}
        OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE rc)
    if(NOT rc EQUAL ${code})
        message(FATAL_ERROR "${ARGN}: exit code ${rc}, expected ${code}\n${out}${err}")
    endif()
    if(NOT "${out}${err}" MATCHES "${pattern}")
        message(FATAL_ERROR "${ARGN}: does not say \"${pattern}\"\n${out}${err}")
    endif()
endfunction()

expect(0 "^fp8scope-gui [0-9]+\\.[0-9]+\\.[0-9]+\n$" --version)
expect(0 "export-pdf.*FILE" --help)
expect(2 "no-such-option" --no-such-option)
expect(2 "needs a trace" --export-pdf out.pdf)
expect(1 "no-such-file.fp8trace" --export-pdf out.pdf no-such-file.fp8trace)

# QCustomPlot is GPL-3.0-or-later and CUDA's libraries are not: they must never meet in this process.
find_program(READELF readelf)
if(READELF)
    execute_process(COMMAND ${READELF} -d ${GUI} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
    if(dynamic MATCHES "lib(cuda|cudart|cublas|cupti|nvidia|dnnl)")
        message(FATAL_ERROR "the app links ${CMAKE_MATCH_0}:\n${dynamic}")
    endif()
endif()
