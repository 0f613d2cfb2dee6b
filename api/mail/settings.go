package mail

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	store "github.com/slipway-qa/slipway/storage/mail"
)

// settingsView is how an organization's mail is sent.
type settingsView struct {
	SenderName    string     `json:"sender_name"`
	ReplyTo       string     `json:"reply_to"`
	RatePerMinute int        `json:"rate_per_minute"`
	Digest        digestView `json:"digest"`
}

type digestView struct {
	Enabled    bool     `json:"enabled"`
	Weekday    string   `json:"weekday"`
	Hour       int      `json:"hour"`
	Recipients []string `json:"recipients"`
}

func viewSettings(s store.Settings) settingsView {
	recipients := append([]string{}, s.DigestRecipients...)
	return settingsView{SenderName: s.SenderName, ReplyTo: s.ReplyTo, RatePerMinute: s.RatePerMinute,
		Digest: digestView{Enabled: s.DigestEnabled, Weekday: strings.ToLower(time.Weekday(s.DigestWeekday).String()), Hour: s.DigestHour,
			Recipients: recipients}}
}

// Settings serves GET /api/v3/settings/mail.
func (h *Handlers) Settings(c *gin.Context) error {
	s, err := store.SettingsOf(c.Request.Context(), h.cfg.DB, callerOf(c).OrganizationID)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"mail": viewSettings(s)})
}

// settingsRequest has the members to change.
type settingsRequest struct {
	SenderName    *string        `json:"sender_name"`
	ReplyTo       *string        `json:"reply_to"`
	RatePerMinute *int64         `json:"rate_per_minute"`
	Digest        *digestRequest `json:"digest"`
}

type digestRequest struct {
	Enabled    *bool     `json:"enabled"`
	Weekday    *string   `json:"weekday"`
	Hour       *int64    `json:"hour"`
	Recipients *[]string `json:"recipients"`
}

// apply changes what was sent. The store checks the rest.
func (r *settingsRequest) apply(s *store.Settings) error {
	set(&s.SenderName, r.SenderName)
	set(&s.ReplyTo, r.ReplyTo)
	if r.RatePerMinute != nil {
		s.RatePerMinute = bounded(*r.RatePerMinute)
	}
	d := r.Digest
	if d == nil {
		return nil
	}
	set(&s.DigestEnabled, d.Enabled)
	if d.Hour != nil {
		s.DigestHour = bounded(*d.Hour)
	}
	if d.Recipients != nil {
		s.DigestRecipients = slices.Clone(*d.Recipients)
	}
	if d.Weekday == nil {
		return nil
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.EqualFold(*d.Weekday, day.String()) {
			s.DigestWeekday = int(day)
			return nil
		}
	}
	return &storage.InvalidError{Field: "digest.weekday", Msg: "must be a day of the week, such as monday"}
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

// bounded returns a number that fits, so that the store finds a wrong one wrong.
func bounded(n int64) int { return int(max(-1, min(n, 1<<30))) }

// UpdateSettings serves PUT /api/v3/settings/mail.
func (h *Handlers) UpdateSettings(c *gin.Context) error {
	var req settingsRequest
	if err := body.Read(c, &req); err != nil {
		return err
	}
	var s store.Settings
	err := h.inTx(c, func(ctx context.Context, tx *storage.Tx) (err error) {
		organization := callerOf(c).OrganizationID
		if s, err = store.SettingsOf(ctx, tx, organization); err != nil {
			return err
		}
		if err := req.apply(&s); err != nil {
			return err
		}
		if err := store.SetSettings(ctx, tx, auth.Actor(c), organization, s, h.cfg.Now()); err != nil {
			return err
		}
		s, err = store.SettingsOf(ctx, tx, organization)
		return err
	})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"mail": viewSettings(s)})
}

// suppressionView is an address that gets no mail.
type suppressionView struct {
	ID        int64      `json:"id"`
	Email     string     `json:"email"`
	Source    string     `json:"source"`
	Status    string     `json:"status"`
	Detail    string     `json:"detail"`
	MailID    *uuid.UUID `json:"mail_id"`
	CreatedAt time.Time  `json:"created_at"`
}

// maxSearch is far above any address.
const maxSearch = 255

// Suppressions serves GET /api/v3/settings/mail/suppressions.
func (h *Handlers) Suppressions(c *gin.Context) error {
	request, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	search := c.Query("search")
	if len(search) > maxSearch || strings.Contains(search, "\x00") || strings.ToValidUTF8(search, "") != search {
		return &storage.InvalidError{Field: "search", Msg: "must be text of at most 255 bytes"}
	}
	rows, total, err := store.Suppressions(c.Request.Context(), h.cfg.DB, callerOf(c).OrganizationID, search, request.Rows())
	if err != nil {
		return err
	}
	views := make([]suppressionView, len(rows))
	for i, s := range rows {
		views[i] = suppressionView{s.ID, s.Email, s.Source, s.Status, s.Detail, s.MailID, s.CreatedAt.UTC()}
	}
	return respond.JSON(c, http.StatusOK, gin.H{"suppressions": views, "pagination": request.Envelope(total)})
}

// RemoveSuppression serves DELETE /api/v3/settings/mail/suppressions/{id}.
func (h *Handlers) RemoveSuppression(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		return store.RemoveSuppression(ctx, tx, auth.Actor(c), callerOf(c).OrganizationID, id)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
