package main

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed flow.cjs
var flowScript []byte

// playwright is a Node process that runs the flow with Playwright.
type playwright struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startPlaywright starts the baseline with playwright-core from the user's cache,
// where `make deps` installs it.
func startPlaywright(ctx context.Context, base, browser string) (*playwright, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	modules := filepath.Join(cache, "slipway", "npm", "node_modules")
	if _, err := os.Stat(filepath.Join(modules, "playwright-core")); err != nil {
		return nil, fmt.Errorf("playwright-core is not installed: run make deps")
	}
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return nil, err
	}
	script := filepath.Join(dir, "flow.cjs")
	if err := os.WriteFile(script, flowScript, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "node", script, base, browser)
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	cmd.Stderr = os.Stderr
	p := &playwright{cmd: cmd}
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, cmd.Start()
}

// request sends a line and returns the time that the reply states.
func (p *playwright) request(line string) (time.Duration, error) {
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		return 0, err
	}
	answer, err := p.out.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("playwright: %w", err)
	}
	ms, err := strconv.ParseFloat(strings.TrimSpace(answer), 64)
	return time.Duration(ms * float64(time.Millisecond)), err
}

func (p *playwright) stop() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
	_ = os.RemoveAll(filepath.Dir(p.cmd.Args[1]))
}
