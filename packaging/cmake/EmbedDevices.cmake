# Writes a header with resources/devices.toml and resources/device_fits.toml as strings: fp8scope_embed_devices(OUTPUT).
function(fp8scope_embed_devices output)
    foreach(file devices device_fits)
        set(path ${CMAKE_SOURCE_DIR}/resources/${file}.toml)
        file(READ ${path} ${file}_text)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
        # String literals may not be longer than 64 KiB everywhere; adjacent ones are joined.
        string(REPLACE "[[fit]]" ")toml\"\nR\"toml([[fit]]" ${file}_text "${${file}_text}")
    endforeach()
    file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [=[
// Generated from resources/devices.toml and resources/device_fits.toml.
#pragma once

#include <string_view>

namespace fp8scope::predict {

inline constexpr std::string_view kDevicesToml = R"toml(@devices_text@)toml";
inline constexpr std::string_view kDeviceFitsToml = R"toml(@device_fits_text@)toml";

}  // namespace fp8scope::predict
]=])
endfunction()
