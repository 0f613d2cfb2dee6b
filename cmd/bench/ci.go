package main

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	// mostProgram and mostStart are what slipway-ci may have.
	mostProgram = 15_000_000
	mostStart   = 30 * time.Millisecond
)

type ciCommand struct {
	Size   int64    `default:"1073741824" help:"Bytes of the file that is uploaded."`
	Rounds int      `default:"3" help:"Uploads of each kind, alternating."`
	Starts int      `default:"101" help:"Starts of the program."`
	Only   []string `help:"Parts to measure: start, upload; default: all."`
	Binary string   `help:"A slipway program to measure; default: build this checkout."`
}

// ciBench is one run of the command.
type ciBench struct {
	*ciCommand
	*uploadBench
	program string // slipway-ci
}

// Run measures the parts in turn and prints a Markdown table.
func (c *ciCommand) Run(ctx context.Context) error {
	b := &ciBench{ciCommand: c, uploadBench: &uploadBench{uploadCommand: &uploadCommand{Size: c.Size, Rounds: c.Rounds, Binary: c.Binary}}}
	once := time.Duration(c.Size/(20<<20)) * time.Second // a file at 20 MiB a second
	parts := []part{
		{name: "start", limit: 2 * time.Minute, run: b.start},
		{name: "upload", limit: 5*time.Minute + 2*time.Duration(c.Rounds+1)*once, run: b.besideUpload},
	}
	if err := checkParts(c.Only, parts); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "slipway-bench-ci-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.program = filepath.Join(dir, "slipway-ci")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", b.program, "github.com/slipway-qa/slipway/cmd/slipway-ci")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build slipway-ci: %w\n%s", err, out)
	}
	fmt.Printf("slipway-ci, a file of %d MiB, %d rounds\n\n| part | measured | target | |\n|---|---|---|---|\n", c.Size>>20, c.Rounds)
	return runParts(ctx, c.Only, parts)
}

// start measures the program itself: it is started anew for each step of a job.
func (b *ciBench) start(ctx context.Context) error {
	info, err := os.Stat(b.program)
	if err != nil {
		return err
	}
	row("program", fmt.Sprintf("%.1f MB", float64(info.Size())/1e6), "15 MB", info.Size() < mostProgram)
	f, err := elf.Open(b.program)
	if err != nil {
		return err
	}
	libraries, err := f.ImportedLibraries()
	f.Close()
	if err != nil {
		return err
	}
	row("libraries that it loads", fmt.Sprint(len(libraries)), "none", len(libraries) == 0)
	var took []float64
	for range b.Starts {
		begun := time.Now()
		if err := exec.CommandContext(ctx, b.program, "--version").Run(); err != nil {
			return err
		}
		took = append(took, time.Since(begun).Seconds())
	}
	m := time.Duration(median(took) * float64(time.Second))
	row("start to end of --version, median", m.Round(100*time.Microsecond).String(), mostStart.String(), m < mostStart)
	return nil
}

// besideUpload compares the program's upload of a file, in parts, with PutObject of the same
// file. The program's start counts.
func (b *ciBench) besideUpload(ctx context.Context) error {
	return b.with(ctx, func() error {
		f, o, err := b.alternate(ctx, b.runUpload)
		if err != nil {
			return err
		}
		mib := float64(b.ciCommand.Size) / (1 << 20)
		row("baseline: PutObject of the file", fmt.Sprintf("%.0f MiB/s", mib/f), "", true)
		row("slipway-ci upload", fmt.Sprintf("%.0f MiB/s, %.2f of the baseline", mib/o, f/o), "0.9 of the baseline", f/o >= 0.9)
		return nil
	})
}

func (b *ciBench) runUpload(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, b.program, "upload", b.file, "--platform", "Windows", "--quiet")
	cmd.Env = append(os.Environ(), "SLIPWAY_SERVER="+b.product.base, "SLIPWAY_KEY="+b.product.apiKey)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("slipway-ci upload: %w\n%s", err, out)
	}
	return nil
}
