// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/classify/kernel_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <utility>
#include <vector>

namespace fp8scope::analysis {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::size_t kLongestDemangled = 32768;  // longer text is no name that a compiler made

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

/// Whether a number at `i` is a template argument ("Lj128E", "E2E") and not the length of an identifier.
bool isLiteral(std::string_view mangled, std::size_t i, std::size_t end)
{
    const bool afterType = i >= 2 && mangled[i - 2] == 'L' && std::islower(static_cast<unsigned char>(mangled[i - 1]));
    return end < mangled.size() && mangled[end] == 'E' && (afterType || mangled[i - 1] == 'E');
}

/// The identifiers of a mangled name that is not whole: each is written with its length before it.
std::string identifiersOf(std::string_view mangled)
{
    std::string path;
    for (std::size_t i = 2; i < mangled.size();) {
        std::size_t end = i;
        std::size_t length = 0;
        for (; end < mangled.size() && isDigit(mangled[end]) && length < mangled.size(); ++end)
            length = 10 * length + static_cast<std::size_t>(mangled[end] - '0');
        const std::string_view identifier = mangled.substr(end, length);
        const bool isIdentifier = !identifier.empty() && isWord(identifier.front()) && !isDigit(identifier.front()) &&
                                  !isLiteral(mangled, i, end);
        if (isIdentifier) {
            path += path.empty() ? "" : "::";
            path += identifier;
            end += identifier.size();
        }
        i = std::max(end, i + 1);
    }
    return path;
}

std::string demangled(std::string_view raw)
{
    if (!raw.starts_with("_Z") || raw.size() > kLongestDemangled)
        return std::string(raw);
    const std::string mangled(raw);
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    if (status == 0 && text)
        return text.get();
    std::string identifiers = identifiersOf(raw);
    return identifiers.empty() ? mangled : identifiers;
}

/// "(unsigned long)4096" as "4096ul". Returns the characters read, 0 where `in` does not start with such a literal.
std::size_t typedLiteral(std::string_view in, std::string& out)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSuffix{
        {{"(int)", ""},
         {"(unsigned int)", "u"},
         {"(long)", "l"},
         {"(unsigned long)", "ul"},
         {"(bool)", ""},
         {"(unsigned long long)", "ull"}}};
    for (const auto& [cast, suffix] : kSuffix) {
        if (!in.starts_with(cast))
            continue;
        std::size_t end = cast.size();
        if (end < in.size() && in[end] == '-')
            ++end;
        const std::size_t digits = end;
        while (end < in.size() && isDigit(in[end]))
            ++end;
        if (end == digits)
            return 0;
        const std::string_view number = in.substr(cast.size(), end - cast.size());
        if (cast == "(bool)") {
            out += number == "0" ? "false" : "true";
        } else {
            out += number;
            out += suffix;
        }
        return end;
    }
    return 0;
}

/// "[lambda(float) (instance 2)]" as "{lambda(float)#2}".
std::size_t lambda(std::string_view in, std::string& out)
{
    constexpr std::string_view kInstance = " (instance ";
    if (!in.starts_with("[lambda("))
        return 0;
    const std::size_t instance = in.find(kInstance);
    const std::size_t end = instance == std::string_view::npos ? instance : in.find(")]", instance);
    if (end == std::string_view::npos || in.substr(1, instance).find('[') != std::string_view::npos)
        return 0;
    out += '{';
    out += in.substr(1, instance - 1);
    out += '#';
    out += in.substr(instance + kInstance.size(), end - instance - kInstance.size());
    out += '}';
    return end + 2;
}

/// clang's "'lambda0'(float)" as "{lambda(float)#2}": its first has no number.
std::size_t clangLambda(std::string_view in, std::string& out)
{
    constexpr std::string_view kLambda = "'lambda";
    if (!in.starts_with(kLambda))
        return 0;
    std::size_t end = kLambda.size();
    std::size_t number = 0;
    for (; end < in.size() && isDigit(in[end]) && number < 1000; ++end)
        number = 10 * number + static_cast<std::size_t>(in[end] - '0');
    const bool isFirst = end == kLambda.size();
    const std::size_t close = in.find(')', end);
    if (!in.substr(end).starts_with("'(") || close == std::string_view::npos)
        return 0;
    out += "{lambda";
    out += in.substr(end + 1, close - end);
    out += '#';
    out += std::to_string(isFirst ? 1 : number + 2);
    out += '}';
    return close + 1;
}

/// Nsight's spelling as the PyTorch profiler's; a name in the latter stays as it is.
std::string inOneSpelling(std::string_view in)
{
    std::string out;
    out.reserve(in.size());
    for (std::size_t i = 0; i < in.size();) {
        const std::string_view rest = in.substr(i);
        std::size_t read = 0;
        if (rest[0] == '(')
            read = typedLiteral(rest, out);
        else if (rest[0] == '[')
            read = lambda(rest, out);
        else if (rest[0] == '\'')
            read = clangLambda(rest, out);
        else if (rest[0] == '<' && rest.starts_with("<unnamed>")) {
            out += kAnonymous;
            read = 9;
        } else if (rest[0] == 'o' && rest.starts_with("operator ()")) {
            out += "operator()";
            read = 11;
        } else if (rest[0] == ' ' && rest.size() > 1 && (rest[1] == '*' || rest[1] == '&') && i > 0) {
            read = isWord(in[i - 1]) || in[i - 1] == '>' ? 1 : 0;  // "char *" as "char*", but not "a && b"
        } else if (rest[0] == '>' && rest.starts_with(">>")) {
            out += "> ";
            read = 1;
        }
        if (read == 0) {
            out += rest[0];
            read = 1;
        }
        i += read;
    }
    return out;
}

/// Follows brackets through a name. A '>' closes only a '<' that is innermost: "(8)>(0)" is a comparison.
class Brackets {
public:
    void read(std::string_view text, std::size_t i)
    {
        const char c = text[i];
        if (c == '(' || c == '{' || c == '[') {
            m_open.push_back(c);
        } else if (c == '<') {
            const bool compares = i > 0 && text[i - 1] == ')' && !text.substr(0, i).ends_with("operator()");
            if (!compares)
                m_open.push_back(c);
        } else if (c == '>') {
            if (!m_open.empty() && m_open.back() == '<' && text[i - 1] != '-')
                m_open.pop_back();
        } else if (c == ')' || c == '}' || c == ']') {
            close(c == ')' ? '(' : c == '}' ? '{' : '[');
        }
    }
    [[nodiscard]] bool outside() const { return m_open.empty(); }

private:
    void close(char opener)
    {
        while (!m_open.empty() && m_open.back() != opener)
            m_open.pop_back();
        if (!m_open.empty())
            m_open.pop_back();
    }
    std::vector<char> m_open;
};

/// AMD's tools write the code object's symbol, "name.kd" or "name [clone .kd]".
std::string_view withoutSuffix(std::string_view raw)
{
    for (const std::string_view suffix : {" [clone .kd]", ".kd"}) {
        if (raw.ends_with(suffix))
            return raw.substr(0, raw.size() - suffix.size());
    }
    return raw;
}

/// "moe::dev::routingIndicesKernel" as "moe dev routing indices kernel".
void appendWords(std::string_view path, std::string& words)
{
    char before = '\0';
    for (std::size_t i = 0; i < path.size(); ++i) {
        const char c = path[i];
        const auto byte = static_cast<unsigned char>(c);
        const bool upper = std::isupper(byte) != 0;
        const bool nextLower = i + 1 < path.size() && std::islower(static_cast<unsigned char>(path[i + 1])) != 0;
        const bool beforeUpper = std::isupper(static_cast<unsigned char>(before)) != 0;
        const bool begins =
            upper && std::isalnum(static_cast<unsigned char>(before)) != 0 && (!beforeUpper || nextLower);
        const bool separates = std::isalnum(byte) == 0;
        if ((begins || separates) && !words.empty() && words.back() != ' ')
            words += ' ';
        if (!separates)
            words += static_cast<char>(std::tolower(byte));
        before = c;
    }
    if (!words.empty() && words.back() != ' ')
        words += ' ';
}

constexpr std::size_t kWrappedPath = 200;  // longer than any path; the rest is types

bool wrapsAnother(std::string_view function)
{
    for (const std::string_view wrapper : {"device_kernel", "Kernel", "Kernel2", "kentry", "kernel_entry", "kentry2"}) {
        if (function == wrapper ||
            (function.ends_with(wrapper) && function[function.size() - wrapper.size() - 1] == ':'))
            return true;
    }
    return false;
}

}  // namespace

KernelName::KernelName(std::string_view raw) : m_text(inOneSpelling(demangled(withoutSuffix(raw))))
{
    takeApart();
    listWords();
}

void KernelName::listWords()
{
    appendWords(function(), m_words);
    if (wrapsAnother(function()))
        appendWords(templateArguments().substr(0, kWrappedPath), m_words);
}

void KernelName::takeApart()
{
    const std::string_view text = m_text;
    Brackets brackets;
    std::size_t end = text.size();       // of what stands before the parameters
    std::size_t lastOpen = text.size();  // the outermost '<' seen last
    std::size_t begin = 0;               // after the outermost space seen last: a return type ends there
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (brackets.outside()) {
            if (text[i] == '(' && text.substr(i).starts_with(kAnonymous)) {
                i += kAnonymous.size() - 1;
                continue;
            }
            if (text[i] == '(' || text[i] == '[') {
                end = i;
                break;
            }
            if (text[i] == '<')
                lastOpen = i;
            if (text[i] == ' ' && i + 1 < text.size() && (isWord(text[i + 1]) || text[i + 1] == '(')) {
                begin = i + 1;
                lastOpen = text.size();
            }
        }
        brackets.read(text, i);
    }
    m_functionBegin = begin < end ? begin : 0;
    m_functionEnd = std::min(end, lastOpen);
    if (lastOpen < end) {
        m_argumentsBegin = lastOpen + 1;
        m_argumentsEnd = end > lastOpen + 1 && text[end - 1] == '>' ? end - 1 : end;
    }
    while (m_functionEnd > m_functionBegin && text[m_functionEnd - 1] == ' ')
        --m_functionEnd;
}

}  // namespace fp8scope::analysis
