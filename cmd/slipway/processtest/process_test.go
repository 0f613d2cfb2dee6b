// Package processtest runs the built program: it starts it, in one process and in
// tiers, talks to it as clients do, and kills it and its services. The tests take
// minutes; `make check` leaves this folder out.
package processtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// binary is the program under test, and pipelineBinary the one that pipelines run; TestMain
// builds them before any test runs.
var binary, pipelineBinary string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

// buildAndRun builds into a folder that everybody may read, as one test runs the
// program as another user.
func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "slipway-binary-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		binary = filepath.Join(dir, "slipway")
		arguments := []string{"build", "-buildvcs=false", "-o", binary}
		if raced {
			arguments = append(arguments, "-race")
		}
		build := exec.Command("go", append(arguments, "..")...)
		if raced {
			build.Env = append(os.Environ(), "CGO_ENABLED=1")
		}
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		err = build.Run()
	}
	if err == nil {
		pipelineBinary = filepath.Join(dir, "slipway-ci")
		build := exec.Command("go", "build", "-buildvcs=false", "-o", pipelineBinary, "../../slipway-ci")
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		err = build.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build the program under test:", err)
		return 1
	}
	return servicetest.Main(m)
}

// longWait is how long a test waits for what should take a moment: the machine
// may be busy with other tests, or with other work.
const longWait = 3 * time.Minute

// process is a running program with what it has printed so far.
type process struct {
	cmd    *exec.Cmd
	stdout *transcript
	stderr *transcript
	ended  chan struct{}
	err    error // how it ended; read after ended
}

// start runs the binary with the variables and ends it with the test.
func start(t *testing.T, variables []string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = environment(variables)
	return launch(t, cmd)
}

// launch runs a command and ends it with the test.
func launch(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, stdout: newTranscript(), stderr: newTranscript(), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.stdout, p.stderr
	p.run(t)
	return p
}

// run starts the command and ends it with the test, which fails when the race detector of
// the program found something; a failed test shows the end of its log.
func (p *process) run(t *testing.T) {
	t.Helper()
	cmd := p.cmd
	require.NoError(t, cmd.Start())
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.kill()
		if race := firstRace(p.stderr.String()); race != "" {
			t.Errorf("slipway %s: %s", strings.Join(cmd.Args[1:], " "), race)
		}
		if t.Failed() {
			log := p.stderr.String()
			t.Logf("end of the log of %s:\n%s", strings.Join(cmd.Args[1:], " "), log[max(0, len(log)-4000):])
		}
	})
}

// raceLength is enough of the report of a race to find both its sides.
const raceLength = 4000

// firstRace returns the first report of the race detector in a log.
func firstRace(log string) string {
	at := strings.Index(log, "WARNING: DATA RACE")
	if at < 0 {
		return ""
	}
	return log[at:min(len(log), at+raceLength)]
}

// environment is the test's own without Slipway's variables, and the given ones.
func environment(variables []string) []string {
	own := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SLIPWAY_") })
	return append(own, variables...)
}

// kill ends the process as a crash would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// signal asks the process to stop and gives its exit code, -1 when a signal
// ended it.
func (p *process) signal(t *testing.T, s os.Signal) int {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(s))
	return p.wait(t)
}

// wait returns the exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(longWait):
		t.Fatalf("%s has not ended", strings.Join(p.cmd.Args, " "))
		return 0
	}
}

// await gives the first match of a pattern in the transcript, with its groups.
func (p *process) await(t *testing.T, in *transcript, pattern string) []string {
	t.Helper()
	re, end := regexp.MustCompile(pattern), time.After(longWait)
	for {
		changed := in.changed()
		if match := re.FindStringSubmatch(in.String()); match != nil {
			return match
		}
		select {
		case <-changed:
		case <-p.ended:
			if match := re.FindStringSubmatch(in.String()); match != nil {
				return match
			}
			t.Fatalf("ended (%v) before it printed %q:\n%s\n%s", p.err, pattern, p.stdout, p.stderr)
		case <-end:
			t.Fatalf("has not printed %q:\n%s\n%s", pattern, p.stdout, p.stderr)
		}
	}
}

// transcript takes what a process prints.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed at the next write
}

func newTranscript() *transcript { return &transcript{more: make(chan struct{})} }

// Write implements io.Writer.
func (t *transcript) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.more)
	t.more = make(chan struct{})
	return t.text.Write(b)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

func (t *transcript) changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.more
}

// result is a command line that ran to its end.
type result struct {
	code           int
	stdout, stderr string
}

// command runs the binary to its end.
func command(t *testing.T, variables []string, args ...string) result {
	t.Helper()
	return runProgram(t, binary, "", variables, args...)
}

// runProgram runs a program in a folder ("": this one) to its end.
func runProgram(t *testing.T, program, folder string, variables []string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*longWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = folder, environment(variables)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %s: %v", filepath.Base(program), strings.Join(args, " "), err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), log.String()}
}

// answer runs the binary, which must succeed, and reads the JSON that it prints.
func answer(t *testing.T, variables []string, into any, args ...string) {
	t.Helper()
	r := command(t, variables, args...)
	require.Zero(t, r.code, "slipway %s: %s", strings.Join(args, " "), r.stderr)
	require.NoError(t, json.Unmarshal([]byte(r.stdout), into), r.stdout)
}

// quietPort is servicetest.QuietPort for a test: a process that is killed finds the port free again.
func quietPort(t *testing.T) int {
	t.Helper()
	port, err := servicetest.QuietPort()
	require.NoError(t, err)
	return port
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	return syscall.Kill(pid, 0) == nil && (!onLinux() || state(pid) != 'Z' && state(pid) != 0)
}

// state is the letter that Linux has for what a process does, 0 when there is no
// such process: the first field after the name, which stands in brackets.
func state(pid int) byte {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	after := bytes.TrimSpace(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(after) == 0 {
		return 0
	}
	return after[0]
}

func onLinux() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}

// eventually polls until the condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	within(t, longWait, what, holds)
}

// within is eventually for what has a time of its own.
func within(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}
