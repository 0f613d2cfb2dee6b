// Package ci measures slipway-ci, the program for pipelines: its size, how long it takes to
// start, and its upload of a large file.
//
// The upload alternates with PutObject of the same file to the same object store, as in
// package upload, whose servers it uses. A program that cannot be built or an upload that is
// refused ends the measurement with an error; a missed target is only printed.
package ci

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/upload"
)

const (
	// mostProgram and mostStart are what slipway-ci may have.
	mostProgram = 15_000_000
	mostStart   = 30 * time.Millisecond
)

// Command measures the program for pipelines.
type Command struct {
	Size   int64    `default:"1073741824" help:"Bytes of the file that is uploaded."`
	Rounds int      `default:"3" help:"Uploads of each kind, alternating."`
	Starts int      `default:"101" help:"Starts of the program."`
	Only   []string `help:"Parts to measure: start, upload; default: all."`
	Binary string   `help:"A slipway program to measure; default: build this checkout."`
}

// ciBench is one run of the command.
type ciBench struct {
	*Command
	*upload.Bench
	program string // slipway-ci
}

// Run measures the parts in turn and prints a Markdown table.
func (c *Command) Run(ctx context.Context) error {
	b := &ciBench{Command: c, Bench: &upload.Bench{Command: &upload.Command{Size: c.Size, Rounds: c.Rounds, Binary: c.Binary}}}
	once := time.Duration(c.Size/(20<<20)) * time.Second // a file at 20 MiB a second
	parts := []measure.Part{
		{Name: "start", Limit: 2 * time.Minute, Run: b.start},
		{Name: "upload", Limit: 5*time.Minute + 2*time.Duration(c.Rounds+1)*once, Run: b.besideUpload},
	}
	if err := measure.CheckParts(c.Only, parts); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "slipway-bench-ci-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.program = filepath.Join(dir, "slipway-ci")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", b.program,
		"github.com/slipway-qa/slipway/cmd/slipway-ci")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build slipway-ci: %w\n%s", err, out)
	}
	fmt.Printf("slipway-ci, a file of %d MiB, %d rounds\n\n| part | measured | target | |\n|---|---|---|---|\n", c.Size>>20, c.Rounds)
	return measure.RunParts(ctx, c.Only, parts)
}

// start measures the program itself: it is started anew for each step of a job.
func (b *ciBench) start(ctx context.Context) error {
	info, err := os.Stat(b.program)
	if err != nil {
		return err
	}
	measure.Row("program", fmt.Sprintf("%.1f MB", float64(info.Size())/1e6), "15 MB", info.Size() < mostProgram)
	f, err := elf.Open(b.program)
	if err != nil {
		return err
	}
	libraries, err := f.ImportedLibraries()
	f.Close()
	if err != nil {
		return err
	}
	measure.Row("libraries that it loads", fmt.Sprint(len(libraries)), "none", len(libraries) == 0)
	var took []float64
	for range b.Starts {
		begun := time.Now()
		if err := exec.CommandContext(ctx, b.program, "--version").Run(); err != nil {
			return err
		}
		took = append(took, time.Since(begun).Seconds())
	}
	m := time.Duration(measure.Median(took) * float64(time.Second))
	measure.Row("start to end of --version, median", m.Round(100*time.Microsecond).String(), mostStart.String(), m < mostStart)
	return nil
}

// besideUpload compares the program's upload of a file, in parts, with PutObject of the same
// file. The program's start counts.
func (b *ciBench) besideUpload(ctx context.Context) error {
	return b.With(ctx, func() error {
		f, o, err := b.Alternate(ctx, b.runUpload)
		if err != nil {
			return err
		}
		mib := float64(b.Command.Size) / (1 << 20)
		measure.Row("baseline: PutObject of the file", fmt.Sprintf("%.0f MiB/s", mib/f), "", true)
		measure.Row("slipway-ci upload", fmt.Sprintf("%.0f MiB/s, %.2f of the baseline", mib/o, f/o), "0.9 of the baseline", f/o >= 0.9)
		return nil
	})
}

func (b *ciBench) runUpload(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, b.program, "upload", b.File, "--platform", "Windows", "--quiet")
	cmd.Env = append(os.Environ(), "SLIPWAY_SERVER="+b.Product.Base, "SLIPWAY_KEY="+b.Product.APIKey)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("slipway-ci upload: %w\n%s", err, out)
	}
	return nil
}
