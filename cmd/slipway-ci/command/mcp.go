package command

import (
	"context"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/agent"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

// mcpCommand is `mcp`: what a coding agent starts to have Slipway's tools.
type mcpCommand struct {
	Allow     []string `help:"Kinds of changes that the agent may make: tests, runs, builds, crashes. Without: it reads." placeholder:"KIND"`
	AllowPath []string `help:"A folder that builds may be uploaded from, beside the working directory." placeholder:"FOLDER"`
}

// Endless says that an agent stays as long as it likes.
func (*mcpCommand) Endless() {}

// Run serves the agent until it closes its end.
func (c *mcpCommand) Run(ctx context.Context, s *Session) error {
	writes, err := agent.ParseWrites(c.Allow)
	if err != nil {
		return outcome.Fail(outcome.Misused, "--allow: %w", err)
	}
	folders := []string{s.Path(".")}
	for _, path := range c.AllowPath {
		folders = append(folders, s.Path(path))
	}
	return agent.Run(ctx, agent.Config{Client: s.Client, Writes: writes, Folders: folders,
		Pace: agent.StdioPace(), Version: number()}, s.World.In, s.World.Out)
}
