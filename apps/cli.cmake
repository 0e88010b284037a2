# The commands, and the program made of them.
find_package(CLI11 REQUIRED)
sardonyx_layer(cli DIR apps/cli DEPS values server LIBS PRIVATE CLI11::CLI11)

add_executable(sardonyx main.cc)
target_link_libraries(sardonyx PRIVATE sardonyx_cli CLI11::CLI11)
target_compile_definitions(sardonyx PRIVATE SARDONYX_VERSION="${PROJECT_VERSION}")
