package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/gatefile"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/settings"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/testrun"
)

// gateCommand is `gate`: a build's gate, and the policy of an app.
type gateCommand struct {
	Ask    gateAskCommand    `cmd:"" default:"withargs" help:"May the build go out? 0: yes, 1: no, or unknown."`
	Policy gatePolicyCommand `cmd:"" help:"The policy of an app."`
}

// gateAskCommand is `gate BUILD`.
type gateAskCommand struct {
	Build string `arg:"" help:"Id of the build; with --app also a version, or latest."`
	appFlag
	Wait bool `help:"Wait until it passes or fails; exit code 4 when --timeout is over before."`
}

// Run asks the gate.
func (c *gateAskCommand) Run(ctx context.Context, s *Session) error {
	build, err := s.buildOf(ctx, c.app(s), c.Build)
	if err != nil {
		return err
	}
	gate, err := s.askGate(ctx, build, c.Wait)
	if gate != nil {
		if err := s.Document(map[string]any{"build_id": build, "gate": gate}); err != nil {
			return err
		}
	}
	return err
}

// buildOf finds a build by its id, or within an app by its version or as the latest one.
func (s *Session) buildOf(ctx context.Context, app, name string) (string, error) {
	if _, err := strconv.ParseInt(name, 10, 64); err == nil {
		return name, nil
	}
	if app == "" {
		return "", outcome.Fail(outcome.Misused, "%q is no id of a build; for a version, or latest, name the app by --app", name)
	}
	id, err := s.appOf(ctx, app)
	if err != nil {
		return "", err
	}
	version := name
	if name == "latest" {
		version = ""
	}
	builds, err := s.Client.Builds(ctx, id, version)
	if err != nil {
		return "", err
	}
	if len(builds) == 0 {
		return "", outcome.Fail(outcome.Misused, "the app %s has no build %s", app, name)
	}
	return strconv.FormatInt(builds[0].ID, 10), nil
}

// askGate prints the gate of a build and fails unless it passes. The gate is nil only when the
// server could not be asked.
func (s *Session) askGate(ctx context.Context, build string, wait bool) (*client.Gate, error) {
	if !wait {
		gate, err := s.Client.Gate(ctx, build)
		if err != nil {
			return nil, err
		}
		s.printGate(build, gate)
		return gate, verdict(build, gate)
	}
	table := s.Out.Table("condition", "state", "measured", "")
	gate, err := s.Client.AwaitGate(ctx, build, func(g *client.Gate) { showGate(table, g) })
	table.Drop()
	if err != nil && !errors.Is(err, outcome.ErrTimeout) {
		return nil, err
	}
	s.printGate(build, gate)
	if err != nil {
		return gate, outcome.Fail(outcome.TimedOut, "the gate of build %s is still unknown: %w: %s", build, err, missing(gate))
	}
	return gate, verdict(build, gate)
}

func showGate(table *progress.Table, g *client.Gate) {
	open := 0
	for _, c := range g.Conditions {
		state := map[string]progress.State{"pass": progress.Good, "fail": progress.Bad}[c.State]
		if c.State == "unknown" {
			open++
		}
		table.Set(c.Name, state, c.Name, c.State, c.Measured, c.Reason)
	}
	table.Summary(fmt.Sprintf("gate: %s, %d of %d conditions open", g.State, open, len(g.Conditions)))
}

// printGate prints the conditions, and the link to the evidence of those that do not pass.
func (s *Session) printGate(build string, g *client.Gate) {
	for _, c := range g.Conditions {
		line := c.Name
		if c.Measured != "" {
			line += ": " + c.Measured + " (wanted: " + c.Wanted + ")"
		}
		if c.Reason != "" {
			line += ": " + c.Reason
		}
		if c.State != "pass" && c.URL != "" {
			line += " " + s.absolute(c.URL)
		}
		s.Result("%-7s  %s", c.State, line)
	}
	line := fmt.Sprintf("gate of build %s: %s", build, g.State)
	if o := g.Overridden; o != nil {
		line += fmt.Sprintf(", decided by %s: %s", o.By, o.Reason)
	}
	s.Result("%s", line)
}

// absolute is an address at the server.
func (s *Session) absolute(address string) string {
	if strings.HasPrefix(address, "/") {
		return s.Client.URL(address)
	}
	return address
}

// verdict is the error of a gate that is not open.
func verdict(build string, g *client.Gate) error {
	switch g.State {
	case "pass":
		return nil
	case "fail":
		return outcome.Fail(outcome.Failed, "the gate of build %s is closed", build)
	}
	return outcome.Fail(outcome.Failed, "the gate of build %s is unknown: %s", build, missing(g))
}

// missing is what a gate lacks.
func missing(g *client.Gate) string {
	var texts []string
	for _, c := range g.Conditions {
		if c.State == "unknown" {
			texts = append(texts, or(c.Reason, c.Name+" was not measured"))
		}
	}
	if len(texts) == 0 {
		return or(g.Reason, "the app has no policy with conditions")
	}
	return strings.Join(texts, "; ")
}

// gatePolicyCommand is `gate policy`.
type gatePolicyCommand struct {
	Get   policyGetCommand   `cmd:"" help:"Print the policy of an app as JSON."`
	Push  policyPushCommand  `cmd:"" help:"Store the policy of slipway.yaml (gate) on the server."`
	Check policyCheckCommand `cmd:"" help:"Fail when the server's policy is not that of slipway.yaml."`
}

type policyGetCommand struct{ appFlag }

// Run prints the policy.
func (c *policyGetCommand) Run(ctx context.Context, s *Session) error {
	policy, err := s.policy(ctx, c.appFlag)
	if err != nil {
		return err
	}
	if policy == nil {
		return outcome.Fail(outcome.Failed, "the app has no policy")
	}
	s.JSON = true // its document is the result
	return s.Document(policy)
}

type policyPushCommand struct{ appFlag }

// Run stores the policy.
func (c *policyPushCommand) Run(ctx context.Context, s *Session) error {
	local, err := s.localPolicy(ctx)
	if err != nil {
		return err
	}
	app, err := s.requireApp(ctx, c.appFlag)
	if err != nil {
		return err
	}
	stored, err := s.Client.SetGatePolicy(ctx, app, local)
	if err != nil {
		return err
	}
	s.Result("the policy of %s is stored", s.File.Path)
	return s.Document(stored)
}

type policyCheckCommand struct{ appFlag }

// Run compares the policies. What slipway.yaml leaves to the server may be anything.
func (c *policyCheckCommand) Run(ctx context.Context, s *Session) error {
	local, err := s.localPolicy(ctx)
	if err != nil {
		return err
	}
	policy, err := s.policy(ctx, c.appFlag)
	if err != nil {
		return err
	}
	if policy == nil {
		return outcome.Fail(outcome.Failed, "the server has no policy for the app: gate policy push stores that of %s", s.File.Path)
	}
	var remote any
	if err := json.Unmarshal(policy, &remote); err != nil {
		return err
	}
	if at := gatefile.Differs(local, remote, "gate"); at != "" {
		return outcome.Fail(outcome.Failed, "the server has another policy than %s: %s", s.File.Path, at)
	}
	s.Result("the server has the policy of %s", s.File.Path)
	return s.Document(map[string]any{"same": true})
}

// requireApp finds the app of a flag or of the settings.
func (s *Session) requireApp(ctx context.Context, f appFlag) (int64, error) {
	name := f.app(s)
	if name == "" {
		return 0, outcome.Fail(outcome.Misused, "no app: use --app, or write app into %s", settings.Name)
	}
	return s.appOf(ctx, name)
}

func (s *Session) policy(ctx context.Context, f appFlag) (json.RawMessage, error) {
	app, err := s.requireApp(ctx, f)
	if err != nil {
		return nil, err
	}
	return s.Client.GatePolicy(ctx, app)
}

// localPolicy is the policy of slipway.yaml as the server takes it.
func (s *Session) localPolicy(ctx context.Context) (any, error) {
	if s.File.Gate == nil {
		return nil, outcome.Fail(outcome.Misused, "no policy: write gate into %s", or(s.File.Path, settings.Name))
	}
	policy, err := gatefile.Read(s.File.Gate)
	if err != nil {
		return nil, outcome.Fail(outcome.Misused, "%s: gate: %w", s.File.Path, err)
	}
	err = gatefile.NameSuites(policy, func(word string) (string, error) { return testrun.SuiteID(ctx, s.Client, word) })
	return policy, misuse(err)
}
