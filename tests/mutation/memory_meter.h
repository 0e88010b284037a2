#pragma once

#include <cstddef>

namespace sardonyx::mutation {

/// Bytes that operator new has handed out and not got back, and their highest number since reset_peak().
std::size_t memory_in_use();
std::size_t memory_peak();
void reset_peak();
/// From now on operator new fails where more than this would be in use; 0: no limit.
void limit_memory(std::size_t bytes);

}  // namespace sardonyx::mutation
