package command

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
)

// openCommand is `open`: a page of the console.
type openCommand struct {
	What string `arg:"" optional:"" default:"" enum:",app,build,group,crash,case,suite" help:"app, build, group, crash, case or suite; without it the first page."`
	ID   string `arg:"" optional:"" help:"Its id; of an app and a build also a name and a version."`
	appFlag
	Print bool `help:"Print the address, and open no browser."`
}

// pages of the console by what they show, up to its id (api/search has them too).
var pages = map[string]string{"app": "/builds/apps/", "build": "/builds/builds/", "group": "/crashes/groups/", "crash": "/crashes/reports/",
	"case": "/tests/cases/", "suite": "/tests/suites/"}

// Run prints the address of the page, and opens it where a person sits.
func (c *openCommand) Run(ctx context.Context, s *Session) error {
	id, err := c.id(ctx, s)
	if err != nil {
		return err
	}
	path := "/console"
	if c.What != "" {
		path += pages[c.What] + strings.TrimPrefix(client.Path(id), "/")
	}
	address := s.Client.URL(path)
	s.Result("%s", address)
	if err := s.Document(map[string]string{"url": address}); err != nil {
		return err
	}
	if mode, _ := progress.ModeOf(s.World.Out, s.World.Getenv, s.Job.Service != "", s.Quiet || s.JSON); mode != progress.Live || c.Print {
		return nil
	}
	return browse(ctx, s, address)
}

func (c *openCommand) id(ctx context.Context, s *Session) (string, error) {
	switch {
	case c.What == "":
		return "", nil
	case c.What == "app" && or(c.ID, c.app(s)) != "":
		id, err := s.appOf(ctx, or(c.ID, c.app(s)))
		return itoa(id), err
	case c.What == "build":
		return s.buildOf(ctx, c.app(s), or(c.ID, "latest"))
	case c.ID == "":
		return "", outcome.Fail(outcome.Misused, "open %s: its id is missing", c.What)
	}
	return c.ID, nil
}

// browse opens an address in the browser of the machine. Where there is none, the address was
// printed.
func browse(ctx context.Context, s *Session, address string) error {
	line := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if line == nil {
		line = []string{"xdg-open"}
		if s.World.Getenv("DISPLAY") == "" && s.World.Getenv("WAYLAND_DISPLAY") == "" {
			return nil
		}
	}
	program, err := exec.LookPath(line[0])
	if err != nil {
		return nil
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, append(slices.Clone(line[1:]), address)...)
	// A browser has no use for the key of the API.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SLIPWAY_") })
	if err := cmd.Start(); err != nil {
		return nil
	}
	return cmd.Process.Release()
}
