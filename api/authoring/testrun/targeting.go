package testrun

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/authoring/settings"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// resolve returns the name of the build, the targets and the tunnel of a run of a
// case: those of the request, else those of the environment, nil for none, else those of the case.
func resolve(ctx context.Context, t handler.Targeting, in *runBody, of *authoring.Case, env *environment.Environment) (build string,
	resolved capability.Resolved, err error) {
	if build, err = in.build(of.Name); err != nil {
		return "", resolved, err
	}
	own := t.Within(env, &of.Settings)
	targets, err := in.targets(own, env, t.CheckTarget)
	if err != nil {
		return "", resolved, err
	}
	tunnel, err := in.tunnel(own)
	if err != nil {
		return "", resolved, err
	}
	resolved = capability.Resolver{Vendor: t.Vendor, Case: of.Name, Build: build, Primary: own.PrimaryTarget}.
		Resolve(targets, tunnel)
	if resolved.Conflict {
		return build, resolved, t.DifferentTunnels("targets", resolved)
	}
	path := "scTunnelName"
	if tunnel == nil {
		path = t.TunnelPath("targets", resolved.At)
	}
	if err := t.CheckTunnel(ctx, path, resolved.Tunnel); err != nil {
		return build, resolved, err
	}
	return build, resolved, t.CheckApps(ctx, resolved.Targets)
}

// targetsOfSuite returns the targets that replace those of the cases of a suite; none leaves
// them to the cases.
func targetsOfSuite(ctx context.Context, t handler.Targeting, in *suiteRunBody) ([]capability.Target, error) {
	if !in.Targets.Given() {
		return nil, nil
	}
	targets, err := settings.ReadTargets("targets", in.Targets, t.CheckTarget)
	if err != nil {
		return nil, err
	}
	tunnel, at, ok := capability.SharedTunnel(targets, t.Vendor)
	if !ok {
		return nil, t.DifferentTunnels("targets", capability.Resolved{At: at})
	}
	if err := t.CheckTunnel(ctx, t.TunnelPath("targets", at), tunnel); err != nil {
		return nil, err
	}
	return targets, t.CheckApps(ctx, targets)
}

// stillThere refuses targets of an earlier run whose tunnel or app is gone.
func stillThere(ctx context.Context, t handler.Targeting, targets []capability.Target, tunnel string) error {
	if err := t.CheckTunnel(ctx, "scTunnelName", tunnel); err != nil {
		return err
	}
	return t.CheckApps(ctx, targets)
}

// environmentOf returns the environment of a run of a suite: that of the request, else the
// suite's default; nil for none.
func (h SuiteRuns) environmentOf(ctx context.Context, organization int64, id uuid.UUID,
	in *suiteRunBody) (*environment.Environment, error) {
	name, err := request.Value(in.Environment, "environment", "")
	if err != nil || name != nil && *name == "" {
		return nil, err
	}
	suite, err := authoring.SuiteByID(ctx, h.DB, organization, id)
	if err != nil {
		return nil, err
	}
	if name == nil {
		return h.EnvironmentFor(ctx, organization, "defaultEnvironment of the suite", suite.DefaultEnvironment, suite.TeamID)
	}
	return h.EnvironmentFor(ctx, organization, "environment", *name, suite.TeamID)
}
