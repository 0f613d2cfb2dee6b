// Package playwright runs scripts in Node that drive a browser by Playwright, the baseline of
// runs and widgets.
//
// A script reads a line for each request and writes a line with its result. The npm packages
// are those that `make deps` installs; without them nothing starts, and the error says so. A
// script that hangs is killed when the context of the request ends.
package playwright

import (
	"bufio"
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Scripts are the programs that Node runs.
//
//go:embed flow.cjs widgets.cjs
var Scripts embed.FS

// Process is a Node process that runs tests with Playwright.
type Process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	dir string // of its files
}

// Start starts the baseline of flows.
func Start(ctx context.Context, base, browser string) (*Process, error) {
	return StartScript(ctx, []fs.FS{Scripts}, "flow.cjs", base, browser)
}

// Packages returns the folder with the npm packages of tests, in the user's
// cache, where `make deps` installs them.
func Packages() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	modules := filepath.Join(cache, "slipway", "npm", "node_modules")
	if _, err := os.Stat(filepath.Join(modules, "playwright-core")); err != nil {
		return "", fmt.Errorf("playwright-core is not installed: run make deps")
	}
	return modules, nil
}

// StartScript starts one of the files of some folders in Node, with the npm packages
// of tests.
func StartScript(ctx context.Context, folders []fs.FS, name string, arguments ...string) (*Process, error) {
	modules, err := Packages()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return nil, err
	}
	p := &Process{dir: dir}
	if err := p.start(ctx, folders, name, modules, arguments); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return p, nil
}

func (p *Process) start(ctx context.Context, folders []fs.FS, name, modules string, arguments []string) error {
	for _, files := range folders {
		if err := os.CopyFS(p.dir, files); err != nil {
			return err
		}
	}
	p.cmd = exec.CommandContext(ctx, "node", append([]string{filepath.Join(p.dir, name)}, arguments...)...)
	p.cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReader(out)
	return p.cmd.Start()
}

// Exchange sends a line and returns the one that comes back. When the context ends first,
// so does the process: nothing else ends a script that hangs.
func (p *Process) Exchange(ctx context.Context, line string) (string, error) {
	stop := context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })
	defer stop()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		return "", err
	}
	answer, err := p.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("playwright: %w", err)
	}
	return strings.TrimSpace(answer), nil
}

// Request sends a line and returns the time that the reply states.
func (p *Process) Request(ctx context.Context, line string) (time.Duration, error) {
	answer, err := p.Exchange(ctx, line)
	if err != nil {
		return 0, err
	}
	ms, err := strconv.ParseFloat(answer, 64)
	return time.Duration(ms * float64(time.Millisecond)), err
}

// stopTime is how long a script may take to close its browsers.
const stopTime = 20 * time.Second

// Stop ends the script and removes its files.
func (p *Process) Stop() {
	kill := time.AfterFunc(stopTime, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	_ = p.in.Close()
	_ = p.cmd.Wait()
	_ = os.RemoveAll(p.dir)
}
