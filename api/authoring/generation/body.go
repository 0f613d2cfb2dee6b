package generation

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/authoring/settings"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/group"
)

// generateBody is what a request says of a test to write.
type generateBody struct {
	Name        *string  `json:"name"`
	TestSuiteID *string  `json:"testSuiteId"`
	TeamID      *string  `json:"teamId"`
	Tags        []string `json:"tags"`
	refineBody
}

// refineBody is what a request says of a further sentence for a case.
type refineBody struct {
	RunSettings    request.Document `json:"runSettings"`
	PromptSettings request.Document `json:"promptSettings"`
	Timeout        *int             `json:"timeout"` // milliseconds
}

// promptBody is the member promptSettings.
type promptBody struct {
	Intent   *string `json:"intent"`
	MaxSteps *int    `json:"maxSteps"`
	// Explore is on or off; null: as the organization.
	Explore   *string `json:"explore"`
	KeepDraft bool    `json:"keepDraft"`
}

const promptPath = "promptSettings"

// prompt reads what is to be written, and how long that may take.
func (in *refineBody) prompt(n *generation.New) error {
	if !in.PromptSettings.Given() {
		return problem.Member(promptPath, "is required")
	}
	var p promptBody
	if err := in.PromptSettings.Decode(promptPath, &p); err != nil {
		return err
	}
	if p.Intent == nil {
		return problem.Member(promptPath+".intent", "is required")
	}
	n.Intent, n.MaxSteps, n.Timeout = *p.Intent, request.Or(p.MaxSteps, generation.DefaultMaxSteps), generation.DefaultTimeout
	n.Explore, n.KeepDraft = request.Or(p.Explore, ""), p.KeepDraft
	if p.Explore != nil && n.Explore == "" {
		return problem.Member(promptPath+".explore", "must be on, off or null")
	}
	if in.Timeout == nil {
		return nil
	}
	// A number that is no duration at all is outside of the bounds too.
	most := int((generation.MaxTimeout + time.Millisecond).Milliseconds())
	n.Timeout = time.Duration(min(max(*in.Timeout, 0), most)) * time.Millisecond
	return nil
}

// readNew reads a test to write and checks all that is known before it is.
func (h Generations) readNew(ctx context.Context, organization int64, in *generateBody) (n generation.New, err error) {
	if err := request.Required(in.Name); err != nil {
		return n, err
	}
	n.Name, n.Tags = *in.Name, answer.Tags(in.Tags)
	if n.Team, err = request.OptionalUUID("teamId", in.TeamID); err != nil {
		return n, err
	}
	if n.SuiteID, err = request.OptionalUUID("testSuiteId", in.TestSuiteID); err != nil {
		return n, err
	}
	if !in.RunSettings.Given() {
		return n, problem.Member(settings.Path, "is required")
	}
	if n.Settings, err = settings.ReadForGeneration(in.RunSettings, h.CheckTarget); err != nil {
		return n, err
	}
	if err := in.prompt(&n); err != nil {
		return n, err
	}
	if err := n.Check(); err != nil {
		return n, err
	}
	if err := h.resolve(ctx, organization, &n, n.Settings.PrimaryTarget, *n.Settings.PrimaryTarget); err != nil {
		return n, err
	}
	return n, h.CheckAddresses(ctx, settings.Path+".testUrl", n.Settings.TestURL, "", nil)
}

// readRefinement reads a further sentence for a case.
func (h Generations) readRefinement(ctx context.Context, organization int64, in *refineBody, of *authoring.Case) (n generation.New,
	err error) {
	n = generation.New{Refines: of, Name: of.Name, Tags: of.Tags, Settings: of.Settings}
	if err := h.refinable(ctx, of); err != nil {
		return n, err
	}
	if err := in.prompt(&n); err != nil {
		return n, err
	}
	if err := n.Check(); err != nil {
		return n, err
	}
	target, err := in.target(h.CheckTarget)
	if err != nil {
		return n, err
	}
	if target == nil {
		targets, err := handler.TargetsOf(&of.Settings)
		if err != nil {
			return n, err
		}
		target = &targets[0]
	}
	return n, h.resolve(ctx, organization, &n, of.Settings.PrimaryTarget, *target)
}

// target is the one of the request; nil leaves it to the case.
func (in *refineBody) target(check settings.Check) (*capability.Target, error) {
	if !in.RunSettings.Given() {
		return nil, nil
	}
	var own struct {
		Target request.Document `json:"target"`
	}
	if err := in.RunSettings.Decode(settings.Path, &own); err != nil {
		return nil, err
	}
	return settings.ReadTarget(settings.TargetPath, own.Target, check)
}

// resolve works out the capabilities and the tunnel of the session, and refuses what
// the organization does not have.
func (h Generations) resolve(ctx context.Context, organization int64, n *generation.New, primary *capability.Target,
	target capability.Target) error {
	of := handler.Targeting{Base: h.Base, Organization: organization}
	resolved := capability.Resolver{Vendor: h.Vendor, Case: n.Name, Primary: primary}.Resolve([]capability.Target{target},
		n.Settings.SCTunnelName)
	path := settings.Path + ".scTunnelName"
	if n.Settings.SCTunnelName == nil {
		path = settings.TargetPath + "." + capability.TunnelPath(h.Vendor)
	}
	if err := of.CheckTunnel(ctx, path, resolved.Tunnel); err != nil {
		return err
	}
	n.Target, n.Tunnel = resolved.Targets[0], resolved.Tunnel
	return of.CheckApps(ctx, resolved.Targets)
}

// refinable refuses a case that runs step groups: a sentence changes the steps of a test, and
// those of a group are of others too.
func (h Generations) refinable(ctx context.Context, of *authoring.Case) error {
	latest, err := authoring.RevisionByID(ctx, h.DB, of.ID, "")
	if errors.Is(err, storage.ErrNotFound) {
		return nil // it has no steps yet
	}
	if err != nil {
		return err
	}
	if len(group.IDs(latest.Steps)) > 0 {
		return problem.Refused(http.StatusConflict, problem.CodeGroupUnrefinable,
			"the test runs step groups, which a sentence cannot refine: change its steps, or those of the groups")
	}
	return nil
}
