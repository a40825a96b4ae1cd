/* A file that is compiled into a program (cli/embed.cmake). */
#ifndef SLUICE_BASE_EMBEDDED_H
#define SLUICE_BASE_EMBEDDED_H

struct embedded {
	const char *path; /* in the folder that its table is made of */
	const char *text;
};

#endif
