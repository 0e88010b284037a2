#pragma once

#include <cstddef>

namespace sardonyx {

/// Gives the memory of the whole pages inside [data, data + bytes) back where they belong to a live FileMapping, and does
/// nothing for other memory. Their content stays readable: it is read from the file again. Call it for weights that have been
/// packed, through whatever view of them is at hand. Thread-safe.
void give_back_mapped_pages(const void* data, std::size_t bytes) noexcept;

}  // namespace sardonyx
