package main

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

//go:embed flow.cjs widgets.cjs
var scripts embed.FS

// playwright is a Node process that runs tests with Playwright.
type playwright struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	dir string // of its files
}

// startPlaywright starts the baseline of flows.
func startPlaywright(ctx context.Context, base, browser string) (*playwright, error) {
	return startScript(ctx, []fs.FS{scripts}, "flow.cjs", base, browser)
}

// npmPackages returns the folder with the npm packages of tests, in the user's
// cache, where `make deps` installs them.
func npmPackages() (string, error) {
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

// startScript starts one of the files of some folders in Node, with the npm packages
// of tests.
func startScript(ctx context.Context, folders []fs.FS, name string, arguments ...string) (*playwright, error) {
	modules, err := npmPackages()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return nil, err
	}
	p := &playwright{dir: dir}
	if err := p.start(ctx, folders, name, modules, arguments); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return p, nil
}

func (p *playwright) start(ctx context.Context, folders []fs.FS, name, modules string, arguments []string) error {
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

// exchange sends a line and returns the one that comes back. When the context ends first,
// so does the process: nothing else ends a script that hangs.
func (p *playwright) exchange(ctx context.Context, line string) (string, error) {
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

// request sends a line and returns the time that the reply states.
func (p *playwright) request(ctx context.Context, line string) (time.Duration, error) {
	answer, err := p.exchange(ctx, line)
	if err != nil {
		return 0, err
	}
	ms, err := strconv.ParseFloat(answer, 64)
	return time.Duration(ms * float64(time.Millisecond)), err
}

// stopTime is how long a script may take to close its browsers.
const stopTime = 20 * time.Second

func (p *playwright) stop() {
	kill := time.AfterFunc(stopTime, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	_ = p.in.Close()
	_ = p.cmd.Wait()
	_ = os.RemoveAll(p.dir)
}
