package authoring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/idempotency"
	"github.com/slipway-qa/slipway/storage/run"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/tasks"
)

// The codes of a run that cannot be started.
const (
	codeNoTargets = "NO_RUN_TARGETS"
	codeApp       = "APP_NOT_FOUND"
)

// idempotencyHeader makes a request that is sent twice within 24 hours start one
// run.
const idempotencyHeader = "Idempotency-Key"

// runBody is what a request may say of a run.
type runBody struct {
	BuildName *string  `json:"buildName"`
	Targets   document `json:"targets"`
	// SCTunnelName may be null, which is not the same as absent.
	SCTunnelName json.RawMessage `json:"scTunnelName"`
}

// RunCase answers POST /testcases/{id}/run: the latest revision is run. Members:
// buildName, targets, scTunnelName.
func (h *Handlers) RunCase(c *gin.Context) { h.runCase(c, "") }

// RunRevision answers POST /testcases/{id}/run/{revision}.
func (h *Handlers) RunRevision(c *gin.Context) {
	revisionID, err := hexParam(c, "revisionId")
	if err != nil {
		fail(c, err, revision)
		return
	}
	h.runCase(c, revisionID)
}

// runCase runs a revision of the case that the path names; "" is the latest.
func (h *Handlers) runCase(c *gin.Context, revisionID string) {
	id, err := caseID(c)
	var in runBody
	if err == nil {
		err = read(c, &in)
	}
	key := c.GetHeader(idempotencyHeader)
	var testRun *run.Run
	if err == nil {
		testRun, err = h.seenRun(c, id, key)
	}
	var n run.NewRun
	if err == nil && testRun == nil {
		n, err = h.newRun(c, id, revisionID, &in)
	}
	if err == nil && testRun == nil {
		n.Key = key
		testRun, err = h.startRun(c, n)
	}
	if err != nil {
		fail(c, err, testCase)
		return
	}
	h.answerRun(c, testRun)
}

// newRun makes a run of a case out of what the request says and the case has
// stored.
func (h *Handlers) newRun(c *gin.Context, id, revisionID string, in *runBody) (n run.NewRun, err error) {
	ctx := c.Request.Context()
	if n.Case, err = authoring.CaseByID(ctx, h.cfg.DB, organization(c), id); err != nil {
		return n, err
	}
	if n.Revision, err = authoring.RevisionByID(ctx, h.cfg.DB, id, revisionID); err != nil {
		return n, problem(err, revision)
	}
	if len(n.Revision.Steps) == 0 {
		return n, refused(http.StatusBadRequest, codeCaseEmpty, "the test case has no steps")
	}
	if n.BuildName, err = in.build(n.Case.Name); err != nil {
		return n, err
	}
	settings := &n.Case.Settings
	targets, err := in.targets(settings)
	if err != nil {
		return n, err
	}
	tunnel, err := in.tunnel(settings)
	if err != nil {
		return n, err
	}
	path := "scTunnelName"
	n.Targets = h.effective(targets, &n, or(tunnel, ""))
	switch {
	case tunnel == nil:
		if n.Tunnel, path, err = h.sharedTunnel("targets", n.Targets); err != nil {
			return n, err
		}
		n.Targets = h.effective(targets, &n, n.Tunnel)
	case *tunnel == "":
		for i := range n.Targets {
			n.Targets[i].Capabilities = step.WithoutTunnel(n.Targets[i].Capabilities, h.cfg.Vendor)
		}
	default:
		n.Tunnel = *tunnel
	}
	if err := h.checkTunnel(ctx, organization(c), path, n.Tunnel); err != nil {
		return n, err
	}
	return n, h.checkApps(ctx, organization(c), n.Targets)
}

// effective are targets with the capabilities that a run on them has.
func (h *Handlers) effective(targets []step.Target, n *run.NewRun, tunnel string) []step.Target {
	out := make([]step.Target, len(targets))
	for i, t := range targets {
		out[i] = step.Target{IsRDC: t.IsRDC,
			Capabilities: step.Effective(n.Case.Settings.PrimaryTarget, t, h.cfg.Vendor, n.Case.Name, n.BuildName, tunnel)}
	}
	return out
}

// sharedTunnel is the tunnel that effective targets name in the vendor's options,
// and where. A run has one.
func (h *Handlers) sharedTunnel(path string, targets []step.Target) (name, at string, err error) {
	name, i, ok := step.SharedTunnel(targets, h.cfg.Vendor)
	at = fmt.Sprintf("%s[%d].%s", path, i, step.TunnelPath(h.cfg.Vendor))
	if !ok {
		return "", "", member(at, "must be the same for all targets: they share one tunnel")
	}
	return name, at, nil
}

// build is the name of the build, by default as much of the case's name as fits.
func (in *runBody) build(caseName string) (string, error) {
	given := strings.TrimSpace(or(in.BuildName, ""))
	if given == "" {
		if runes := []rune(caseName); len(runes) > authoring.MaxBuildName {
			return strings.TrimSpace(string(runes[:authoring.MaxBuildName])), nil
		}
		return caseName, nil
	}
	if utf8.RuneCountInString(given) > authoring.MaxBuildName {
		return "", member("buildName", fmt.Sprintf("must have at most %d characters", authoring.MaxBuildName))
	}
	return given, nil
}

// targets are those of the request. Without any they are those of the case; one
// that asks for nothing is the case's primary target.
func (in *runBody) targets(s *step.RunSettings) ([]step.Target, error) {
	var given []document
	if in.Targets.given() {
		var err error
		if given, err = in.Targets.elements("targets", authoring.MaxTargets); err != nil {
			return nil, err
		}
	}
	missing := refused(http.StatusBadRequest, codeNoTargets, "neither the request nor the test case names a target to run on")
	var targets []step.Target
	for i, d := range given {
		path := fmt.Sprintf("targets[%d]", i)
		if !d.given() {
			return nil, member(path, "must be an object")
		}
		t, err := readTarget(path, d)
		if err != nil {
			return nil, err
		}
		if t == nil || len(t.Capabilities) == 0 {
			t = s.PrimaryTarget
		}
		if t.Empty() {
			return nil, missing
		}
		targets = append(targets, *t)
	}
	if len(targets) == 0 {
		targets = s.RunTargets
	}
	if len(targets) == 0 && !s.PrimaryTarget.Empty() {
		targets = []step.Target{*s.PrimaryTarget}
	}
	if len(targets) == 0 {
		return nil, missing
	}
	return targets, nil
}

// tunnel is the one of the request, else the case's; nil leaves it to the targets.
// null asks for none, whatever the case and the targets name.
func (in *runBody) tunnel(s *step.RunSettings) (*string, error) {
	if in.SCTunnelName == nil {
		if or(s.SCTunnelName, "") == "" {
			return nil, nil
		}
		return s.SCTunnelName, nil
	}
	name := ""
	if string(in.SCTunnelName) == "null" {
		return &name, nil
	}
	return &name, document{in.SCTunnelName}.decode("scTunnelName", &name)
}

// checkTunnel refuses a tunnel that is not registered; path is what names it.
func (h *Handlers) checkTunnel(ctx context.Context, organizationID int64, path, name string) error {
	if name == "" {
		return nil
	}
	_, err := authoring.TunnelByName(ctx, h.cfg.DB, organizationID, name)
	if errors.Is(err, storage.ErrNotFound) {
		return refused(http.StatusBadRequest, codeTunnelNotFound, path+": no tunnel of that name is registered")
	}
	return err
}

// startRun writes the run with the tasks of its jobs. A key that another request
// has used at the same time gives that one's run.
func (h *Handlers) startRun(c *gin.Context, n run.NewRun) (testRun *run.Run, err error) {
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		if testRun, err = run.StartRun(ctx, tx, w, n); err != nil {
			return err
		}
		var list []*ledger.NewTask
		for i := range testRun.Jobs {
			list = append(list, tasks.NewTestJob(w.OrganizationID, respond.RequestID(ctx), testRun.Jobs[i].ID))
		}
		return h.cfg.Queue.Insert(ctx, tx, list...)
	})
	if errors.Is(err, idempotency.ErrSeen) {
		if testRun, err = h.seenRun(c, n.Case.ID, n.Key); testRun == nil && err == nil {
			err = storage.ErrConflict // it was forgotten since
		}
		return testRun, err
	}
	if err != nil {
		return nil, err
	}
	return testRun, nil
}

// seenRun gives the run that a request with the key has started; nil when there
// is none.
func (h *Handlers) seenRun(c *gin.Context, id, key string) (*run.Run, error) {
	seen, err := h.seen(c, run.RunOperation(id), key)
	if err != nil || seen == uuid.Nil {
		return nil, err
	}
	testRun, err := run.RunByID(c.Request.Context(), h.cfg.DB, organization(c), id, seen)
	if errors.Is(err, storage.ErrNotFound) {
		err = problem(err, caseRun)
	}
	return testRun, err
}

// seen gives what a request with the key has made; uuid.Nil when there is none.
func (h *Handlers) seen(c *gin.Context, operation, key string) (uuid.UUID, error) {
	if key == "" {
		return uuid.Nil, nil
	}
	id, err := run.SeenKey(c.Request.Context(), h.cfg.DB, organization(c), operation, key)
	if errors.Is(err, storage.ErrNotFound) {
		return uuid.Nil, nil
	}
	return id, err
}
