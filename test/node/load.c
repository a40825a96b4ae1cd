/*
 * What pods of the tests in user-mode Linux run.
 *
 *     load spin               uses all cpu that it gets
 *     load eat MB MB_PER_S    takes memory at that pace, says "has MB", and keeps it
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PART = 128 << 10, PARTS = (1 << 20) / PART };

static int64_t now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static _Noreturn void spin(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}

/* Takes as much as is due by the clock: a sleep takes 10 ms there. */
static int eat(int64_t mb, int64_t mb_per_s)
{
	int64_t began = now_us(), parts = 0;
	while (parts < mb * PARTS) {
		int64_t due = (now_us() - began) * mb_per_s * PARTS / 1000000;
		for (; parts < due && parts < mb * PARTS; parts++) {
			char *part = malloc(PART);
			if (!part)
				return 1;
			memset(part, 1, PART);
		}
		usleep(1000);
	}
	printf("has %d\n", (int)mb);
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "spin") == 0)
		spin();
	if (argc == 4 && strcmp(argv[1], "eat") == 0)
		return eat(atoi(argv[2]), atoi(argv[3]));
	fprintf(stderr, "load spin | load eat MB MB_PER_S\n");
	return 2;
}
