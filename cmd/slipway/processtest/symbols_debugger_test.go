package processtest

import (
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

const crashingProgram = `struct cart { int lamps; };
static int price(const struct cart *c) {
	return 100 / c->lamps;
}
int checkout(const struct cart *c) {
	return price(c) + 1;
}
int main(int argc, char **argv) {
	struct cart c = { argc - 1 };
	return checkout(&c);
}
`

// TestDebuggerReadsSymbols uploads the debug information of a program that was stripped. A
// crash that came before reads as the source does, and gdb gets file and line of the
// stripped program from the running service.
func TestDebuggerReadsSymbols(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"gcc", "objcopy", "gdb"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	configuration, err := exec.CommandContext(t.Context(), "gdb", "-nx", "-batch", "-ex", "show configuration").CombinedOutput()
	require.NoError(t, err, "%s", configuration)
	if !strings.Contains(string(configuration), "--with-debuginfod") {
		t.Skip("gdb was built without debuginfod")
	}
	p := buildStripped(t)
	in := startUp(t, t.TempDir())
	report := fmt.Appendf(nil, `{"uuid":%q,"timestamp":%d,"lang":"c","langVersion":"11","agent":"native","agentVersion":"1","mainThread":"1",
		"threads":{"1":{"fault":true,"stack":[{"address":"%#x","library":"shop"}]}},"classifiers":["SIGFPE"],
		"modules":[{"start":"%#x","size":1048576,"code_file":"/usr/bin/shop","debug_identifier":%q}]}`,
		uuid.NewString(), time.Now().Unix(), p.base+p.price, p.base, p.buildID)
	id := in.post(t, in.boot.Crash.Token, report)
	in.awaitGroup(t, "SIGFPE", 1)
	require.Equal(t, "missing", in.symbolicated(t, id).Symbolication.State)

	debug, err := os.ReadFile(filepath.Join(p.dir, "shop.debug"))
	require.NoError(t, err)
	in.uploadSymbols(t, "shop.debug", string(debug))
	eventually(t, "the crash is readable", func() bool { return in.symbolicated(t, id).Symbolication.State == "complete" })
	frame := in.symbolicated(t, id).Threads[0].Frames[0]
	require.Equal(t, "price", frame.Function)
	require.Equal(t, 2, frame.Line)
	require.Equal(t, "shop.c", filepath.Base(frame.File))

	// The lines of a function that the stripped program does not name.
	out := gdb(t, in, p, "info line price")
	require.Regexp(t, `Line 2 of ".*shop\.c"`, out)
	out = gdb(t, in, p, "run", "bt")
	if strings.Contains(out, "SIGFPE") { // elsewhere the machine does not let a program be traced
		require.Regexp(t, `#0 .*price \(.*shop\.c:3`, out)
		require.Regexp(t, `#1 .*checkout \(.*shop\.c:6`, out)
		require.Regexp(t, `#2 .*main \(.*shop\.c:10`, out)
	} else {
		t.Logf("gdb ran nothing: %s", out)
	}
	checkNoSecrets(t, in)
}

// strippedProgram is a program without symbols, shop, beside its debug information.
type strippedProgram struct {
	dir, buildID string
	base, price  uint64 // where it is loaded, and the function relative to that
}

func buildStripped(t *testing.T) strippedProgram {
	t.Helper()
	p := strippedProgram{dir: t.TempDir(), base: 0x555555554000}
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "shop.c"), []byte(crashingProgram), 0o600))
	for _, line := range [][]string{
		{"gcc", "-g", "-O0", "-fPIE", "-pie", "-Wl,--build-id=sha1", "-o", "shop.full", "shop.c"},
		{"objcopy", "--only-keep-debug", "shop.full", "shop.debug"},
		{"objcopy", "--strip-all", "shop.full", "shop"},
	} {
		cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
		cmd.Dir = p.dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v: %s", line, out)
	}
	f, err := elf.Open(filepath.Join(p.dir, "shop.full"))
	require.NoError(t, err)
	defer f.Close()
	note, err := f.Section(".note.gnu.build-id").Data()
	require.NoError(t, err)
	p.buildID = hex.EncodeToString(note[16:])
	symbols, err := f.Symbols()
	require.NoError(t, err)
	for _, s := range symbols {
		if s.Name == "price" {
			p.price = s.Value
		}
	}
	require.NotZero(t, p.price)
	// gdb must not find these by itself.
	for _, name := range []string{"shop.full", "shop.c"} {
		require.NoError(t, os.Remove(filepath.Join(p.dir, name)))
	}
	return p
}

// gdb runs commands on the stripped program, in a folder without its debug information.
func gdb(t *testing.T, in *installation, p strippedProgram, commands ...string) string {
	t.Helper()
	dir := t.TempDir()
	program, err := os.ReadFile(filepath.Join(p.dir, "shop"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop"), program, 0o700))
	args := []string{"-nx", "-batch", "-iex", "set debuginfod enabled on"}
	for _, c := range commands {
		args = append(args, "-ex", c)
	}
	cmd := exec.CommandContext(t.Context(), "gdb", append(args, "./shop")...)
	cmd.Dir = dir
	cmd.Env = environment([]string{"HOME=" + dir, "DEBUGINFOD_CACHE_PATH=" + filepath.Join(dir, "cache"),
		"DEBUGINFOD_URLS=" + in.base + "/debuginfod/" + in.boot.Owner.APIKey})
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
