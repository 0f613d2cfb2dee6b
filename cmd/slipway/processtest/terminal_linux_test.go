package processtest

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a new pseudo terminal.
func openTerminal(t *testing.T) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals here:", err)
	}
	t.Cleanup(func() { screen.Close() })
	raw, err := screen.SyscallConn()
	require.NoError(t, err)
	number := 0
	var refused error
	require.NoError(t, raw.Control(func(fd uintptr) {
		if refused = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); refused == nil {
			number, refused = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}))
	require.NoError(t, refused)
	program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	return screen, program
}

// trouble is the begin of a line that warns or reports an error.
var trouble = regexp.MustCompile(`^(\d\d:\d\d:\d\d +)?(warning|error): `)

// At a terminal, slipway up prints for people: no line of JSON, the link, and what they
// can try; the crash that it says to send is told when it was read, and no secret is shown.
func TestUpAtATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	screen, program := openTerminal(t)
	cmd := exec.Command(binary, "up", "--data-dir", dir, "--listen", "127.0.0.1:0")
	cmd.Env = environment(nil)
	cmd.Stdout, cmd.Stderr = program, program
	shows := newTranscript()
	p := &process{cmd: cmd, stdout: shows, stderr: shows, ended: make(chan struct{})}
	p.run(t)
	require.NoError(t, program.Close())
	go func() { _, _ = io.Copy(shows, screen) }()

	link := p.await(t, p.stdout, `Open the console +(http://\S+/console/open/\S+)`)[1]
	p.await(t, p.stdout, `ctrl-C stops all`)
	in := &installation{process: p, dir: dir}
	in.endWithTest(t)
	in.read(t)
	res, _ := caller{base: link}.do(t, http.MethodGet, "", nil, nil)
	require.Equal(t, http.StatusOK, res.StatusCode)
	shell(t, "sh "+filepath.Join(dir, "send-crash.sh"))
	p.await(t, p.stdout, `\d\d:\d\d:\d\d  crashes were read`)
	in.awaitGroup(t, "ZeroDivisionError", 1)
	in.post(t, in.boot.Crash.Token, sample(uuid.New(), "SecondError", "second"))
	in.awaitGroup(t, "SecondError", 1)
	require.Zero(t, p.signal(t, os.Interrupt))
	shown := p.stdout.String()
	require.NotContains(t, shown, `{"time"`)
	for line := range strings.Lines(shown) {
		if trouble.MatchString(line) { // which may be of a machine that is slow
			continue
		}
		for _, routine := range []string{"api started", "tier", "private networks", "no epoch", "notifications of the database",
			"asynq", "routine"} {
			require.NotContains(t, line, routine)
		}
	}
	require.False(t, bytes.Contains([]byte(shown), []byte(in.boot.Owner.APIKey)), "a key is shown")
	require.False(t, bytes.Contains([]byte(shown), []byte(in.boot.Crash.Token)), "a token is shown")
}
