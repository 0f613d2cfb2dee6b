package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// ScreenshotPrefix begins the object keys of screenshots: feedbacks/<UUID>.
const ScreenshotPrefix = "feedbacks/"

// NewFeedback is what somebody says of a build. Text or a screenshot is required.
type NewFeedback struct {
	OrganizationID int64
	ProjectID      int64
	BuildID        int64 // 0: none that is known
	// SessionID is that of a session of the same app; 0: none.
	SessionID int64
	// UserID is the tester; 0: who has the address Email among the people of the
	// organization, if anybody.
	UserID int64
	// ClientID is chosen by the sender: a second feedback of the app with it is not
	// stored. uuid.Nil: each counts.
	ClientID uuid.UUID
	Text     string
	Source   string // how it was given: shake, page; "" is "sdk"
	// Blocker says that the build must not go on with this.
	Blocker       bool
	Email         string
	CorrelationID string
	Device        Device
	IPAddress     string
	// The screenshot is an object that is stored already; "": none.
	ScreenshotKey  string
	ScreenshotType string
	ScreenshotSize int64
	// ScreenshotURL and SessionURL are for the webhook; may be empty.
	ScreenshotURL string
	SessionURL    string
	Actor         account.Actor // who the audit log names; without a name, the address or "sdk"
}

const (
	// MaxFeedback bounds the text of feedback, in characters.
	MaxFeedback = 10_000
	maxLine     = 255
)

// clean bounds the texts and refuses what has nothing in it.
func (n *NewFeedback) clean() error {
	n.Text = strings.TrimSpace(storage.WithoutNUL(strings.ToValidUTF8(n.Text, "\uFFFD")))
	if storage.Cut(n.Text, MaxFeedback) != n.Text {
		return storage.Invalid("text", "must have at most %d characters", MaxFeedback)
	}
	if n.Text == "" && n.ScreenshotKey == "" {
		return storage.Invalid("text", "is required, or a screenshot")
	}
	if n.Source == "" {
		n.Source = "sdk"
	}
	if n.Actor.Name == "" {
		n.Actor.Name = "sdk"
	}
	return lines(map[string]*string{"source": &n.Source, "email": &n.Email, "correlationId": &n.CorrelationID,
		"device": &n.Device.Model, "os": &n.Device.OS, "osVersion": &n.Device.OSVersion, "locale": &n.Device.Locale})
}

// lines cleans texts of one line, by the names of their members.
func lines(members map[string]*string) error {
	for member, text := range members {
		clean, err := storage.Line(member, *text, maxLine)
		if err != nil {
			return err
		}
		*text = clean
	}
	return nil
}

const insertFeedback = `
insert into feedbacks (organization_id, project_id, build_id, session_id, user_id, client_id, text, source, email,
	correlation_id, device_model, os, os_version, locale, ip_address, screenshot_key, screenshot_type, screenshot_size, blocker)
values ($1, $2, nullif($3::bigint, 0), nullif($4::bigint, 0),
	coalesce(nullif($5::bigint, 0), (select u.id from users u
		join memberships m on m.user_id = u.id and m.organization_id = $1
		where $9 <> '' and lower(u.email) = lower($9))),
	$6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
on conflict (project_id, client_id) where client_id is not null do nothing
returning id`

// countFeedback keeps the build from being removed before its feedback is there, by the row's
// lock.
const countFeedback = `
update builds set feedbacks = feedbacks + 1 where id = $1 and project_id = $2 and deleted_at is null returning id`

// AddFeedback stores feedback, counts it on its build, and writes the audit entry and
// the event of webhooks. Feedback that was there by its ClientID is returned as it
// is: nothing is written. storage.ErrNotFound when the build is none of the app.
func AddFeedback(ctx context.Context, tx *storage.Tx, n NewFeedback) (int64, error) {
	if err := n.clean(); err != nil {
		return 0, err
	}
	if n.BuildID != 0 {
		var id int64
		if err := tx.GetContext(ctx, &id, countFeedback, n.BuildID, n.ProjectID); err != nil {
			return 0, storage.Wrap(err, fmt.Sprintf("build %d", n.BuildID))
		}
	}
	var client any
	if n.ClientID != uuid.Nil {
		client = n.ClientID
	}
	var id int64
	err := storage.Wrap(tx.GetContext(ctx, &id, insertFeedback, n.OrganizationID, n.ProjectID, n.BuildID, n.SessionID, n.UserID, client,
		n.Text, n.Source, n.Email, n.CorrelationID, n.Device.Model, n.Device.OS, n.Device.OSVersion, n.Device.Locale, n.IPAddress,
		n.ScreenshotKey, n.ScreenshotType, n.ScreenshotSize, n.Blocker), "store feedback")
	if errors.Is(err, storage.ErrNotFound) {
		return repeated(ctx, tx, n)
	}
	if err != nil {
		return 0, err
	}
	err = account.Audit(ctx, tx, account.Event{OrganizationID: n.OrganizationID, Type: account.FeedbackReceived, Actor: n.Actor,
		Subject: fmt.Sprintf("feedback %d", id), Detail: map[string]any{"id": id, "project_id": n.ProjectID, "build_id": n.BuildID,
			"email": n.Email, "source": n.Source, "screenshot": n.ScreenshotKey != "", "blocker": n.Blocker}})
	if err != nil {
		return 0, err
	}
	return id, webhook.Emit(ctx, tx, n.event(id))
}

// repeated undoes the count of feedback that was there already.
func repeated(ctx context.Context, tx *storage.Tx, n NewFeedback) (int64, error) {
	if n.BuildID != 0 {
		_, err := tx.ExecContext(ctx, `update builds set feedbacks = feedbacks - 1 where id = $1`, n.BuildID)
		if err != nil {
			return 0, storage.Wrap(err, "count feedback")
		}
	}
	return FeedbackByClient(ctx, tx, n.ProjectID, n.ClientID)
}

// FeedbackByClient finds feedback of an app by the uuid that its sender chose.
func FeedbackByClient(ctx context.Context, q storage.Querier, projectID int64, client uuid.UUID) (int64, error) {
	var id int64
	err := q.GetContext(ctx, &id, `select id from feedbacks where project_id = $1 and client_id = $2`, projectID, client)
	return id, storage.Wrap(err, "feedback")
}

// event is what webhooks are sent.
func (n *NewFeedback) event(id int64) webhook.Event {
	return webhook.Event{OrganizationID: n.OrganizationID, Action: webhook.Feedback, ProjectID: n.ProjectID, BuildID: n.BuildID,
		Key: fmt.Sprintf("feedback:%d", id), Data: feedbackData{FeedbackID: fmt.Sprint(id), Text: n.Text, ScreenshotURL: n.ScreenshotURL,
			SessionURL: n.SessionURL, CorrelationID: n.CorrelationID, Email: n.Email, RawDeviceName: n.Device.Name(), IPAddress: n.IPAddress,
			Source: n.Source, Blocker: n.Blocker}}
}

// feedbackData are the members of the event feedback.
type feedbackData struct {
	FeedbackID    string `json:"feedbackId"`
	Text          string `json:"text"`
	ScreenshotURL string `json:"screenshotUrl"`
	SessionURL    string `json:"sessionUrl"`
	CorrelationID string `json:"correlationId"`
	Email         string `json:"email"`
	RawDeviceName string `json:"rawDeviceName"`
	IPAddress     string `json:"ipAddress"`
	Source        string `json:"source"`
	Blocker       bool   `json:"blocker"`
}
