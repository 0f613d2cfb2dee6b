package authoring

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
)

// The codes of a run whose environment it cannot have.
const (
	codeEnvironmentNotFound  = "ENVIRONMENT_NOT_FOUND"
	codeEnvironmentForbidden = "ENVIRONMENT_FORBIDDEN"
)

// environmentFor returns the environment that a member names, for cases of a team; nil for "".
func (h *room) environmentFor(ctx context.Context, organization int64, member, name string, team int64) (*environment.Environment, error) {
	if name == "" {
		return nil, nil
	}
	env, err := environment.ByName(ctx, h.cfg.DB, organization, name)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, refused(http.StatusBadRequest, codeEnvironmentNotFound,
			fmt.Sprintf("%s: the organization has no environment %.100q", member, name))
	}
	if err != nil {
		return nil, err
	}
	if env.TeamID != 0 && env.TeamID != team {
		return nil, refused(http.StatusForbidden, codeEnvironmentForbidden, member+": it is for the tests of another team alone")
	}
	return env, nil
}

// environmentOf returns the environment of a run of a suite: that of the request, else the
// suite's default; nil for none.
func (h suiteRuns) environmentOf(ctx context.Context, organization int64, id uuid.UUID,
	in *suiteRunBody) (*environment.Environment, error) {
	name, err := valueOf(in.Environment, "environment", "")
	if err != nil || name != nil && *name == "" {
		return nil, err
	}
	suite, err := authoring.SuiteByID(ctx, h.cfg.DB, organization, id)
	if err != nil {
		return nil, err
	}
	if name == nil {
		return h.environmentFor(ctx, organization, "defaultEnvironment of the suite", suite.DefaultEnvironment, suite.TeamID)
	}
	return h.environmentFor(ctx, organization, "environment", *name, suite.TeamID)
}

// checkEnvironment refuses an environment whose tunnel or apps are gone; nil is none.
func (t targeting) checkEnvironment(ctx context.Context, env *environment.Environment) error {
	if env == nil {
		return nil
	}
	if err := t.checkTunnel(ctx, "environment", run.TunnelOf(env, t.cfg.Vendor)); err != nil {
		return err
	}
	return t.checkApps(ctx, env.Targets)
}

// within returns the settings of a case as they are in an environment, nil for none: with
// its tunnel in place of those that the case and its targets name.
func (t targeting) within(env *environment.Environment, s *step.RunSettings) *step.RunSettings {
	if env == nil {
		return s
	}
	tunnel := run.TunnelOf(env, t.cfg.Vendor)
	if tunnel == "" {
		return s
	}
	of := *s
	of.SCTunnelName = &tunnel
	if s.PrimaryTarget != nil {
		primary := *s.PrimaryTarget
		primary.Capabilities = step.WithoutTunnel(primary.Capabilities, t.cfg.Vendor)
		of.PrimaryTarget = &primary
	}
	of.RunTargets = make([]step.Target, len(s.RunTargets))
	for i, target := range s.RunTargets {
		of.RunTargets[i] = step.Target{IsRDC: target.IsRDC, Capabilities: step.WithoutTunnel(target.Capabilities, t.cfg.Vendor)}
	}
	return &of
}

// environment reads a filter by the name of an environment; "" when absent.
func (q *query) environment() string {
	name := strings.TrimSpace(q.values.Get("environment"))
	if name != "" && !environment.IsName(name) {
		q.wrong(&storage.InvalidError{Field: "environment", Msg: "must have 1 to 60 lower-case letters, digits and hyphens"})
	}
	return name
}
