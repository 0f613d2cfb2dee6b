package processtest

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/chromium"
)

// TestThreeMinutes is a newcomer's first look: a clone in an empty folder, the two commands of
// the README, and then only what is printed and what pages lead to, until a crash, a test and a
// build are seen. A step that fails fails the test. How long each took is printed, and the three
// minutes are not held: a machine that is busy meanwhile, or has nothing cached, proves nothing.
func TestThreeMinutes(t *testing.T) {
	for _, program := range []string{"git", "make", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not there")
		}
	}
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	n := &newcomer{t: t, root: root, folder: emptyFolder(t, root), gitConfig: filepath.Join(t.TempDir(), "gitconfig")}
	// The checkout may be of another user, which settings of a command do not tell to
	// those that git clone starts.
	require.NoError(t, os.WriteFile(n.gitConfig, []byte("[safe]\n\tdirectory = *\n"), 0o600))
	if out, err := n.command("git -C '" + root + "' rev-parse HEAD").CombinedOutput(); err != nil {
		t.Skipf("no repository to clone: %s", out)
	}
	n.first, n.second = readmeCommands(t)
	n.step("git clone", n.clone)
	n.step(n.first, n.up)
	n.step(n.second, n.demo)
	n.step("the console", n.look)
	took := n.took
	n.step("ctrl-C", n.stop)

	t.Logf("%s to the console", took.Round(time.Second))
	if len(n.late) > 0 {
		t.Logf("the demo did not wait for %s", strings.Join(n.late, "; "))
	}
}

// readmeCommands are the commands that the README begins with, without their comments.
func readmeCommands(t *testing.T) (up, demo string) {
	t.Helper()
	blocks := documents(t)["README.md"]
	require.Greater(t, len(blocks), 1)
	typed := func(e example) string {
		line, _, _ := strings.Cut(e.script, "\n")
		line, _, _ = strings.Cut(line, "#")
		return strings.TrimSpace(line)
	}
	up, demo = typed(blocks[0]), typed(blocks[1])
	require.Equal(t, "make up", up)
	require.Equal(t, "bin/slipway demo", demo)
	return up, demo
}

// emptyFolder is where the clone goes: of the same name in each run of a checkout, since Go's
// cache has the packages of a folder by its path. Another one serves beside a second run.
func emptyFolder(t *testing.T, root string) string {
	t.Helper()
	digest := sha256.Sum256([]byte(root))
	name := filepath.Join(os.TempDir(), fmt.Sprintf("slipway-newcomer-%d-%x", os.Getuid(), digest[:6]))
	lock, err := os.OpenFile(name+".lock", os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = lock.Close() })
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil || os.RemoveAll(name) != nil || os.Mkdir(name, 0o755) != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(name) })
	return name
}

type newcomer struct {
	t             *testing.T
	root, folder  string
	gitConfig     string
	first, second string // what the README says to type
	address       string
	process       *process
	link          string
	late          []string // what the demo had no time to wait for
	took          time.Duration
}

// step does one, and adds its time.
func (n *newcomer) step(name string, do func()) {
	n.t.Helper()
	began := time.Now()
	do()
	took := time.Since(began)
	n.took += took
	n.t.Logf("%s: %s", name, took.Round(100*time.Millisecond))
}

// command is a line that the newcomer types, without what `make test` itself runs in.
func (n *newcomer) command(line string) *exec.Cmd {
	cmd := exec.CommandContext(n.t.Context(), "bash", "-c", line)
	cmd.Dir = n.folder
	cmd.Env = slices.DeleteFunc(typed(n.gitConfig), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKEFILES", "DATA", "LISTEN", "CGO_ENABLED"}, name)
	})
	// A port of its own, for that of the README may be taken; the data are in the clone.
	cmd.Env = append(cmd.Env, "LISTEN="+n.address)
	return cmd
}

// clone clones the checkout, and brings what is not committed yet, staged or not.
func (n *newcomer) clone() {
	t := n.t
	run := func(line string) string {
		var out, said strings.Builder
		cmd := n.command(line)
		cmd.Stdout, cmd.Stderr = &out, &said
		require.NoError(t, cmd.Run(), "%s: %s", line, &said)
		return out.String()
	}
	run("git clone -q '" + n.root + "' .")
	git := "git -C '" + n.root + "' "
	changed := run(git+"diff --name-only --no-renames --relative -z HEAD") + run(git+"ls-files -z --others --exclude-standard")
	for path := range strings.SplitSeq(changed, "\x00") {
		if path == "" || strings.HasSuffix(path, "/") { // a repository within is no part of this one
			continue
		}
		to := filepath.Join(n.folder, path)
		text, err := os.ReadFile(filepath.Join(n.root, path))
		if os.IsNotExist(err) {
			require.NoError(t, os.RemoveAll(to))
			continue
		}
		require.NoError(t, err)
		info, err := os.Stat(filepath.Join(n.root, path))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, text, info.Mode()))
	}
	n.address = "127.0.0.1:" + strconv.Itoa(quietPort(t))
}

// up types the first command and waits for the link that it prints.
func (n *newcomer) up() {
	t := n.t
	cmd := n.command(n.first)
	endGroupWithTests(t, cmd) // a group, as a shell starts it: ctrl-C reaches all of it
	n.process = launch(t, cmd)
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(n.folder, "data", "children.json")); err == nil {
			(&installation{process: n.process, dir: filepath.Join(n.folder, "data")}).endAll(t, cmd.Process.Pid)
		} else {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	})
	for end := time.Now().Add(buildLimit); n.link == ""; {
		changed := n.process.stdout.changed()
		if link := printedLink.FindStringSubmatch(n.process.stdout.String()); link != nil {
			n.link = link[1]
			break
		}
		select {
		case <-changed:
		case <-n.process.ended:
			t.Fatalf("%s ended: %s\n%s", n.first, n.process.stdout, n.process.stderr)
		case <-time.After(time.Until(end)):
			t.Fatalf("%s has printed no link: %s\n%s", n.first, n.process.stdout, n.process.stderr)
		}
	}
}

// buildLimit bounds a build of everything on a busy machine.
const buildLimit = 20 * time.Minute

// demo types the second command.
func (n *newcomer) demo() {
	out, err := n.command(n.second).CombinedOutput()
	require.NoError(n.t, err, "%s", out)
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "not done") && strings.Contains(line, "still waiting after") {
			n.late = append(n.late, line)
			continue
		}
		require.NotContains(n.t, line, "not done")
	}
}

// look opens the printed link and follows links, as somebody does who types nothing.
func (n *newcomer) look() {
	t := n.t
	p := &person{t: t, tab: chromium.Start(t, 10*time.Minute, chromedp.WindowSize(1280, 900)), base: "http://" + n.address}
	require.NoError(t, chromedp.Do(p.tab, chromedp.Navigate(n.link)))
	p.press("Open the console")
	for _, c := range []struct{ area, shows string }{{"Crashes", `Price\.cents`}, {"Builds", `Lamps`}, {"Tests", `blue lamp`}} {
		p.press(c.area)
		p.until(c.shows)
	}
}

// stop presses ctrl-C; nothing answers after it.
func (n *newcomer) stop() {
	require.NoError(n.t, syscall.Kill(-n.process.cmd.Process.Pid, syscall.SIGINT))
	n.process.wait(n.t)
	client := http.Client{Timeout: 10 * time.Second}
	eventually(n.t, "the address is free again", func() bool {
		res, err := client.Get("http://" + n.address + "/healthz")
		if err == nil {
			_ = res.Body.Close()
		}
		return err != nil
	})
}

// endAll kills a group of processes, and waits for the servers of its installation, which end
// with it and write to its folder until then.
func (in *installation) endAll(t *testing.T, group int) {
	t.Helper()
	children := in.children(t)
	_ = syscall.Kill(-group, syscall.SIGKILL)
	for _, pid := range children {
		eventually(t, "the private servers end with the run", func() bool { return !alive(pid) })
	}
}
