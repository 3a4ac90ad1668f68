// SPDX-License-Identifier: Apache-2.0
#include "collector/export/output_file.h"

#include "collector/trace/error.h"

#include <cerrno>
#include <cstring>

namespace fp8scope::exporter {

OutputFile::OutputFile(std::filesystem::path path) : m_path(std::move(path)), m_partial(m_path)
{
    m_partial += ".part";
    // "T" writes plain bytes; level 1, because level 6 takes four times as long for files a fifth smaller.
    m_file = gzopen(m_partial.c_str(), m_path.extension() == ".gz" ? "wb1" : "wbT");
    if (m_file == nullptr)
        fail("written");
    gzbuffer(m_file, 1U << 18);
    m_buffer.reserve(kPieceBytes + (kPieceBytes >> 2));
}

OutputFile::~OutputFile()
{
    if (m_file == nullptr)
        return;
    gzclose(m_file);
    std::error_code ignored;
    std::filesystem::remove(m_partial, ignored);
}

void OutputFile::flush()
{
    if (!m_buffer.empty() && gzwrite(m_file, m_buffer.data(), static_cast<unsigned>(m_buffer.size())) == 0)
        fail("written");
    m_buffer.clear();
}

void OutputFile::close()
{
    flush();
    gzFile file = m_file;
    m_file = nullptr;
    std::error_code error;
    if (gzclose(file) != Z_OK) {
        std::filesystem::remove(m_partial, error);
        fail("written");
    }
    std::filesystem::rename(m_partial, m_path, error);
    if (error) {
        errno = error.value();
        std::filesystem::remove(m_partial, error);
        fail("put in its place");
    }
}

void OutputFile::fail(const char* doing)
{
    throw Error(fmt::format("cannot be {} ({})", doing, std::strerror(errno != 0 ? errno : EIO)), m_path.string(),
                "check the folder's permissions and free space");
}

}  // namespace fp8scope::exporter
