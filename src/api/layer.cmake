# Tests run whole models from the source tree.
if(TARGET api_test)
  target_compile_definitions(api_test PRIVATE SARDONYX_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
endif()
