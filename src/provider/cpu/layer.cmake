# RE2 runs RegexFullMatch: ONNX names its syntax, and its time is linear in the text whatever the pattern.
find_library(RE2_LIBRARY re2 REQUIRED)
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
target_link_libraries(${LAYER_TARGET} PRIVATE ${RE2_LIBRARY})
target_include_directories(${LAYER_TARGET} SYSTEM PRIVATE ${RE2_INCLUDE_DIR})

# ImageDecoder's formats; BMP and PNM are read by the layer itself.
find_package(PNG REQUIRED)
find_package(TIFF REQUIRED)
find_library(TURBOJPEG_LIBRARY turbojpeg REQUIRED)
find_library(WEBP_LIBRARY webp REQUIRED)
find_library(OPENJPEG_LIBRARY openjp2 REQUIRED)
find_path(OPENJPEG_INCLUDE_DIR openjpeg.h PATH_SUFFIXES openjpeg-2.5 openjpeg-2.4 REQUIRED)
target_link_libraries(${LAYER_TARGET} PRIVATE PNG::PNG TIFF::TIFF ${TURBOJPEG_LIBRARY} ${WEBP_LIBRARY} ${OPENJPEG_LIBRARY})
target_include_directories(${LAYER_TARGET} SYSTEM PRIVATE ${OPENJPEG_INCLUDE_DIR})
