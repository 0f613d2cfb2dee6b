package handler

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// codeEnvironmentForbidden is that of an environment which is for other tests.
const codeEnvironmentForbidden = "ENVIRONMENT_FORBIDDEN"

// EnvironmentFor returns the environment that a member names, for cases of a team; nil for "".
func (h *Base) EnvironmentFor(ctx context.Context, organization int64, member, name string, team int64) (*environment.Environment, error) {
	if name == "" {
		return nil, nil
	}
	env, err := environment.ByName(ctx, h.DB, organization, name)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, problem.Refused(http.StatusBadRequest, problem.CodeEnvironmentNotFound,
			fmt.Sprintf("%s: the organization has no environment %.100q", member, name))
	}
	if err != nil {
		return nil, err
	}
	if env.TeamID != 0 && env.TeamID != team {
		return nil, problem.Refused(http.StatusForbidden, codeEnvironmentForbidden, member+": it is for the tests of another team alone")
	}
	return env, nil
}

// CheckEnvironment refuses an environment whose tunnel or apps are gone; nil is none.
func (t Targeting) CheckEnvironment(ctx context.Context, env *environment.Environment) error {
	if env == nil {
		return nil
	}
	if err := t.CheckTunnel(ctx, "environment", run.TunnelOf(env, t.Vendor)); err != nil {
		return err
	}
	return t.CheckApps(ctx, env.Targets)
}

// Within returns the settings of a case as they are in an environment, nil for none: with
// its tunnel in place of those that the case and its targets name.
func (t Targeting) Within(env *environment.Environment, s *capability.RunSettings) *capability.RunSettings {
	if env == nil {
		return s
	}
	tunnel := run.TunnelOf(env, t.Vendor)
	if tunnel == "" {
		return s
	}
	of := *s
	of.SCTunnelName = &tunnel
	if s.PrimaryTarget != nil {
		primary := *s.PrimaryTarget
		primary.Capabilities = capability.WithoutTunnel(primary.Capabilities, t.Vendor)
		of.PrimaryTarget = &primary
	}
	of.RunTargets = make([]capability.Target, len(s.RunTargets))
	for i, target := range s.RunTargets {
		of.RunTargets[i] = capability.Target{IsRDC: target.IsRDC, Capabilities: capability.WithoutTunnel(target.Capabilities, t.Vendor)}
	}
	return &of
}
