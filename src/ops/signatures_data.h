#pragma once

namespace sardonyx::ops {

// The generated tables (signatures_data.cc), each ended by a null pointer.
extern const char* const kTypeSets[];
extern const char* const kSignatureRows[];

}  // namespace sardonyx::ops
