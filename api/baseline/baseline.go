// Package baseline serves what people accept of the looks and the accessibility of a test
// case: the pictures that its steps are compared with, and findings that fail no run.
//
// Who reads tests reads both, and who changes the case decides. A picture is accepted by its
// own id, which the record of a step names as candidateId, or with all of a run. Decisions are
// in the audit log.
//
// Answers and failures are those of the authoring interface: {"data": ...}, and a code. What
// belongs to another organization is not found.
package baseline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/baseline"
	"github.com/slipway-qa/slipway/storage/object"
)

// Config is what the handlers need.
type Config struct {
	DB      *storage.DB
	Objects object.Store
	// PublicURL begins the links that answers hold.
	PublicURL string
}

// Handlers are the handlers of the room's routes.
type Handlers struct{ cfg Config }

// New returns the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.Objects == nil {
		return nil, errors.New("baseline handlers: database and objects are required")
	}
	return &Handlers{cfg}, nil
}

const (
	basePath = "/v1/ai-authoring"
	// linkAge is the life of a signed link to a picture.
	linkAge = time.Hour
)

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const tests, ofCase = respond.InterfaceAuthoring, basePath + "/testcases/:id"
	return []route.Route{
		{Method: http.MethodGet, Path: ofCase + "/baselines", Interface: tests, Query: []string{"stepId", "state", "skip", "limit"},
			Action: auth.ReadTests, Handler: coded(h.list)},
		{Method: http.MethodGet, Path: ofCase + "/baselines/:baselineId", Interface: tests, Query: route.NoQuery(),
			Action: auth.ReadTests, Handler: coded(h.get)},
		{Method: http.MethodGet, Path: ofCase + "/baselines/:baselineId/picture", Interface: tests, Query: route.NoQuery(),
			Action: auth.ReadTests, Handler: coded(h.picture)},
		{Method: http.MethodPost, Path: ofCase + "/baselines/:baselineId/accept", Interface: tests, Action: auth.ReviewLooks,
			Handler: coded(h.accept)},
		{Method: http.MethodPost, Path: ofCase + "/baselines/:baselineId/reject", Interface: tests, Action: auth.ReviewLooks,
			Handler: coded(h.reject)},
		{Method: http.MethodPost, Path: ofCase + "/runs/:runId/baselines/accept", Interface: tests, Action: auth.ReviewLooks,
			Handler: coded(h.acceptRun)},
		{Method: http.MethodPost, Path: basePath + "/testsuites/:id/runs/:runId/baselines/accept", Interface: tests,
			Action: auth.ReviewLooks, Handler: coded(h.acceptSuiteRun)},
		{Method: http.MethodGet, Path: ofCase + "/accessibility", Interface: tests, Query: []string{"skip", "limit"},
			Action: auth.ReadTests, Handler: coded(h.findings)},
		{Method: http.MethodPost, Path: ofCase + "/accessibility/accept", Interface: tests, Action: auth.ReviewLooks,
			Handler: coded(h.acceptFindings)},
		{Method: http.MethodDelete, Path: ofCase + "/accessibility/:key", Interface: tests, Query: route.NoQuery(),
			Bare: true, Action: auth.ReviewLooks, Handler: coded(h.removeFinding)},
	}
}

// baselineView is a picture of a step on one kind of target.
type baselineView struct {
	ID             uuid.UUID      `json:"id"`
	TestCaseID     string         `json:"testCaseId"`
	StepID         string         `json:"stepId"`
	Name           string         `json:"name"`
	Target         string         `json:"target"`
	State          baseline.State `json:"state"`
	BrowserVersion string         `json:"browserVersion"`
	Fonts          string         `json:"fonts"`
	Width          int            `json:"width"`
	Height         int            `json:"height"`
	Size           int64          `json:"size"`
	PictureURL     string         `json:"pictureUrl"`
	LastRunID      uuid.UUID      `json:"lastRunId"`
	CreationDate   string         `json:"creationDate"`
	LastSeenDate   string         `json:"lastSeenDate"`
	Decision       *decisionView  `json:"decision"`
}

// decisionView is who accepted or rejected a picture.
type decisionView struct {
	UserID uuid.UUID `json:"userId"`
	Date   string    `json:"date"`
}

func (h *Handlers) view(b *baseline.Baseline) baselineView {
	v := baselineView{ID: b.ID, TestCaseID: b.CaseID, StepID: b.StepID, Name: b.Name, Target: b.Target, State: b.State,
		BrowserVersion: b.BrowserVersion,
		Fonts:          b.Fonts, Width: b.Width, Height: b.Height, Size: b.Size, LastRunID: b.RunID, CreationDate: stamp(b.CreatedAt),
		LastSeenDate: stamp(b.SeenAt),
		PictureURL:   fmt.Sprintf("%s%s/testcases/%s/baselines/%s/picture", h.cfg.PublicURL, basePath, b.CaseID, b.ID)}
	if b.Decider != nil && b.DecidedAt != nil {
		v.Decision = &decisionView{UserID: *b.Decider, Date: stamp(*b.DecidedAt)}
	}
	return v
}

func (h *Handlers) views(list []baseline.Baseline) []baselineView {
	views := make([]baselineView, 0, len(list))
	for i := range list {
		views = append(views, h.view(&list[i]))
	}
	return views
}

// list serves GET /testcases/{id}/baselines, the one seen last first. Parameters: stepId,
// state, skip, limit.
func (h *Handlers) list(c *gin.Context) error {
	query := c.Request.URL.Query()
	f := baseline.Filter{StepID: query.Get("stepId"), State: baseline.State(query.Get("state"))}
	if f.State != "" && !slices.Contains(baseline.States, f.State) {
		return invalidQuery("state", "must be one of UNREVIEWED, CANDIDATE, ACCEPTED, REJECTED, FORMER")
	}
	var err error
	if f.Page, err = page(query); err != nil {
		return err
	}
	if f.CaseID, err = h.caseOf(c); err != nil {
		return err
	}
	list, total, err := baseline.List(c.Request.Context(), h.cfg.DB, f)
	if err != nil {
		return err
	}
	return data(c, gin.H{"items": h.views(list), "total": total})
}

// get serves GET /testcases/{id}/baselines/{baselineId}.
func (h *Handlers) get(c *gin.Context) error {
	b, err := h.named(c)
	if err != nil {
		return err
	}
	return data(c, h.view(b))
}

// named reads the baseline of the path.
func (h *Handlers) named(c *gin.Context) (*baseline.Baseline, error) {
	id, err := uuidParam(c, "baselineId")
	if err != nil {
		return nil, err
	}
	caseID, err := h.caseOf(c)
	if err != nil {
		return nil, err
	}
	b, err := baseline.ByID(c.Request.Context(), h.cfg.DB, caseID, id)
	return b, ofBaseline(err)
}

// picture serves GET /testcases/{id}/baselines/{baselineId}/picture with a redirect to a
// signed link.
func (h *Handlers) picture(c *gin.Context) error {
	b, err := h.named(c)
	if err != nil {
		return err
	}
	link, err := h.cfg.Objects.SignGet(c.Request.Context(), b.Key, linkAge, object.SignOptions{FileName: "baseline-" + b.StepID + ".png",
		ContentType: "image/png", Inline: true})
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store") // the link is a credential
	c.Header("Location", link)
	return respond.Empty(c, http.StatusFound)
}

// accept serves POST /testcases/{id}/baselines/{baselineId}/accept.
func (h *Handlers) accept(c *gin.Context) error { return h.decide(c, baseline.Accept) }

// reject serves POST /testcases/{id}/baselines/{baselineId}/reject.
func (h *Handlers) reject(c *gin.Context) error { return h.decide(c, baseline.Reject) }

func (h *Handlers) decide(c *gin.Context, do func(context.Context, *storage.Tx, account.Writer, string,
	uuid.UUID) (*baseline.Baseline, error)) error {
	caseID, err := caseID(c)
	if err != nil {
		return err
	}
	id, err := uuidParam(c, "baselineId")
	if err != nil {
		return err
	}
	if err := body.ReadNone(c); err != nil {
		return err
	}
	if caseID, err = h.caseOf(c); err != nil {
		return err
	}
	var b *baseline.Baseline
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		b, err = do(ctx, tx, w, caseID, id)
		return ofBaseline(err)
	})
	if err != nil {
		return err
	}
	return data(c, h.view(b))
}
