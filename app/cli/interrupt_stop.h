// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <thread>

namespace fp8scope::cli {

/// Ctrl-C asks the work to stop at the next good moment; a second one ends this program as usual.
class InterruptStop {
public:
    InterruptStop();
    [[nodiscard]] std::stop_token token() const { return m_stop.get_token(); }

private:
    std::stop_source m_stop;
    std::jthread m_watcher;
};

}  // namespace fp8scope::cli
