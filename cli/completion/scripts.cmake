# What `sluice completion` prints, as C source.
embed_files(${CMAKE_CURRENT_BINARY_DIR}/completion_scripts.c ${CMAKE_CURRENT_SOURCE_DIR}/completion
  cli/completion/scripts.h embedded COMPLETION_SCRIPTS sluice.bash sluice.zsh sluice.fish)
