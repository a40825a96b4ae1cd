# Golden files: golden.h says what they are and how to renew them.
add_library(golden STATIC ${CMAKE_CURRENT_LIST_DIR}/golden.c)
target_compile_definitions(golden PRIVATE GOLDEN_DIR="${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(golden PUBLIC base)
