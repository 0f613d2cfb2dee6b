package processtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tellings are the pages that share an installation, in the order in which they run: those
// that count from one, and those that begin where another ends. The last one has all others.
var tellings = [][]string{
	{"docs/first-steps.md", "docs/generation.md", "docs/healing.md", "docs/schedules.md", "docs/tests.md"},
	{"docs/people.md"},
	{"README.md"},
}

// leastRun is how many blocks run at least: a block is marked when it cannot be run, not
// when it fails.
const leastRun = 75

// pageLimit bounds a page; the longest has some tests in a browser.
const pageLimit = 5 * longWait

// Each shell block of README and docs/ does what its page says: it is run, as a reader would,
// against a real `slipway up`, and prints what is shown. Blocks that cannot run here say why,
// and have no mistake that a shell or the command line finds.
func TestExamplesOfTheDocuments(t *testing.T) {
	t.Parallel()
	pages := documents(t)
	listed := slices.Concat(tellings...)
	for _, name := range listed {
		require.NotEmpty(t, pages[name], "%s has no shell block", name)
	}
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(pages)), func(name string) bool { return slices.Contains(listed, name) })
	last := len(tellings) - 1
	all := append(slices.Clone(tellings[:last]), append(slices.Clone(tellings[last]), rest...))

	run, marked, shown := 0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		for _, e := range pages[name] {
			if e.reason != "" {
				marked++
				t.Logf("not run: %s, line %d: %s", name, e.line, e.reason)
				continue
			}
			run++
			if e.shown != "" {
				shown++
			}
		}
	}
	t.Logf("%d shell blocks run, %d of them show their output; %d do not run", run, shown, marked)
	require.GreaterOrEqual(t, run, leastRun)
	for i, names := range all {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			in := startUp(t, t.TempDir())
			for _, name := range names {
				t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) { newReader(t, in).read(name, pages[name]) })
			}
		})
	}
}

// reader types the blocks of a page into one shell, in a folder with what pages speak of:
// bin/slipway, bin/slipway-ci, the data of the installation, and app.apk. What its comments need besides, such
// as send-crash, is in testdata/reader.
type reader struct {
	t      *testing.T
	in     *installation
	folder string
	words  *strings.Replacer // addresses of the pages, and those of the test
}

func newReader(t *testing.T, in *installation) *reader {
	t.Helper()
	r := &reader{t: t, in: in, folder: t.TempDir()}
	port := strconv.Itoa(quietPort(t))
	r.words = strings.NewReplacer("http://127.0.0.1:8080", in.base, "127.0.0.1:8000", "127.0.0.1:"+port, "http.server 8000",
		"http.server "+port,
		"/tmp/", r.folder+"/tmp/", "/backups/", r.folder+"/tmp/")
	for _, name := range []string{"bin", "tmp", "seen"} {
		require.NoError(t, os.Mkdir(filepath.Join(r.folder, name), 0o755))
	}
	require.NoError(t, os.Symlink(binary, filepath.Join(r.folder, "bin", "slipway")))
	require.NoError(t, os.Symlink(pipelineBinary, filepath.Join(r.folder, "bin", "slipway-ci")))
	require.NoError(t, os.Symlink(in.dir, filepath.Join(r.folder, "data")))
	require.NoError(t, os.Symlink(demoAPK(t), filepath.Join(r.folder, "app.apk")))
	return r
}

// read runs the blocks of a page, and compares what they print.
func (r *reader) read(name string, blocks []example) {
	t := r.t
	var script strings.Builder
	script.WriteString("set -euo pipefail\n")
	into := func(file, commands string) {
		fmt.Fprintf(&script, "echo %[2]s >%[1]s/seen/at; exec >%[1]s/seen/%[2]s 2>%[1]s/seen/%[2]s.err\n%[3]s\n", r.folder,
			file, r.words.Replace(commands))
	}
	for i, e := range blocks {
		if e.reason != "" {
			r.check(name, e)
			continue
		}
		if e.before != "" {
			into(fmt.Sprintf("before-%d", i), e.before)
		}
		into(strconv.Itoa(i), e.script)
	}
	script.WriteString("echo end >" + r.folder + "/seen/at\n")
	ctx, cancel := context.WithTimeout(t.Context(), pageLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script.String())
	cmd.Dir = r.folder
	tools, err := filepath.Abs(filepath.Join("testdata", "reader"))
	require.NoError(t, err)
	cmd.Env = append(typed(os.DevNull), r.variables()...)
	cmd.Env = append(cmd.Env, "PATH="+tools+":"+filepath.Join(r.folder, "bin")+":"+os.Getenv("PATH"), "TMPDIR="+filepath.Join(r.folder, "tmp"))
	endGroupWithTests(t, cmd) // a page starts servers, which end with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	began := time.Now()
	require.NoError(t, cmd.Start())
	failed := cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what is left of the group, if anything
	t.Logf("%s: %d blocks, %s", name, len(blocks), time.Since(began).Round(100*time.Millisecond))
	if at := strings.TrimSpace(r.seen("at")); at != "end" {
		if failed == nil {
			failed = errors.New("the page ended before its end")
		}
		i, err := strconv.Atoi(strings.TrimPrefix(at, "before-"))
		require.NoError(t, err)
		said := r.seen(at) + r.seen(at+".err")
		require.NoError(t, failed, "%s, line %d (%s):\n%s\n%s", name, blocks[i].line, at, blocks[i].script, said[:min(len(said), 4000)])
	}
	for i, e := range blocks {
		if printed := r.seen(strconv.Itoa(i)); e.reason == "" && e.shown != "" && !shows(r.words.Replace(e.shown), printed) {
			t.Errorf("%s, line %d: shown is\n%s\nand printed was\n%s", name, e.line, e.shown, printed[:min(len(printed), 4000)])
		}
	}
}

// typed are the variables of a shell that somebody types into: without those of git, which a
// hook, say, runs in, and without the settings of whoever runs the tests.
func typed(gitConfig string) []string {
	own := slices.DeleteFunc(environment(nil), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	return append(own, "GIT_CONFIG_GLOBAL="+gitConfig)
}

// endGroupWithTests makes a bash -c that has not started the first of a process group, which
// ends with the tests however these end, also by their time limit or ctrl-C: a shell of the
// group waits for the end of a pipe that nobody but this process writes to. It is no job of
// the script, whose wait does not see it.
func endGroupWithTests(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	require.Equal(t, "-c", cmd.Args[1])
	held, holds, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = held.Close(), holds.Close() })
	cmd.ExtraFiles = []*os.File{held}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Args[2] = "( { read -r -u 3; kill -KILL 0; } </dev/null >/dev/null 2>&1 & ); exec 3<&-\n" + cmd.Args[2]
}

// seen is what was printed.
func (r *reader) seen(name string) string {
	text, err := os.ReadFile(filepath.Join(r.folder, "seen", name))
	if err != nil {
		return ""
	}
	return string(text)
}

// variables are those that docs/README.md says each example begins with.
func (r *reader) variables() []string {
	boot := r.in.boot
	return []string{"BASE=" + r.in.base, "API_KEY=" + boot.Owner.APIKey, "TOKEN=" + boot.Crash.Token,
		"AUTH=" + boot.Owner.Username + ":" + boot.Owner.AccessKey, "OPERATOR=" + boot.Operator.Username + ":" + boot.Operator.Password,
		"QA_URL=" + r.in.base, "QA_KEY=" + boot.Owner.APIKey, "QA_AUTH=" + boot.Owner.Username + ":" + boot.Owner.AccessKey,
		"SLIPWAY_SERVER=" + r.in.base, "SLIPWAY_KEY=" + boot.Owner.APIKey}
}

// check looks at a block that is not run: its syntax, and the options of each slipway in it.
func (r *reader) check(name string, e example) {
	t := r.t
	syntax := exec.CommandContext(t.Context(), "bash", "-n")
	syntax.Stdin = strings.NewReader(e.script)
	out, err := syntax.CombinedOutput()
	require.NoError(t, err, "%s, the block in line %d: %s", name, e.line, out)
	for _, line := range commandLines(e.script) {
		split := exec.CommandContext(t.Context(), "bash", "-c", `eval "set -- $1"; printf '%s\0' "$@"`, "bash", line)
		words, err := split.Output()
		require.NoError(t, err, "%s: %s", name, line)
		args := append(strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00"), "--help")
		got := command(t, nil, args...)
		require.Zero(t, got.code, "%s, the block in line %d: slipway %s: %s", name, e.line, line, got.stderr)
	}
}

// commandLines are what stands after each slipway of a script.
func commandLines(script string) []string {
	var list []string
	for line := range strings.SplitSeq(strings.ReplaceAll(script, "\\\n", " "), "\n") {
		for _, program := range []string{"slipway ", "bin/slipway ", "docker compose run --rm api "} {
			if args, ok := strings.CutPrefix(strings.TrimSpace(line), program); ok {
				list = append(list, args)
			}
		}
	}
	return list
}

func TestCommandLinesOfExamples(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"up --demo", "backup   DIR", "admin org list"},
		commandLines("bin/slipway up --demo\nslipway backup \\\n DIR\nls\ndocker compose run --rm api admin org list"))
	require.NotZero(t, command(t, nil, "up", "--no-such", "--help").code, "a wrong option is found, though the help is asked for")
	require.Zero(t, command(t, nil, "up", "--demo", "--help").code)
}
