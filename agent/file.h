/*
 * Small files of the kernel, by directory and name. A directory that is NULL, and a path that is too
 * long, is as a file that is not there.
 */
#ifndef SLUICE_AGENT_FILE_H
#define SLUICE_AGENT_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { FILE_PATH_SIZE = 4096 };

/* Writes "dir/name". False: there is no directory, or no room. */
bool file_path(const char *dir, const char *name, char ret_path[FILE_PATH_SIZE]);
/* Opens a file, with the flags of open(2). Returns it; -1: errno says why. */
int file_open(const char *dir, const char *name, int how);
/* Closes a file, and forgets it: *fd is -1 from now on. -1 is fine. */
void file_close(int *fd);
/* Whether there is such a file or directory. */
bool file_is_there(const char *dir, const char *name);

/* Reads a file from its beginning, as much as there is room for. False: there is nothing, or its
 * last line is not whole. */
bool file_read(int fd, char *ret_text, size_t size);
/* Opens, reads and closes one. */
bool file_read_in(const char *dir, const char *name, char *ret_text, size_t size);

#endif
