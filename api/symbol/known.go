package symbol

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// maxKnown bounds what one request asks for: the files of a large app.
const maxKnown = 1000

// sha256Digits is the length of a SHA-256 in hexadecimal.
const sha256Digits = 64

// knownRequest is the body of POST /api/v3/symbols/known.
type knownRequest struct {
	Identifiers    body.List `json:"identifiers"`
	SHA256         body.List `json:"sha256"`
	CrashProjectID *int64    `json:"crash_project_id"`
	CrashProject   string    `json:"crash_project"` // its name, in place of the id
}

// knownResponse has what was asked for, as it was written: the identifiers, then the digests.
type knownResponse struct {
	Known   []string `json:"known"`
	Unknown []string `json:"unknown"`
}

// Known serves POST /api/v3/symbols/known: which files need not be sent, as they are there.
func (h *Handlers) Known(c *gin.Context) error {
	var in knownRequest
	if err := body.Read(c, &in); err != nil {
		return err
	}
	q := symbolfile.KnownQuery{OrganizationID: auth.Organization(c), Identifiers: in.Identifiers, SHA256: in.SHA256}
	if err := in.check(); err != nil {
		return err
	}
	ctx := c.Request.Context()
	var err error
	if q.ProjectID, err = h.crashProject(ctx, q.OrganizationID, &in); err != nil {
		return err
	}
	known, err := symbolfile.Known(ctx, h.db, q)
	if err != nil {
		return err
	}
	answer := knownResponse{Known: []string{}, Unknown: []string{}}
	for i, text := range append(append([]string{}, in.Identifiers...), in.SHA256...) {
		if known[i] {
			answer.Known = append(answer.Known, text)
		} else {
			answer.Unknown = append(answer.Unknown, text)
		}
	}
	return respond.JSON(c, http.StatusOK, answer)
}

// crashProject is the crash project that a request names by its id or name; 0 for none. Both are
// taken as with a file that is sent.
func (h *Handlers) crashProject(ctx context.Context, organizationID int64, in *knownRequest) (int64, error) {
	var p *crashproject.Project
	var err error
	field := "crash_project_id"
	switch {
	case in.CrashProjectID != nil:
		p, err = crashproject.ByID(ctx, h.db, organizationID, *in.CrashProjectID)
	case in.CrashProject != "":
		field = "crash_project"
		p, err = crashproject.ByName(ctx, h.db, organizationID, in.CrashProject)
	default:
		return 0, nil
	}
	if errors.Is(err, storage.ErrNotFound) {
		return 0, storage.Invalid(field, "is no crash project of the organization")
	}
	if err != nil {
		return 0, err
	}
	return p.ID, nil
}

func (r *knownRequest) check() error {
	if n := len(r.Identifiers) + len(r.SHA256); n == 0 || n > maxKnown {
		return storage.Invalid("identifiers", "and sha256 together must have 1 to %d entries", maxKnown)
	}
	for _, text := range r.Identifiers {
		if len(text) > maxIdentifier {
			return storage.Invalid("identifiers", "must have at most %d bytes each", maxIdentifier)
		}
	}
	for _, text := range r.SHA256 {
		if _, err := hex.DecodeString(strings.TrimSpace(text)); err != nil || len(strings.TrimSpace(text)) != sha256Digits {
			return storage.Invalid("sha256", "must be SHA-256 in hexadecimal, of %d digits each", sha256Digits)
		}
	}
	return nil
}
