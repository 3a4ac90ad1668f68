# Writes a header with a text file as a string: fp8scope_embed_text(OUTPUT FILE NAMESPACE NAME).
# A string literal of one piece would pass the length that compilers must take, so it is written in pieces.
function(fp8scope_embed_text output file namespace name)
    file(READ ${file} text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    string(LENGTH "${text}" length)
    set(pieces "")
    foreach(begin RANGE 0 ${length} 16000)
        string(SUBSTRING "${text}" ${begin} 16000 piece)
        string(APPEND pieces "\n    R\"text(${piece})text\"")
    endforeach()
    get_filename_component(base ${file} NAME)
    file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [=[
// Generated from resources/@base@.
#pragma once

#include <string_view>

namespace @namespace@ {

inline constexpr std::string_view @name@ =@pieces@;

}  // namespace @namespace@
]=])
endfunction()
