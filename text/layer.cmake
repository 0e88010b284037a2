find_package(simdjson REQUIRED)
find_library(ONIGURUMA onig REQUIRED)
target_link_libraries(${LAYER_TARGET} PRIVATE simdjson::simdjson ${ONIGURUMA})
