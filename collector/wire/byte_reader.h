// SPDX-License-Identifier: Apache-2.0
// Fields out of a record's payload, each checked: the counterpart of the encoder's ByteWriter. Internal to the decoder.
#pragma once

#include "collector/wire/decoder.h"
#include "collector/wire/fields.h"

#include <bit>
#include <utility>

namespace fp8scope::wire {

/// What a ByteReader throws; Decoder adds the record's number and turns it into an Error.
struct Malformed {
    std::string what;
};

class ByteReader {
public:
    ByteReader(std::span<const std::byte> bytes, const Declared& declared) : m_bytes(bytes), m_declared(declared) {}

    void operator()(auto&... values) { (get(values), ...); }

    [[nodiscard]] std::size_t remaining() const { return m_bytes.size(); }

    std::uint8_t byte()
    {
        if (m_bytes.empty())
            throw Malformed{"it ends inside a field"};
        const auto value = static_cast<std::uint8_t>(m_bytes.front());
        m_bytes = m_bytes.subspan(1);
        return value;
    }
    std::uint64_t unsignedInt()
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint8_t bits = byte();
            if (shift == 63 && bits > 1)
                break;
            value |= std::uint64_t{bits & 0x7FU} << shift;
            if ((bits & 0x80U) == 0)
                return value;
        }
        throw Malformed{"a number is longer than 64 bits"};
    }
    std::int64_t signedInt()
    {
        const std::uint64_t bits = unsignedInt();
        return static_cast<std::int64_t>((bits >> 1) ^ ((bits & 1) != 0 ? ~std::uint64_t{0} : 0));
    }

private:
    template <typename T>
    void get(T& value)
    {
        if constexpr (std::is_enum_v<T>) {
            const std::uint8_t code = byte();
            if (code > static_cast<std::uint8_t>(kLastOf<T>))
                throw Malformed{"a field has the unknown value " + std::to_string(code)};
            value = static_cast<T>(code);
        } else if constexpr (std::signed_integral<T>) {
            value = narrow<T>(signedInt());
        } else {
            value = narrow<T>(unsignedInt());
        }
    }
    template <typename T, typename Wide>
    static T narrow(Wide wide)
    {
        if (!std::in_range<T>(wide))
            throw Malformed{"the number " + std::to_string(wide) + " is out of range"};
        return static_cast<T>(wide);
    }
    template <typename Tag>
    void get(Id<Tag>& id)
    {
        const std::uint64_t shifted = unsignedInt();
        if (shifted > declared(id))
            throw Malformed{"it refers to id " + std::to_string(shifted - 1) + ", which was never declared"};
        id = shifted == 0 ? Id<Tag>::none() : Id<Tag>(static_cast<std::uint32_t>(shifted - 1));
    }
    void get(RoleSet& roles)
    {
        const std::uint64_t bits = unsignedInt();
        if (bits >> kRoleCount != 0)
            throw Malformed{"a set of roles holds an unknown one"};
        roles = RoleSet(static_cast<std::uint32_t>(bits));
    }
    void get(bool& value)
    {
        const std::uint8_t code = byte();
        if (code > 1)
            throw Malformed{"a flag is neither 0 nor 1"};
        value = code == 1;
    }
    void get(std::array<std::uint32_t, 3>& values) { (*this)(values[0], values[1], values[2]); }
    void get(std::vector<std::uint64_t>& counts)
    {
        const std::uint64_t size = unsignedInt();
        if (size > remaining() || size > kMaxCounts)
            throw Malformed{"a list of " + std::to_string(size) + " counts does not fit"};
        counts.resize(size);
        for (std::uint64_t& count : counts)
            count = unsignedInt();
    }
    void get(double& value)
    {
        std::uint64_t bits = 0;
        for (unsigned shift = 0; shift < 64; shift += 8)
            bits |= std::uint64_t{byte()} << shift;
        value = std::bit_cast<double>(bits);
    }
    void get(std::string& text)
    {
        const std::uint64_t length = unsignedInt();
        if (length > remaining() || length > kMaxTextBytes)
            throw Malformed{"a text of " + std::to_string(length) + " bytes does not fit"};
        text.assign(reinterpret_cast<const char*>(m_bytes.data()), length);
        m_bytes = m_bytes.subspan(length);
    }

    [[nodiscard]] std::uint32_t declared(LocalDevice) const { return m_declared.devices; }
    [[nodiscard]] std::uint32_t declared(LocalName) const { return m_declared.names; }
    [[nodiscard]] std::uint32_t declared(LocalLaunchShape) const { return m_declared.shapes; }
    [[nodiscard]] std::uint32_t declared(LocalTrack) const { return m_declared.tracks; }
    [[nodiscard]] std::uint32_t declared(LocalLayer) const { return m_declared.layers; }
    [[nodiscard]] std::uint32_t declared(LocalOp) const { return m_declared.ops; }
    [[nodiscard]] std::uint32_t declared(LocalTensor) const { return m_declared.tensors; }

    std::span<const std::byte> m_bytes;
    const Declared& m_declared;
};

}  // namespace fp8scope::wire
