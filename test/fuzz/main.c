/*
 * Replays a corpus: runs the fuzz entry point on each file given, and on each file of each
 * directory given, in the order of their names.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f) {
		perror(path);
		return -1;
	}
	fseek(f, 0, SEEK_END);
	long size = ftell(f);
	rewind(f);
	/* Exactly as large as the input, so that ASan sees one byte too far. */
	uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
	size_t got = data && size > 0 ? fread(data, 1, (size_t)size, f) : 0;
	fclose(f);
	if (data)
		LLVMFuzzerTestOneInput(data, got);
	free(data);
	return 0;
}

static int run_path(const char *path, int *count)
{
	struct stat st;
	struct dirent **names;
	int rc = 0;
	if (stat(path, &st) < 0) {
		perror(path);
		return -1;
	}
	if (!S_ISDIR(st.st_mode)) {
		++*count;
		return run_file(path);
	}
	int n = scandir(path, &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char inner[4096];
		snprintf(inner, sizeof(inner), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.' && run_path(inner, count) < 0)
			rc = -1;
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return n < 0 ? -1 : rc;
}

int main(int argc, char **argv)
{
	int count = 0, rc = argc > 1 ? 0 : 2;
	for (int i = 1; i < argc; i++)
		if (run_path(argv[i], &count) < 0)
			rc = 1;
	printf("%d inputs\n", count);
	return count == 0 ? 2 : rc;
}
