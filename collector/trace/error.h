// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace fp8scope {

/// The project's one exception: what went wrong, where, and what to do about it.
/// Thrown by readers, parsers and runners; caught at a program's edge or a worker's end; crosses no C boundary or
/// thread.
class Error : public std::runtime_error {
public:
    /// `what`: the failure in one clause; `where`: file, line, key or place (may be empty); `mend`: what the user can
    /// do.
    Error(std::string what, std::string where, std::string mend)
        : std::runtime_error(compose(what, where, mend)), m_what(std::move(what)), m_where(std::move(where)),
          m_mend(std::move(mend))
    {}

    [[nodiscard]] const std::string& problem() const { return m_what; }
    [[nodiscard]] const std::string& where() const { return m_where; }
    [[nodiscard]] const std::string& mend() const { return m_mend; }

private:
    static std::string compose(const std::string& what, const std::string& where, const std::string& mend)
    {
        std::string text = where.empty() ? what : where + ": " + what;
        if (!mend.empty())
            text += "; " + mend;
        return text;
    }

    std::string m_what;
    std::string m_where;
    std::string m_mend;
};

}  // namespace fp8scope
