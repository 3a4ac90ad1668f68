# Writes a header with every resources/presets/*.toml as a string: fp8scope_embed_presets(OUTPUT).
function(fp8scope_embed_presets output)
    file(GLOB presets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/resources/presets/*.toml)
    list(SORT presets)
    set(entries "")
    foreach(preset IN LISTS presets)
        get_filename_component(name ${preset} NAME_WE)
        file(READ ${preset} text)
        string(APPEND entries "    {\"${name}\", R\"toml(${text})toml\"},\n")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${preset})
    endforeach()
    file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [=[
// Generated from resources/presets.
#pragma once

#include <string_view>

namespace fp8scope::cli {

struct EmbeddedPreset {
    std::string_view name, toml;
};
inline constexpr EmbeddedPreset kEmbeddedPresets[] = {
@entries@};

}  // namespace fp8scope::cli
]=])
endfunction()
