// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/classify/nvjet_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace fp8scope::analysis {
namespace {

std::vector<std::string_view> split(std::string_view text, char at)
{
    std::vector<std::string_view> words;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(at, begin), text.size());
        words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

std::string_view elementOf(char letter)
{
    switch (letter) {
    case 'q': return "e4m3";
    case 'r': return "e5m2";
    case 'o': return "e2m1";
    case 't': return "bf16";
    case 'h': return "f16";
    case 's': return "f32";
    case 'd': return "f64";
    case 'b': return "int8";
    case 'i': return "int32";
    default: return {};
    }
}

/// "tst": operands, compute, result. "qqtst": A, B, C, compute, D.
std::optional<GemmTypes> typesOf(std::string_view tag)
{
    if (tag.size() != 3 && tag.size() != 5)
        return std::nullopt;
    if (!std::all_of(tag.begin(), tag.end(), [](char c) { return !elementOf(c).empty(); }))
        return std::nullopt;
    const char b = tag.size() == 3 ? tag[0] : tag[1];
    return GemmTypes{elementOf(tag[0]), elementOf(b), elementOf(tag.back())};
}

/// "128x256": two numbers; what follows the second ("4x1f") is ignored.
bool readPair(std::string_view word, std::int32_t& first, std::int32_t& second)
{
    const std::size_t x = word.find('x');
    if (x == std::string_view::npos)
        return false;
    const auto number = [](std::string_view text, std::int32_t& value) {
        return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
    };
    return number(word.substr(0, x), first) && number(word.substr(x + 1), second);
}

NvjetScaling scalingOf(std::string_view word)
{
    if (word.find("UE8M0") != std::string_view::npos)
        return NvjetScaling::Mxfp8;
    if (word.find("UE4M3") != std::string_view::npos)
        return NvjetScaling::Nvfp4;
    for (const std::string_view block : {"Avec128", "Bvec128", "Ablk128", "Bblk128"}) {
        if (word.starts_with(block))
            return NvjetScaling::Block128;
    }
    return word == "ovscale" ? NvjetScaling::OuterVector : NvjetScaling::None;
}

/// "bias", "relubias", "gelubias", "geluauxbias", "drelu", "bgradb", ...: the words that make up an epilogue's name.
RoleSet epilogueOf(std::string_view word)
{
    static constexpr std::array<std::pair<std::string_view, Role>, 6> kParts{{{"dgelu", Role::ActivationGrad},
                                                                              {"drelu", Role::ActivationGrad},
                                                                              {"bgrad", Role::BiasGrad},
                                                                              {"gelu", Role::Activation},
                                                                              {"relu", Role::Activation},
                                                                              {"bias", Role::Bias}}};
    RoleSet roles;
    while (!word.empty()) {
        const auto part =
            std::find_if(kParts.begin(), kParts.end(), [&](const auto& p) { return word.starts_with(p.first); });
        if (part != kParts.end())
            roles.insert(part->second);
        word.remove_prefix(part != kParts.end() ? part->first.size() : 1);
    }
    return roles;
}

void readVariant(std::string_view word, NvjetName& name)
{
    name.twoSm |= word == "2cta";
    name.accumulates |= word == "badd";
    name.splitK |= word == "splitK";
    name.grouped |= word == "ptrGroup";
    if (const NvjetScaling scaling = scalingOf(word); scaling != NvjetScaling::None)
        name.scaling = scaling;
    name.epilogue = RoleSet(name.epilogue.bits() | epilogueOf(word).bits());
    const bool isLayouts = word.size() == 3 && word.find_first_not_of("NT") == std::string_view::npos;
    if (isLayouts)
        name.layouts = word;
}

}  // namespace

std::optional<NvjetName> parseNvjetName(std::string_view text)
{
    const std::vector<std::string_view> words = split(text, '_');
    std::size_t at = 1;
    if (words.size() < 2 || words[0] != "nvjet")
        return std::nullopt;
    NvjetName name;
    if (words[at].starts_with("sm") && words[at].size() > 2 && words[at][2] >= '0' && words[at][2] <= '9')
        name.arch = words[at++];
    const std::optional<GemmTypes> types = at < words.size() ? typesOf(words[at++]) : std::nullopt;
    if (!types)
        return std::nullopt;
    name.types = *types;
    if (at < words.size() && words[at] == "tf32") {
        name.types.a = name.types.b = "tf32";
        ++at;
    }
    std::array<std::pair<std::int32_t*, std::int32_t*>, 3> pairs{
        {{&name.tileM, &name.tileN}, {&name.tileK, &name.stages}, {&name.clusterM, &name.clusterN}}};
    for (auto& [first, second] : pairs) {
        if (at < words.size() && readPair(words[at], *first, *second))
            ++at;
    }
    for (; at < words.size(); ++at)
        readVariant(words[at], name);
    if (name.scaling == NvjetScaling::None && precisionOf(name.types) == Precision::Fp8)
        name.scaling = NvjetScaling::Tensorwise;
    return name;
}

}  // namespace fp8scope::analysis
