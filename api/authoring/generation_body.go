package authoring

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/step"
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
	RunSettings    document `json:"runSettings"`
	PromptSettings document `json:"promptSettings"`
	Timeout        *int     `json:"timeout"` // milliseconds
}

// promptBody is the member promptSettings.
type promptBody struct {
	Intent   *string `json:"intent"`
	MaxSteps *int    `json:"maxSteps"`
	// Explore is on or off; null: as the organization.
	Explore   *string `json:"explore"`
	KeepDraft bool    `json:"keepDraft"`
}

const (
	promptPath = "promptSettings"
	targetPath = settingsPath + ".target"
)

// prompt reads what is to be written, and how long that may take.
func (in *refineBody) prompt(n *generation.New) error {
	if !in.PromptSettings.given() {
		return member(promptPath, "is required")
	}
	var p promptBody
	if err := in.PromptSettings.decode(promptPath, &p); err != nil {
		return err
	}
	if p.Intent == nil {
		return member(promptPath+".intent", "is required")
	}
	n.Intent, n.MaxSteps, n.Timeout = *p.Intent, or(p.MaxSteps, generation.DefaultMaxSteps), generation.DefaultTimeout
	n.Explore, n.KeepDraft = or(p.Explore, ""), p.KeepDraft
	if p.Explore != nil && n.Explore == "" {
		return member(promptPath+".explore", "must be on, off or null")
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
func (h generations) readNew(ctx context.Context, organization int64, in *generateBody) (n generation.New, err error) {
	if err := required(in.Name); err != nil {
		return n, err
	}
	n.Name, n.Tags = *in.Name, tags(in.Tags)
	if n.Team, err = optionalUUID("teamId", in.TeamID); err != nil {
		return n, err
	}
	if n.SuiteID, err = optionalUUID("testSuiteId", in.TestSuiteID); err != nil {
		return n, err
	}
	if !in.RunSettings.given() {
		return n, member(settingsPath, "is required")
	}
	if n.Settings, err = readGenerateSettings(in.RunSettings, h.checkTarget); err != nil {
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
	return n, h.checkAddresses(ctx, settingsPath+".testUrl", n.Settings.TestURL, "", nil)
}

// readGenerateSettings reads run settings with one target.
func readGenerateSettings(d document, check targetCheck) (s step.RunSettings, err error) {
	var in settingsChange
	if err := d.decode(settingsPath, &in.body); err != nil {
		return s, err
	}
	if in.body.PrimaryTarget.sent() || in.body.RunTargets.sent() {
		return s, member(settingsPath, "names what a generation runs on by target, not by primaryTarget and runTargets")
	}
	if err := in.readValues(); err != nil {
		return s, err
	}
	if err := in.readTargets(check); err != nil {
		return s, err
	}
	s = in.over(s)
	switch {
	case s.PrimaryTarget == nil:
		return s, member(targetPath+".capabilities", "is required, and must name what to run on, such as browserName")
	case s.TestURL == "" && !step.AppTarget(s.PrimaryTarget.Capabilities):
		return s, member(settingsPath+".testUrl", "is required for a test of a web site")
	}
	return s, under(settingsPath, step.CheckSettings(&s))
}

// readRefinement reads a further sentence for a case.
func (h generations) readRefinement(ctx context.Context, organization int64, in *refineBody, of *authoring.Case) (n generation.New,
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
	target, err := in.target(h.checkTarget)
	if err != nil {
		return n, err
	}
	if target == nil {
		targets, err := (&runBody{}).targets(&of.Settings, nil, h.checkTarget)
		if err != nil {
			return n, err
		}
		target = &targets[0]
	}
	return n, h.resolve(ctx, organization, &n, of.Settings.PrimaryTarget, *target)
}

// target is the one of the request; nil leaves it to the case.
func (in *refineBody) target(check targetCheck) (*step.Target, error) {
	if !in.RunSettings.given() {
		return nil, nil
	}
	var settings struct {
		Target document `json:"target"`
	}
	if err := in.RunSettings.decode(settingsPath, &settings); err != nil {
		return nil, err
	}
	return readTarget(targetPath, settings.Target, check)
}

// resolve works out the capabilities and the tunnel of the session, and refuses what
// the organization does not have.
func (h generations) resolve(ctx context.Context, organization int64, n *generation.New, primary *step.Target, target step.Target) error {
	of := targeting{h.room, organization}
	resolved := step.Resolver{Vendor: h.cfg.Vendor, Case: n.Name, Primary: primary}.Resolve([]step.Target{target}, n.Settings.SCTunnelName)
	path := settingsPath + ".scTunnelName"
	if n.Settings.SCTunnelName == nil {
		path = targetPath + "." + step.TunnelPath(h.cfg.Vendor)
	}
	if err := of.checkTunnel(ctx, path, resolved.Tunnel); err != nil {
		return err
	}
	n.Target, n.Tunnel = resolved.Targets[0], resolved.Tunnel
	return of.checkApps(ctx, resolved.Targets)
}

// refinable refuses a case that runs step groups: a sentence changes the steps of a test, and
// those of a group are of others too.
func (h generations) refinable(ctx context.Context, of *authoring.Case) error {
	latest, err := authoring.RevisionByID(ctx, h.cfg.DB, of.ID, "")
	if errors.Is(err, storage.ErrNotFound) {
		return nil // it has no steps yet
	}
	if err != nil {
		return err
	}
	if len(group.IDs(latest.Steps)) > 0 {
		return refused(http.StatusConflict, codeGroupUnrefinable,
			"the test runs step groups, which a sentence cannot refine: change its steps, or those of the groups")
	}
	return nil
}
