package labelled_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/labelled"
)

// program is one of testdata/programs: how it is built, and which of its crashes
// are one bug.
type program struct {
	language string
	tools    []string // what must be installed
	builds   map[string][]string
	run      []string
	read     traceReader
	pairs    []programPair
}

// programPair is two runs, each "build way"; a program that is not built has the
// build "".
type programPair struct {
	same bool
	a, b string
	why  string
}

// programs are what crashes are made of. In build and run, SRC is the folder of the programs
// and OUT is what is built.
func programs() []program {
	const same, other = true, false
	return []program{
		{
			language: "C", tools: []string{"gcc"}, read: readBacktrace, run: []string{"OUT"},
			builds: map[string][]string{
				"plain":     {"gcc", "-O0", "-rdynamic", "SRC/cart.c", "-o", "OUT"},
				"optimised": {"gcc", "-O2", "-fno-optimize-sibling-calls", "-rdynamic", "SRC/cart.c", "-o", "OUT"},
			},
			pairs: []programPair{
				{same, "plain show", "plain show", "another start, at other addresses"},
				{same, "plain show", "plain bill", "another caller"},
				{same, "plain show", "optimised show", "a helper is inlined"},
				{same, "plain show", "optimised bill", "a helper is inlined, and another caller"},
				{same, "plain zero", "optimised zero", "other instructions"},
				{same, "plain depth", "optimised depth", "an endless recursion"},
				{same, "plain wild", "optimised wild", "other instructions"},
				{other, "plain zero", "plain wild", "another signal in one function"},
				{other, "plain show", "plain zero", "another function"},
				{other, "plain check", "plain show", "an abort and a wrong address"},
				{other, "optimised check", "optimised rows", "another function"},
			},
		},
		{
			language: "C++", tools: []string{"g++"}, read: readSanitizer, run: []string{"OUT"},
			builds: map[string][]string{
				"plain":     {"g++", "-g", "-O0", "-fsanitize=address", "SRC/cart.cc", "-o", "OUT"},
				"optimised": {"g++", "-g", "-O2", "-fsanitize=address", "SRC/cart.cc", "-o", "OUT"},
			},
			pairs: []programPair{
				{same, "plain show", "optimised show", "inlined functions"},
				{same, "plain show", "plain bill", "another caller, through std::function"},
				{same, "plain show", "optimised bill", "another caller, inlined"},
				{same, "plain freed", "optimised freed", "inlined functions"},
				{other, "plain show", "plain freed", "an overflow and a use after free"},
				{other, "plain show", "plain rename", "a read and a write elsewhere"},
				{other, "optimised freed", "optimised rename", "a use after free and an overflow"},
			},
		},
		{
			language: "Go", tools: []string{"go"}, read: readGo, run: []string{"OUT"},
			builds: map[string][]string{
				"plain":     {"go", "-C", "SRC/gocart", "build", "-gcflags=all=-l", "-o", "OUT", "."},
				"optimised": {"go", "-C", "SRC/gocart", "build", "-o", "OUT", "."},
			},
			pairs: []programPair{
				{same, "plain show", "plain bill", "another caller"},
				{same, "plain bill", "plain background", "in another goroutine"},
				{same, "plain show", "optimised show", "inlined functions"},
				{same, "optimised show", "optimised background", "inlined, in another goroutine"},
				{other, "plain cart", "plain user", "Handle of two packages"},
				{other, "plain mean", "plain wild", "a division by zero and an index"},
				{other, "plain show", "plain cart", "two functions"},
			},
		},
		{
			language: "Python", tools: []string{"python3"}, read: readPython, run: []string{"python3", "SRC/cart.py"},
			builds: map[string][]string{"": nil},
			pairs: []programPair{
				{same, " show", " bill", "another caller, with a decorator"},
				{same, " show", " thread", "in a thread"},
				{same, " paper", " paper again", "a number in the message of Exception"},
				{other, " paper", " card", "two messages of Exception"},
				{other, " zero", " type", "two classes in one function"},
				{other, " show", " zero", "two functions"},
			},
		},
		{
			language: "Node", tools: []string{"node"}, read: readNode, run: []string{"node", "SRC/cart.js"},
			builds: map[string][]string{"": nil},
			pairs: []programPair{
				{same, " show", " bill", "an async caller"},
				{same, " show", " timer", "from a timer"},
				{same, " paper", " paper again", "a number in the message of Error"},
				{other, " paper", " card", "two messages of Error"},
				{other, " show", " load", "two functions"},
			},
		},
		{
			language: "Java", tools: []string{"javac", "java"}, read: readJava, run: []string{"java", "-cp", "OUT", "Cart"},
			builds: map[string][]string{"": {"javac", "-d", "OUT", "SRC/Cart.java"}},
			pairs: []programPair{
				{same, " show", " bill", "another caller"},
				{same, " show", " pool", "in a pool"},
				{same, " show", " reflected", "by reflection"},
				{other, " show", " zero", "two functions"},
			},
		},
		{
			language: "Rust", tools: []string{"rustc"}, read: readRust, run: []string{"OUT"},
			builds: map[string][]string{
				"plain":     {"rustc", "-g", "SRC/cart.rs", "-o", "OUT"},
				"optimised": {"rustc", "-g", "-O", "SRC/cart.rs", "-o", "OUT"},
			},
			pairs: []programPair{
				{same, "plain show", "optimised show", "inlined functions"},
				{same, "plain show", "plain bill", "another caller"},
				{same, "plain show", "optimised thread", "in a thread, inlined"},
				{other, "plain show", "plain mean", "an index and a division by zero"},
				{other, "plain show", "plain first", "an index and a None"},
				{other, "optimised mean", "optimised first", "two functions"},
			},
		},
	}
}

// The labels hold for what real programs print, too. With -v the pairs are
// printed in the form of a set: that is how they are recorded.
func TestPrograms(t *testing.T) {
	t.Parallel()
	source, err := filepath.Abs("testdata/programs")
	require.NoError(t, err)
	for _, p := range programs() {
		t.Run(p.language, func(t *testing.T) {
			t.Parallel()
			for _, tool := range p.tools {
				if _, err := exec.LookPath(tool); err != nil {
					t.Skipf("not tried: %s is not installed", tool)
				}
			}
			crashes := make(map[string]*labelled.Crash)
			folder := t.TempDir()
			for name, command := range p.builds {
				if command != nil {
					out := built(folder, name)
					require.NoError(t, os.Mkdir(filepath.Dir(out), 0o755))
					build(t, command, source, out)
				}
			}
			for _, pair := range p.pairs {
				a := p.crash(t, source, folder, pair.a, crashes)
				// A second run of the same way is at other addresses.
				if pair.a == pair.b {
					delete(crashes, pair.b)
				}
				b := p.crash(t, source, folder, pair.b, crashes)
				t.Log(pair.text(a, b))
				if pair.same != (key(a) == key(b)) {
					t.Errorf("%q and %q: %s; one bug: %t", pair.a, pair.b, pair.why, pair.same)
				}
			}
		})
	}
}

// text returns the pair in the form of a set.
func (p *programPair) text(a, b *labelled.Crash) string {
	verdict := "other"
	if p.same {
		verdict = "same"
	}
	lines := []string{"", verdict + " " + p.a + " and " + p.b, "why " + p.why, "a"}
	lines = append(append(lines, a.Text.Lines()...), "b")
	return strings.Join(append(lines, b.Text.Lines()...), "\n") + "\n"
}

// built returns where a build is put: the program has one name in all of them.
func built(folder, name string) string { return filepath.Join(folder, "build-"+name, "cart") }

func build(t *testing.T, command []string, source, out string) {
	t.Helper()
	output, err := start(t, command, source, out)
	// Compilers without the sanitizer's library, C libraries without backtrace().
	if err != nil && (strings.Contains(output, "asan") || strings.Contains(output, "execinfo.h")) {
		t.Skipf("not tried: %s", output)
	}
	require.NoError(t, err, output)
}

// crash runs the program once for each way it is made to fail.
func (p *program) crash(t *testing.T, source, folder, name string, known map[string]*labelled.Crash) *labelled.Crash {
	t.Helper()
	if c := known[name]; c != nil {
		return c
	}
	build, way, _ := strings.Cut(name, " ")
	// The status does not matter: a program may outlive its thread.
	output, _ := start(t, append(p.run[:len(p.run):len(p.run)], way), source, built(folder, build))
	text := p.read(output)
	require.NotEmpty(t, text.Frames, "%s %s: %s", p.language, name, output)
	c, err := labelled.NewCrash(p.language, text)
	require.NoError(t, err)
	known[name] = c
	return c
}

// start runs a command to its end and returns what it printed.
func start(t *testing.T, command []string, source, out string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	arguments := make([]string, len(command))
	for i, a := range command {
		arguments[i] = strings.ReplaceAll(strings.ReplaceAll(a, "SRC", source), "OUT", out)
	}
	cmd := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "RUST_BACKTRACE=1", "GOWORK=off", "GOFLAGS=", "GOTRACEBACK=single",
		"ASAN_OPTIONS=detect_leaks=0")
	output, err := cmd.CombinedOutput()
	return string(output), err
}
