#include "cli/top/terminal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define ENTER "\033[?1049h\033[?25l" /* the other page; no cursor */
#define LEAVE "\033[0m\033[?25h\033[?1049l"

static const int ENDS[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS};

static struct termios before, during;
static volatile sig_atomic_t is_entered;

bool terminal_is_there(void)
{
	const char *term = getenv("TERM");
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

struct terminal_size terminal_size_now(void)
{
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
		return (struct terminal_size){24, 80};
	return (struct terminal_size){size.ws_row, size.ws_col};
}

/* Only calls that a signal may make. */
static void send(const char *text)
{
	size_t len = strlen(text);
	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, text, len);
		if (n <= 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

void terminal_leave(void)
{
	if (!is_entered)
		return;
	is_entered = 0;
	send(LEAVE);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

static void enter(void)
{
	tcsetattr(STDIN_FILENO, TCSADRAIN, &during);
	send(ENTER);
	is_entered = 1;
}

/* Ends the program by the signal, as it would without us. */
static void on_end(int signal_number)
{
	terminal_leave();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* Stops as Ctrl-Z does, and goes on here when told to; the lines are drawn anew. */
static void on_stop(int signal_number)
{
	(void)signal_number;
	terminal_leave();
	raise(SIGSTOP);
	enter();
	raise(SIGWINCH);
}

static void handle(int signal_number, void (*handler)(int))
{
	struct sigaction a = {.sa_handler = handler};
	sigemptyset(&a.sa_mask);
	sigaction(signal_number, &a, NULL);
}

void terminal_enter(void)
{
	tcgetattr(STDIN_FILENO, &before);
	during = before;
	during.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	during.c_cc[VMIN] = 1;
	during.c_cc[VTIME] = 0;
	atexit(terminal_leave);
	for (size_t i = 0; i < sizeof(ENDS) / sizeof(ENDS[0]); i++)
		handle(ENDS[i], on_end);
	handle(SIGTSTP, on_stop);
	enter();
}

void terminal_draw(const char *lines)
{
	fputs("\033[H", stdout);
	for (const char *at = lines; *at;) {
		size_t len = strcspn(at, "\n");
		bool is_last = at[len] == '\0' || at[len + 1] == '\0';
		fwrite(at, 1, len, stdout);
		fputs(is_last ? "\033[K" : "\033[K\r\n", stdout);
		at += len + (at[len] == '\n');
	}
	fputs("\033[J", stdout);
	fflush(stdout);
}
