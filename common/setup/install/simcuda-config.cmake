# find_package(simcuda) - the runtime of the simulated GPU as simcuda::simcuda, and its compiler as
# SIMCUDA_NVCC.  Projects that only set CMAKE_CUDA_COMPILER do not need this package.
get_filename_component(_simcuda_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(SIMCUDA_NVCC "${_simcuda_prefix}/bin/simnvcc")
if(NOT TARGET simcuda::simcuda)
    add_library(simcuda::simcuda INTERFACE IMPORTED)
    set_target_properties(simcuda::simcuda PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${_simcuda_prefix}/include;@CUDA_INCLUDE@"
        INTERFACE_LINK_LIBRARIES "${_simcuda_prefix}/lib/simcuda/simnvcc/libcudart_static.a")
endif()
unset(_simcuda_prefix)
