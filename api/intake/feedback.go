package intake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	apibody "github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pace"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
)

// feedbackBytes bounds a body of feedback: its texts have 9 KB at most.
const feedbackBytes = 64 << 10

// feedbackRequest is what a user wrote about a crash.
type feedbackRequest struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Text  string `json:"text"`
}

// Feedback serves POST /api/v3/crashes/{id}/feedback?token=TOKEN for programs and pages: the
// id is the _rxid of the report, or its uuid. The body is JSON, also under the type of a
// beacon, or a form.
func (r *Receiver) Feedback(c *gin.Context) error {
	r.allowOrigin(c)
	err := r.feedback(c)
	if err == nil {
		return nil
	}
	var f *failure
	if errors.As(err, &f) {
		r.cfg.Observer.Rejected(f.reason)
		return &f.Problem
	}
	return err
}

func (r *Receiver) feedback(c *gin.Context) error {
	id, err := uuid.Parse(c.Param("id"))
	if err != nil {
		return storage.ErrNotFound
	}
	ctx := c.Request.Context()
	token, err := r.token(ctx, c.ClientIP(), parseQuery(c.Request.URL.RawQuery).token)
	if err != nil {
		return err
	}
	if err := r.checkOrigin(c, token); err != nil {
		return err
	}
	if err := r.admit(token, crashproject.ScopeErrorPost); err != nil {
		return err
	}
	var req feedbackRequest
	if err := r.readFeedback(c, &req); err != nil {
		return err
	}
	found, err := r.addFeedback(ctx, token, id, req)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusCreated, gin.H{"feedback": gin.H{"crash_id": found}})
}

// readFeedback reads the body, inflated where it is gzip.
func (r *Receiver) readFeedback(c *gin.Context, req *feedbackRequest) error {
	sent := &body{}
	defer sent.close(r)
	if err := sent.open(r, c.Request, pace.Of(c)); err != nil {
		return err
	}
	if err := sent.sniff(r); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(sent, feedbackBytes+1))
	switch {
	case err != nil:
		return err
	case len(text) > feedbackBytes:
		return tooLarge("the feedback is longer than %d bytes", feedbackBytes)
	}
	c.Request.Body = io.NopCloser(bytes.NewReader(text))
	if strings.HasPrefix(apibody.Type(c.Request), "text/") || len(text) > 0 && text[0] == '{' {
		c.Request.Header.Set("Content-Type", apibody.TypeJSON)
	}
	return apibody.Read(c, req)
}

// addFeedback stores what a user wrote about a crash.
func (r *Receiver) addFeedback(ctx context.Context, t *crash.Token, id uuid.UUID, req feedbackRequest) (uuid.UUID, error) {
	found, err := r.cfg.Store.AddFeedback(ctx, crash.NewFeedback{OrganizationID: t.OrganizationID, ProjectID: t.ProjectID, CrashID: id,
		Name: req.Name, Email: req.Email, Text: req.Text})
	if errors.Is(err, crash.ErrTooMuchFeedback) {
		return found, &failure{respond.Problem{Status: http.StatusConflict, Crash: codeExists, Text: err.Error(), Err: err}, ReasonTooLarge}
	}
	return found, err
}
