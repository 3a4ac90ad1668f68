// SPDX-License-Identifier: Apache-2.0
#include "collector/import/kineto_block.h"

#include "collector/import/kineto_builder.h"
#include "collector/import/mend_json.h"

#include <simdjson.h>

#include <algorithm>
#include <string>

namespace fp8scope::import {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kNone = std::string_view::npos;

constexpr bool isSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// simdjson gives a key as a pointer behind its first quote; no key that matters has an escape.
std::string_view keyOf(ondemand::field& field)
{
    const char* const begin = field.key().raw();
    const char* end = begin;
    while (*end != '"' && *end != '\\' && *end != '\0')
        ++end;
    return {begin, static_cast<std::size_t>(end - begin)};
}

/// A value as it is printed; false if the text breaks inside of it.
bool rawOf(ondemand::value value, RawValue& raw)
{
    const std::string_view token = value.raw_json_token();
    if (token.empty())
        return false;
    if (token.front() == '{') {
        ondemand::object object;
        return value.get_object().get(object) == simdjson::SUCCESS &&
               object.raw_json().get(raw.text) == simdjson::SUCCESS;
    }
    if (token.front() == '[') {
        ondemand::array array;
        return value.get_array().get(array) == simdjson::SUCCESS && array.raw_json().get(raw.text) == simdjson::SUCCESS;
    }
    std::size_t size = token.size();
    while (size > 0 && isSpace(token[size - 1]))
        --size;
    raw.text = token.substr(0, size);
    if (raw.text == "null")
        raw.text = {};
    return true;
}

bool readArgs(ondemand::object args, EventText& event)
{
    for (auto result : args) {
        ondemand::field field;
        if (std::move(result).get(field) != simdjson::SUCCESS)
            return false;
        const ArgKey key = argKeyOf(keyOf(field));
        if (key != ArgKey::None && !rawOf(field.value(), event.args[static_cast<std::size_t>(key)]))
            return false;
    }
    return true;
}

}  // namespace

/// simdjson's on-demand parser over text that is well formed, as nearly all is.
class KinetoBlockParser::Fast {
public:
    /// Adds the events of a padded array. False where the text is no JSON; `end`: as KinetoBlockParser::parse, but from
    /// the array's own beginning.
    bool read(std::string_view array, std::size_t allocated, KinetoBuilder& builder, std::size_t& end)
    {
        ondemand::document document;
        ondemand::array events;
        if (m_parser.iterate(array.data(), array.size(), allocated).get(document) != simdjson::SUCCESS ||
            document.get_array().get(events) != simdjson::SUCCESS)
            return false;
        for (auto element : events) {
            ondemand::value value;
            if (std::move(element).get(value) != simdjson::SUCCESS || !readElement(value, builder))
                return false;
        }
        const char* rest = nullptr;
        end = document.current_location().get(rest) == simdjson::SUCCESS ? static_cast<std::size_t>(rest - array.data())
                                                                         : kNone;
        return true;
    }

private:
    bool readElement(ondemand::value value, KinetoBuilder& builder)
    {
        EventText event;
        ondemand::object object;
        if (value.raw_json_token().starts_with('{')) {
            if (value.get_object().get(object) != simdjson::SUCCESS || !readEvent(object, event))
                return false;
        } else {
            RawValue ignored;
            if (!rawOf(value, ignored))
                return false;
        }
        if (event.phase() == 'C')
            return readCounters(event, builder);
        if (!event.argsObject.empty() && !readLateArgs(event))
            return false;
        builder.add(event);
        return true;
    }

    static bool readEvent(ondemand::object object, EventText& event)
    {
        for (auto result : object) {
            ondemand::field field;
            if (std::move(result).get(field) != simdjson::SUCCESS)
                return false;
            const EventKey key = eventKeyOf(keyOf(field));
            if (key == EventKey::None)
                continue;
            ondemand::value value = field.value();
            if (key != EventKey::Args) {
                if (!rawOf(value, event.event[static_cast<std::size_t>(key)]))
                    return false;
                continue;
            }
            ondemand::object args;
            if (!value.raw_json_token().starts_with('{') || value.get_object().get(args) != simdjson::SUCCESS)
                continue;
            // The args of a counter are names and values, and until the phase is known this may be one.
            const char phase = event.phase();
            if (phase == '\0' || phase == 'C') {
                if (args.raw_json().get(event.argsObject) != simdjson::SUCCESS)
                    return false;
            } else if (!readArgs(args, event)) {
                return false;
            }
        }
        return true;
    }

    simdjson::error_code openArgs(std::string_view text, ondemand::document& document, ondemand::object& args)
    {
        const simdjson::error_code error =
            m_argsParser.iterate(text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING).get(document);
        return error != simdjson::SUCCESS ? error : document.get_object().get(args);
    }

    bool readLateArgs(EventText& event)
    {
        ondemand::document document;
        ondemand::object args;
        return openArgs(event.argsObject, document, args) == simdjson::SUCCESS && readArgs(args, event);
    }

    bool readCounters(const EventText& event, KinetoBuilder& builder)
    {
        ondemand::document document;
        ondemand::object args;
        if (event.argsObject.empty() || openArgs(event.argsObject, document, args) != simdjson::SUCCESS)
            return true;
        for (auto result : args) {
            ondemand::field field;
            RawValue value;
            if (std::move(result).get(field) != simdjson::SUCCESS)
                return false;
            const char* const key = field.key().raw();
            const char* end = key;
            while (*end != '"' && *end != '\0')
                end += *end == '\\' && end[1] != '\0' ? 2 : 1;
            if (!rawOf(field.value(), value))
                return false;
            builder.addCounter(event, {key - 1, static_cast<std::size_t>(end - key) + 2}, value.text);
        }
        return true;
    }

    ondemand::parser m_parser, m_argsParser;
};

/// Event by event, for text in which something is broken.
class KinetoBlockParser::Careful {
public:
    Careful(Fast& fast, KinetoChunk& chunk) : m_fast(fast), m_chunk(chunk), m_builder(chunk) {}

    std::size_t read(std::string_view text)
    {
        for (std::size_t at = 0; at < text.size();) {
            const char c = text[at];
            if (c == ']')
                return at + 1;
            if (c == '{')
                at = readOne(text, at);
            else
                at += 1;  // blanks and commas, and rubbish between events
            if (m_ended != kNone)
                return m_ended;
        }
        return kNone;
    }

private:
    static constexpr std::size_t kLongestEvent = std::size_t{1} << 20;
    static constexpr std::size_t kLeastLook = std::size_t{4} << 10;

    /// Reads the event that begins at `at` and gives where to go on.
    std::size_t readOne(std::string_view text, std::size_t at)
    {
        const std::size_t strict = endOfObject(text.substr(at, m_look));
        if (strict != kNone && parses(text.substr(at, strict)))
            return at + strict;
        // Where many events are broken, looking far behind each would take as long as the block is long, squared.
        m_look = std::max(m_look / 2, kLeastLook);
        const std::size_t border = nextEventBorder(text, at + 1);
        std::string_view piece = text.substr(at, border == kNone ? kNone : border - at);
        if (border == kNone) {
            const std::size_t close = endOfArray(piece);
            m_ended = close == kNone ? kNone : at + close + 1;
            piece = piece.substr(0, close);
        }
        while (!piece.empty() && (isSpace(piece.back()) || piece.back() == ','))
            piece.remove_suffix(1);
        countOddity(m_chunk.oddities, parses(mendedJson(piece)) ? kMended : kUnreadable);
        return border == kNone ? text.size() : border;
    }

    /// Adds the event if it is one well formed object.
    bool parses(std::string_view object)
    {
        m_text.assign("[").append(object).append("]");
        const std::size_t size = m_text.size();
        m_text.append(EventBlock::kPadding, '\0');
        std::size_t end = kNone;
        return m_fast.read({m_text.data(), size}, m_text.size(), m_builder, end) && end == kNone;
    }

    /// Behind the '}' of the object that `text` begins with.
    static std::size_t endOfObject(std::string_view text)
    {
        int depth = 0;
        bool inString = false;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            if (inString) {
                i += c == '\\' ? 1 : 0;
                inString = c != '"';
            } else if (c == '"') {
                inString = true;
            } else if (c == '{' || c == '[') {
                ++depth;
            } else if ((c == '}' || c == ']') && --depth == 0) {
                return i + 1;
            }
        }
        return kNone;
    }

    /// The ']' behind a '}' that is followed by the next key of the file, or its end.
    static std::size_t endOfArray(std::string_view text)
    {
        for (std::size_t at = text.find(']'); at != kNone; at = text.find(']', at + 1)) {
            std::size_t before = at;
            while (before > 0 && isSpace(text[before - 1]))
                --before;
            const std::size_t after = std::min(text.find_first_not_of(" \n\r\t", at + 1), text.size());
            if (before > 0 && text[before - 1] == '}' &&
                (after == text.size() || text[after] == ',' || text[after] == '}'))
                return at;
        }
        return kNone;
    }

    Fast& m_fast;
    KinetoChunk& m_chunk;
    KinetoBuilder m_builder;
    std::string m_text;
    std::size_t m_look = kLongestEvent;
    std::size_t m_ended = kNone;
};

KinetoBlockParser::KinetoBlockParser() : m_fast(std::make_unique<Fast>()) {}
KinetoBlockParser::~KinetoBlockParser() = default;

std::size_t KinetoBlockParser::parse(const EventBlock& block, KinetoChunk& chunk)
{
    std::size_t end = kNone;
    bool whole = false;
    {
        KinetoBuilder builder(chunk);
        whole = m_fast->read(block.array(), block.allocated(), builder, end);
    }
    if (whole)
        return end == kNone ? kNone : end - 1;  // text() begins behind the '['
    chunk = KinetoChunk{};
    return Careful(*m_fast, chunk).read(block.text());
}

}  // namespace fp8scope::import
