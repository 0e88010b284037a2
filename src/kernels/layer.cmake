# Every *.simd.cc file is compiled once per instruction set, into the namespace of that name, and all of them are linked into
# the layer; src/kernels/simd/dispatch.h chooses at run time.
file(GLOB_RECURSE simd_sources CONFIGURE_DEPENDS ${dir}/*.simd.cc)

# Files that gain from AVX-512 VNNI; the others run their avx512 form there.
set(vnni_sources ${simd_sources})
list(FILTER vnni_sources INCLUDE REGEX "/integer_gemm[^/]*\\.simd\\.cc$")

function(sardonyx_simd_variant VARIANT SOURCES)
  if(NOT SOURCES)
    return()
  endif()
  add_library(sardonyx_kernels_${VARIANT} OBJECT ${SOURCES})
  target_include_directories(sardonyx_kernels_${VARIANT} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_definitions(sardonyx_kernels_${VARIANT} PRIVATE SARDONYX_VARIANT=${VARIANT})
  target_compile_options(sardonyx_kernels_${VARIANT} PRIVATE -Wno-psabi ${ARGN})
  if(SARDONYX_SANITIZE)
    # Unrolled vector code takes minutes a file with every check at full optimisation: addresses and races are checked, plain
    # arithmetic is not.
    target_compile_options(sardonyx_kernels_${VARIANT} PRIVATE -O1 -fno-sanitize=undefined)
  endif()
  target_sources(sardonyx_kernels PRIVATE $<TARGET_OBJECTS:sardonyx_kernels_${VARIANT}>)
  find_program(NM NAMES nm llvm-nm)
  if(NM)
    add_test(NAME kernels.symbols.${VARIANT}
             COMMAND ${CMAKE_SOURCE_DIR}/tools/check_weak_symbols.py --nm ${NM} --variant ${VARIANT}
                     $<TARGET_OBJECTS:sardonyx_kernels_${VARIANT}>
             COMMAND_EXPAND_LISTS)
  endif()
endfunction()

sardonyx_simd_variant(generic "${simd_sources}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # g++ 12 takes the deliberately undefined operands inside its own AVX-512 intrinsics for uninitialised variables.
  set(avx512 -Wno-maybe-uninitialized -Wno-uninitialized -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
  sardonyx_simd_variant(avx2 "${simd_sources}" -mavx2 -mfma -mf16c)
  sardonyx_simd_variant(avx512 "${simd_sources}" ${avx512})
  sardonyx_simd_variant(avx512vnni "${vnni_sources}" ${avx512} -mavx512vnni)
endif()
