// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/log.h"
#include "run/options.h"
#include "scratch.h"
#include "test.h"

/* A command line. */
#define WORDS(...) ((char **)(const char *const[]){ "trial", __VA_ARGS__, NULL })

static const char *const colours[] = { "red", "green", NULL };

struct trial_options {
	struct common_options common;
	bool fails;
	struct optional_count top;
	struct optional_time interval;
	uint64_t slower;
	uint64_t room;
	const char *name;
	int colour;
};

#define ROW(row_name, row_letter, row_type, field, row_argument, ...)                              \
	{                                                                                          \
		.name = row_name, .letter = row_letter, .group = OPTION_REPORT, .type = row_type,  \
		.offset = offsetof(struct trial_options, field), .argument = row_argument,         \
		.help = "Help on " row_name, __VA_ARGS__                                           \
	}

static const struct option_row trial_rows[] = {
	ROW("fails", 'x', OPTION_FLAG, fails, NULL, ),
	ROW("top", 0, OPTION_COUNT, top, "N", .min = 1, .max = 100),
	ROW("interval", 'i', OPTION_DURATION, interval, "TIME", .min = 1000000, .max = 60000000000),
	ROW("slower", 0, OPTION_THRESHOLD, slower, "TIME", .excludes = "top"),
	ROW("room", 0, OPTION_SIZE, room, "SIZE", ),
	ROW("name", 'n', OPTION_TEXT, name, "TEXT", ),
	ROW("colour", 0, OPTION_CHOICE, colour, "COLOUR", .choices = colours),
};

static const struct option_letter trial_letters[] = {
	{ 'p', "pid" },	      { 'u', "uid" },	   { 'c', "cgroup" }, { 'T', "time" },
	{ 't', "timestamp" }, { 'd', "duration" }, { 'P', "ppid" },   {},
};

static const struct tool_options trial = {
	.tool = "trial",
	.summary = "Tries options.",
	.rows = trial_rows,
	.nr_rows = sizeof(trial_rows) / sizeof(trial_rows[0]),
	.letters = trial_letters,
};

static unsigned int nr_said;
static char said[1024]; /* the last message: message, cause, hint */

static void hear(const struct log_message *message)
{
	nr_said++;
	snprintf(said, sizeof(said), "%s|%s|%s", message->message,
		 message->cause ? message->cause : "", message->hint ? message->hint : "");
}

static int parse(struct trial_options *options, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	*options = (struct trial_options){};
	nr_said = 0;
	said[0] = '\0';
	return options__parse(&trial, options, argc, argv);
}

/* Parses what must be right. */
static void accept(struct trial_options *options, char **argv)
{
	int err = parse(options, argv);

	test__check(!err && !nr_said, "right options are taken in silence",
		    "'%s …' gave %d and \"%s\"", argv[1] ? argv[1] : "", err, said);
}

static void join(char *text, size_t size, char **argv)
{
	size_t length = 0;

	text[0] = '\0';
	for (char **word = argv + 1; *word && length < size; word++)
		length += (size_t)snprintf(text + length, size - length, "%s'%s'",
					   length ? " " : "", *word);
}

/* A usage error: -EINVAL and one message that shows the word and where help is. */
static void refuse(const char *word, char **argv)
{
	struct trial_options options;
	char name[256];
	int err = parse(&options, argv);

	join(name, sizeof(name), argv);
	test__check(err == -EINVAL && nr_said == 1 && strstr(said, word) &&
			    strstr(said, "|Try 'trial --help'"),
		    name, "expected %d and one message with \"%s\", saw %d and %u: \"%s\"", -EINVAL,
		    word, err, nr_said, said);
	common_options__free(&options.common);
}

static void check_defaults(void)
{
	struct trial_options options, zero = {};
	char **argv = WORDS(NULL);

	accept(&options, argv);
	test__equal("argc is kept", (uint64_t)options.common.argc, 1);
	test__check(options.common.argv == argv, "argv is kept", "it is not");
	options.common.argc = 0;
	options.common.argv = NULL;
	test__check(!memcmp(&options, &zero, sizeof(zero)), "without options all is zero",
		    "something is set");
	test__equal("and the face is text", options__face(&options.common), FACE_TEXT);
}

static void check_common(void)
{
	struct trial_options o;

	accept(&o,
	       WORDS("-p", "1,2", "--pid=3", "--tid", "4", "--ppid", "5", "-P6", "-u", "root,7"));
	test__equal("three pids", o.common.filter.wanted[FILTER_PID].nr, 3);
	test__equal("the first pid", o.common.filter.wanted[FILTER_PID].items[0], 1);
	test__equal("the last pid", o.common.filter.wanted[FILTER_PID].items[2], 3);
	test__equal("a tid", o.common.filter.wanted[FILTER_TID].items[0], 4);
	test__equal("two ppids", o.common.filter.wanted[FILTER_PPID].nr, 2);
	test__equal("a user by name", o.common.filter.wanted[FILTER_UID].items[0], 0);
	test__equal("a user by number", o.common.filter.wanted[FILTER_UID].items[1], 7);
	common_options__free(&o.common);

	accept(&o, WORDS("--comm", "a,b*", "--comm", "[x-z]", "-c", "/a", "--cgroup", "12"));
	test__check(glob__matches(&o.common.filter.globs, "a,bc", 15) &&
			    glob__matches(&o.common.filter.globs, "y", 15) &&
			    !glob__matches(&o.common.filter.globs, "a", 15),
		    "globs are compiled, commas are theirs", "they do not match");
	test__equal("two globs are kept", o.common.filter.comms.nr, 2);
	test__equal("two cgroups", o.common.filter.cgroups.nr, 2);
	test__same("the first as given", o.common.filter.cgroups.items[0], "/a");
	common_options__free(&o.common);

	accept(&o, WORDS("-d", "0.5", "-tT", "--strict", "--stats", "--explain", "--check",
			 "--json-schema", "-v", "--expect", "0", "--ready-fd", "3", "--output", "o",
			 "--attach", "kprobe.multi", "--ring-size", "5000", "--format", "csv"));
	test__check(o.common.duration.given && o.common.duration.ns == 500000000, "a duration",
		    "saw %" PRIu64, o.common.duration.ns);
	test__check(o.common.time && o.common.timestamp && o.common.strict && o.common.stats &&
			    o.common.explain && o.common.check && o.common.json_schema &&
			    o.common.verbose && !o.common.json,
		    "flags", "one is not as given");
	test__check(o.common.expect.given && o.common.expect.count == 0, "a count of 0 is given",
		    "it is not");
	test__equal("a descriptor", o.common.ready_fd.count, 3);
	test__same("an output", o.common.output, "o");
	test__equal("a mechanism", (uint64_t)o.common.attach, 5);
	test__equal("a ring size as given", o.common.ring_bytes, 5000);
	test__equal("the face csv", options__face(&o.common), FACE_CSV);
	common_options__free(&o.common);

	accept(&o, WORDS("-j", "--json", "-d", "0"));
	test__equal("the face json", options__face(&o.common), FACE_JSON);
	test__check(o.common.duration.given && !o.common.duration.ns, "a duration of 0 is given",
		    "it is not");
	accept(&o, WORDS("--dur", "2m"));
	test__equal("a long option cut short", o.common.duration.ns, 120000000000);
	accept(&o, WORDS("--ring-size", "1G", "--time"));
	test__equal("the largest ring", o.common.ring_bytes, 1 << 30);
	test__check(o.common.time && !o.common.timestamp, "a name that begins another's",
		    "--time is not --time");
}

static void check_own(void)
{
	struct trial_options o;

	accept(&o,
	       WORDS("-xi0.25", "--top", "100", "--room", "3M", "-n", "-x", "--colour", "green"));
	test__check(o.fails && o.interval.given && o.interval.ns == 250000000,
		    "a cluster of letters", "saw %" PRIu64, o.interval.ns);
	test__equal("a count", o.top.count, 100);
	test__equal("a size", o.room, 3 << 20);
	test__same("a value that looks like an option", o.name, "-x");
	test__equal("a choice", (uint64_t)o.colour, 1);
	accept(&o, WORDS("--slower", "10"));
	test__equal("a threshold in microseconds", o.slower, 10000);
	accept(&o, WORDS("--slower", "10ms"));
	test__equal("a threshold with a unit", o.slower, 10000000);
}

static void check_command(void)
{
	struct trial_options o;
	char **argv = WORDS("-j", "--", "ls", "-l", "--", "--json-schema", "-p", "abc");

	accept(&o, argv);
	test__check(o.common.command == argv + 3, "the command stands behind --", "it does not");
	test__check(o.common.json && !o.common.json_schema &&
			    !o.common.filter.wanted[FILTER_PID].nr,
		    "its options are its own", "the tool took one");
	argv = WORDS("--", "true");
	accept(&o, argv);
	test__check(o.common.command == argv + 2, "a command alone", "it is not there");
	argv = WORDS("-n", "--", "-x");
	accept(&o, argv);
	test__check(o.fails && !o.common.command && !strcmp(o.name, "--"),
		    "a -- that is a value ends no options", "it does");
	argv = WORDS("-n", "--");
	accept(&o, argv);
	test__same("also at the end", o.name, "--");
	refuse("'--'", WORDS("--"));
	refuse("'--'", WORDS("-x", "--"));
	refuse("'ls'", WORDS("-n", "--", "ls"));
}

static void check_bad_values(void)
{
	refuse("--pid|'abc'", WORDS("-p", "abc"));
	refuse("--pid|'12x'", WORDS("-p", "12x"));
	refuse("'99999999' is not a whole number from 1 to 4194304", WORDS("-p", "99999999"));
	refuse("'4194305'", WORDS("-p4194305"));
	refuse("'0'", WORDS("--pid=0"));
	refuse("'-1'", WORDS("--tid", "-1"));
	refuse("--pid|''", WORDS("-p", ""));
	refuse("--pid|''", WORDS("--pid="));
	refuse("'1,,2'", WORDS("-p", "1,,2"));
	refuse("'1,'", WORDS("-p", "1,"));
	refuse("','", WORDS("-p", ","));
	refuse("'x'", WORDS("-p", "1,x"));
	refuse("--ppid|' 1'", WORDS("-P", " 1"));
	refuse("'nosuchuser' in /etc/passwd", WORDS("-u", "nosuchuser"));
	refuse("'nosuchuser'", WORDS("-u", "root,nosuchuser"));
	refuse("'4294967295'", WORDS("-u", "4294967295"));
	refuse("--uid|''", WORDS("-u", ""));
	refuse("--cgroup|''", WORDS("-c", ""));
	refuse("--comm|''", WORDS("--comm", ""));
	refuse("'[a'", WORDS("--comm", "[a"));
	refuse("'systemd-timesyncd' can match nothing", WORDS("--comm", "systemd-timesyncd"));
	refuse("'e[a-z]bcdefghijklm'",
	       WORDS("--comm", "a[a-z]bcdefghijklm", "--comm", "b[a-z]bcdefghijklm", "--comm",
		     "c[a-z]bcdefghijklm", "--comm", "d[a-z]bcdefghijklm", "--comm",
		     "e[a-z]bcdefghijklm"));
	refuse("--duration|'-1'", WORDS("-d", "-1"));
	refuse("'abc'", WORDS("-d", "abc"));
	refuse("'5 s'", WORDS("-d", "5 s"));
	refuse("''", WORDS("-d", ""));
	refuse("'9999999999999'", WORDS("-d", "9999999999999"));
	refuse("'-5' is not a whole number", WORDS("--expect", "-5"));
	refuse("'99999999999999999999'", WORDS("--expect", "99999999999999999999"));
	refuse("'2147483648' is not a whole number from 0 to 2147483647",
	       WORDS("--ready-fd", "2147483648"));
	refuse("'4095' is not a size from 4K to 1G", WORDS("--ring-size", "4095"));
	refuse("'2G'", WORDS("--ring-size", "2G"));
	refuse("'64k'", WORDS("--ring-size", "64k"));
	refuse("'xml' is none of text, json, csv", WORDS("--format", "xml"));
	refuse("'js' is none of", WORDS("--format", "js"));
	refuse("'' is none of", WORDS("--format", ""));
	refuse("'kretprobe' is none of auto, tp_btf, tp, ", WORDS("--attach", "kretprobe"));
	refuse("--output|''", WORDS("--output", ""));
	refuse("'101' is not a whole number from 1 to 100", WORDS("--top", "101"));
	refuse("'0.5ms' is not between 1ms and 1m", WORDS("-i", "0.5ms"));
	refuse("a number of microseconds", WORDS("--slower", "soon"));
	refuse("'blue' is none of red, green", WORDS("--colour", "blue"));
}

static void check_bad_options(void)
{
	refuse("unknown option '--foo'", WORDS("--foo"));
	refuse("unknown option '--foo'", WORDS("--foo=bar"));
	refuse("unknown option '--timex'", WORDS("--timex"));
	refuse("unknown option '-Z' in '-Z'", WORDS("-Z"));
	refuse("unknown option '-Z' in '-Z'", WORDS("-x", "-Z"));
	refuse("unknown option '-Z' in '-xZt'", WORDS("-n", "-Q", "-xZt"));
	refuse("unknown option '-Z' in '-Zx'", WORDS("--name", "--weird", "-Zx"));
	refuse("unknown option '-?' in '-?'", WORDS("-?"));
	refuse("unknown option '--usage'", WORDS("--usage"));
	refuse("'--ti' is not clear|it could be --tid, --time, --timestamp", WORDS("--ti"));
	refuse("--pid needs a value (LIST)", WORDS("--pid"));
	refuse("--pid needs a value (LIST)", WORDS("-x", "--pi"));
	refuse("-p (--pid) needs a value", WORDS("-xp"));
	refuse("--json takes no value, but '--json=1'", WORDS("--json=1"));
	refuse("'--js' is not clear", WORDS("--json-s", "--js=1", "--json-schema"));
	refuse("unexpected word 'foo'", WORDS("foo"));
	refuse("unexpected word 'foo'", WORDS("-x", "foo", "-p", "abc"));
	refuse("unexpected word '-'", WORDS("-"));
	refuse("unexpected word ''", WORDS("", "--", "ls"));
	refuse("--json cannot be given with --format", WORDS("-j", "--format", "csv"));
	refuse("--json cannot be given with --format", WORDS("--format", "json", "--json"));
	refuse("--slower cannot be given with --top", WORDS("--top", "1", "--slower", "1"));
	refuse("--duration is given twice, the second time as '6'", WORDS("-d", "5", "--dur", "6"));
	refuse("--output is given twice, the second time as 'b'",
	       WORDS("--output", "a", "--output=b"));
	refuse("--format is given twice", WORDS("--format", "csv", "--format", "csv"));
	refuse("'abc'", WORDS("-p", "abc", "--help"));
}

/* Runs the parser on words that end the process. Its exit status and, to be freed, its stdout. */
static int run(char **argv, char **out)
{
	int fd = memfd_create("stdout", MFD_CLOEXEC), status = -1;
	struct trial_options options;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(fd, STDOUT_FILENO);
		parse(&options, argv);
		_exit(99);
	}
	waitpid(pid, &status, 0);
	*out = file__read_fd(fd, NULL);
	close(fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static unsigned int occurrences(const char *text, const char *part)
{
	unsigned int nr = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		nr++;
	return nr;
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (strcspn(text, "\n") > longest)
			longest = strcspn(text, "\n");
	return longest;
}

static void check_help(void)
{
	static const char *const once[] = {
		"Usage: trial [OPTION...] [-- COMMAND [ARG...]]\nTries options.\n",
		"Which events:",
		"What to report:",
		"How to show it:",
		"How to measure:",
		"  -p, --pid=LIST ",
		"      --tid=LIST ",
		"      --tree=PID ",
		"  -P, --ppid=LIST ",
		"      --comm=GLOB ",
		"  -u, --uid=USER ",
		"  -c, --cgroup=PATH|ID ",
		"  -d, --duration=TIME ",
		"  -T, --time ",
		"  -t, --timestamp ",
		"      --format=FACE ",
		"  -j, --json ",
		"      --output=FILE ",
		"      --expect=N ",
		"      --strict ",
		"      --json-schema ",
		"      --attach=MECHANISM ",
		"      --ring-size=SIZE ",
		"      --stats ",
		"      --explain ",
		"      --check ",
		"      --ready-fd=N ",
		"  -v, --verbose ",
		"  -V, --version ",
		"  -h, --help ",
		"  -x, --fails ",
		"      --top=N ",
		"  -i, --interval=TIME ",
		"      --slower=TIME ",
		"      --room=SIZE ",
		"  -n, --name=TEXT ",
		"      --colour=COLOUR ",
		"Help on slower",
	};
	char *out;

	test__equal("--help exits with 0", (uint64_t)run(WORDS("--help"), &out), 0);
	for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++)
		test__check(occurrences(out, once[i]) == 1, "--help has every row and heading once",
			    "\"%s\" is there %u times", once[i], occurrences(out, once[i]));
	/* But the usage, the headings and the text of a row. */
	test__equal("and no other row", occurrences(out, ", --") + occurrences(out, "      --"),
		    sizeof(once) / sizeof(once[0]) - 6);
	test__equal("nor a text of argp's own", occurrences(out, "Mandatory"), 0);
	test__check(longest_line(out) < 80, "it fits 80 columns", "saw a line of %zu",
		    longest_line(out));
	free(out);
	test__equal("-h is --help", (uint64_t)run(WORDS("-x", "-h", "--foo"), &out), 0);
	test__equal("and ends the parsing", occurrences(out, "Usage:"), 1);
	free(out);
	test__equal("--version exits with 0", (uint64_t)run(WORDS("--version"), &out), 0);
	test__same("and prints the version", out, "trial (vantage) " VANTAGE_VERSION "\n");
	free(out);
	test__equal("-V is --version", (uint64_t)run(WORDS("-xV"), &out), 0);
	test__same("and prints the same", out, "trial (vantage) " VANTAGE_VERSION "\n");
	free(out);
}

static void check_full_disk(void)
{
	int status = 0;
	struct trial_options options;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!freopen("/dev/full", "w", stdout))
			_exit(98);
		parse(&options, WORDS("--help"));
		_exit(99);
	}
	waitpid(pid, &status, 0);
	test__check(WIFEXITED(status) && WEXITSTATUS(status) == 1,
		    "a help that cannot be written is a failure", "saw the wait status %#x",
		    status);
}

/* A tool whose tables contradict each other. */
static void check_tables(void)
{
	static const struct option_row rows[] = {
		ROW("pid", 0, OPTION_FLAG, fails, NULL, ),
		ROW("fails", 'j', OPTION_FLAG, fails, NULL, ),
		ROW("fails", 0, OPTION_FLAG, fails, NULL, .excludes = "nothing"),
	};
	static const struct option_letter unknown[] = { { 'y', "nothing" }, {} };
	static const struct option_letter twice[] = { { 'y', "pid" }, { 'y', "tid" }, {} };
	struct tool_options tool = { .tool = "trial", .summary = "Wrong.", .nr_rows = 1 };
	struct trial_options options = {};
	char **argv = WORDS(NULL);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tool.rows = &rows[i];
		said[0] = '\0';
		test__equal("a row that contradicts the common ones is refused",
			    (uint64_t)-options__parse(&tool, &options, 1, argv), EINVAL);
		test__check(strstr(said, rows[i].name), "and named", "saw \"%s\"", said);
	}
	tool.nr_rows = 0;
	tool.letters = unknown;
	test__equal("a letter for an unknown option is refused",
		    (uint64_t)-options__parse(&tool, &options, 1, argv), EINVAL);
	tool.letters = twice;
	test__equal("a letter for two options is refused",
		    (uint64_t)-options__parse(&tool, &options, 1, argv), EINVAL);
	tool.letters = NULL;
	test__equal("a tool may have no rows and no letters",
		    (uint64_t)-options__parse(&tool, &options, 1, argv), 0);
}

int main(void)
{
	log__set_writer(hear);
	check_defaults();
	check_common();
	check_own();
	check_command();
	check_bad_values();
	check_bad_options();
	check_help();
	check_full_disk();
	check_tables();
	return test__done();
}
