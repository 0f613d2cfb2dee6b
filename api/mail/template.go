package mail

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"rsc.io/qr"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact/icon"
	store "github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
)

// templateView is the template of a kind that is in force.
type templateView struct {
	Kind          string `json:"kind"`
	Title         string `json:"title"`
	Transactional bool   `json:"transactional"`
	// Customized: the organization has a template of its own.
	Customized   bool                       `json:"customized"`
	Subject      string                     `json:"subject"`
	Text         string                     `json:"text"`
	Placeholders []mailtemplate.Placeholder `json:"placeholders"`
	UpdatedAt    *time.Time                 `json:"updated_at"`
}

func viewTemplate(k mailtemplate.Kind, own *store.Template) templateView {
	v := templateView{Kind: k.Name, Title: k.Title, Transactional: k.Transactional, Subject: k.Default.Subject, Text: k.Default.Text,
		Placeholders: k.Placeholders}
	if own != nil {
		at := own.UpdatedAt.UTC()
		v.Customized, v.Subject, v.Text, v.UpdatedAt = true, own.Subject, own.Text, &at
	}
	return v
}

// Templates serves GET /api/v3/settings/mail-templates.
func (h *Handlers) Templates(c *gin.Context) error {
	request, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	own, err := store.Templates(c.Request.Context(), h.cfg.DB, callerOf(c).OrganizationID)
	if err != nil {
		return err
	}
	kinds := mailtemplate.Kinds()
	views := []templateView{}
	for i, k := range kinds {
		if i < request.Offset() || len(views) == request.Limit() {
			continue
		}
		var stored *store.Template
		if t, ok := own[k.Name]; ok {
			stored = &t
		}
		views = append(views, viewTemplate(k, stored))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"mail_templates": views, "pagination": request.Envelope(len(kinds))})
}

// ownTemplate reads the organization's template of a kind; nil when it has none.
func (h *Handlers) ownTemplate(c *gin.Context, kind string) (*store.Template, error) {
	own, err := store.TemplateOf(c.Request.Context(), h.cfg.DB, callerOf(c).OrganizationID, kind)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return own, err
}

// Template serves GET /api/v3/settings/mail-templates/{kind}.
func (h *Handlers) Template(c *gin.Context) error {
	k, err := mailtemplate.KindOf(c.Param("kind"))
	if err != nil {
		return err
	}
	own, err := h.ownTemplate(c, k.Name)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"mail_template": viewTemplate(k, own)})
}

// templateRequest is a template as it is set or previewed.
type templateRequest struct {
	Subject *string           `json:"subject"`
	Text    *string           `json:"text"`
	Data    map[string]string `json:"data"`
}

// over returns the template with the members that were sent.
func (r *templateRequest) over(t mailtemplate.Template) mailtemplate.Template {
	if r.Subject != nil {
		t.Subject = strings.TrimSpace(*r.Subject)
		if strings.ContainsAny(*r.Subject, "\r\n") {
			t.Subject = *r.Subject // refused: it would begin another header
		}
	}
	if r.Text != nil {
		t.Text = *r.Text
	}
	return t
}

// current returns the template that is in force.
func current(k mailtemplate.Kind, own *store.Template) mailtemplate.Template {
	if own != nil {
		return mailtemplate.Template{Subject: own.Subject, Text: own.Text}
	}
	return k.Default
}

// UpdateTemplate serves PUT /api/v3/settings/mail-templates/{kind}: members that are
// not sent stay as they are.
func (h *Handlers) UpdateTemplate(c *gin.Context) error {
	k, err := mailtemplate.KindOf(c.Param("kind"))
	if err != nil {
		return err
	}
	var req templateRequest
	if err := body.Read(c, &req); err != nil {
		return err
	}
	if req.Data != nil {
		return &storage.InvalidError{Field: "data", Msg: "is of a preview: a template has none"}
	}
	if req.Subject == nil && req.Text == nil {
		return &storage.InvalidError{Field: "subject", Msg: "or text is required"}
	}
	own, err := h.ownTemplate(c, k.Name)
	if err != nil {
		return err
	}
	t := req.over(current(k, own))
	if err := k.Check(t); err != nil {
		return err
	}
	stored := store.Template{Kind: k.Name, Subject: t.Subject, Text: t.Text}
	err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		return store.SetTemplate(ctx, tx, auth.Actor(c), callerOf(c).OrganizationID, &stored)
	})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"mail_template": viewTemplate(k, &stored)})
}

// ResetTemplate serves DELETE /api/v3/settings/mail-templates/{kind}.
func (h *Handlers) ResetTemplate(c *gin.Context) error {
	k, err := mailtemplate.KindOf(c.Param("kind"))
	if err != nil {
		return err
	}
	err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		return store.ResetTemplate(ctx, tx, auth.Actor(c), callerOf(c).OrganizationID, k.Name)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}

// previewView is a mail that is not sent.
type previewView struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
}

// Preview serves POST /api/v3/settings/mail-templates/{kind}/preview. The body may have
// a template, which is checked as if it were stored, and data in place of the samples.
func (h *Handlers) Preview(c *gin.Context) error {
	k, err := mailtemplate.KindOf(c.Param("kind"))
	if err != nil {
		return err
	}
	var req templateRequest
	if err := body.Read(c, &req); err != nil {
		return err
	}
	own, err := h.ownTemplate(c, k.Name)
	if err != nil {
		return err
	}
	t := req.over(current(k, own))
	if err := k.Check(t); err != nil {
		return err
	}
	m, err := k.Preview(&t, req.Data, h.cfg.Links.Unsubscribe("sample"))
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"preview": previewView{m.Subject, m.Text, withPictures(m, req.Data["app"])}})
}

// withPictures writes the pictures, which a mail has as parts of its own, into the HTML.
func withPictures(m mailtemplate.Rendered, app string) string {
	html := m.HTML
	if m.Icon != "" {
		if app == "" {
			app = "Groupshot"
		}
		if png, err := icon.Letter(app); err == nil {
			html = strings.ReplaceAll(html, "cid:icon@mail", dataURL(png))
		}
	}
	if m.QR != "" {
		if code, err := qr.Encode(m.QR, qr.M); err == nil {
			html = strings.ReplaceAll(html, "cid:qr@mail", dataURL(code.PNG()))
		}
	}
	return html
}

func dataURL(png []byte) string {
	var out bytes.Buffer
	out.WriteString("data:image/png;base64,")
	out.WriteString(base64.StdEncoding.EncodeToString(png))
	return out.String()
}
