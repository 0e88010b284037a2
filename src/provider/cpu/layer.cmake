# RE2 runs RegexFullMatch: ONNX names its syntax, and its time is linear in the text whatever the pattern.
find_library(RE2_LIBRARY re2 REQUIRED)
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
target_link_libraries(${LAYER_TARGET} PRIVATE ${RE2_LIBRARY})
target_include_directories(${LAYER_TARGET} SYSTEM PRIVATE ${RE2_INCLUDE_DIR})
