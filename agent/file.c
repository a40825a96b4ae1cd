#include "agent/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

bool file_path(const char *dir, const char *name, char ret_path[FILE_PATH_SIZE])
{
	int len = dir ? snprintf(ret_path, FILE_PATH_SIZE, "%s/%s", dir, name) : -1;
	if (len >= 0 && len < FILE_PATH_SIZE)
		return true;
	errno = dir ? ENAMETOOLONG : ENOENT;
	return false;
}

int file_open(const char *dir, const char *name, int how)
{
	char path[FILE_PATH_SIZE];
	return file_path(dir, name, path) ? open(path, how | O_CLOEXEC, 0600) : -1;
}

void file_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

bool file_is_there(const char *dir, const char *name)
{
	char path[FILE_PATH_SIZE];
	return file_path(dir, name, path) && access(path, F_OK) == 0;
}

bool file_read(int fd, char *ret_text, size_t size)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, ret_text, size - 1, 0);
	if (n <= 0 || (ret_text[n - 1] != '\n' && (size_t)n < size - 1))
		return false;
	ret_text[n] = '\0';
	return true;
}

bool file_read_in(const char *dir, const char *name, char *ret_text, size_t size)
{
	int fd = file_open(dir, name, O_RDONLY);
	bool read = file_read(fd, ret_text, size);
	file_close(&fd);
	return read;
}
