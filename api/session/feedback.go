package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/picture"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/session"
)

const (
	maxScreenshot = picture.MaxBytes
	// maxFeedbackBody leaves room for the fields.
	maxFeedbackBody = maxScreenshot + 1<<20
	maxField        = 64 << 10
	maxFields       = 50
	// feedbackDeadline lets a picture through at 50 KiB/s.
	feedbackDeadline = 4 * time.Minute
	// linkLife is how long the links of screenshots work.
	linkLife = 24 * time.Hour
	// eventLinkLife is how long those in webhooks do: the longest that a store signs.
	eventLinkLife = object.MaxLinkAge
	removeWait    = 15 * time.Second
)

// feedbackBody is the body of feedback, apart from the picture.
type feedbackBody struct {
	Token     word `json:"token"`
	UUID      word `json:"uuid"`
	SessionID word `json:"session_id"`
	Text      word `json:"text"`
	Source    word `json:"source"`
	// Blocker: the build must not go on with this.
	Blocker body.Switch `json:"blocker"`
	about
}

// feedback serves POST /api/1/sdk/feedbacks. The token may also be a field of the form,
// before the picture.
func (h sdkHandlers) feedback(c *gin.Context) error {
	text := c.GetHeader(TokenHeader)
	if text == "" {
		text = c.Query("token")
	}
	form := &feedbackForm{h: h, c: c, fields: map[string]string{}}
	defer form.free()
	multi := body.Type(c.Request) == body.TypeMultipart
	var err error
	if text != "" || !multi {
		if form.token, err = h.admitFeedback(c, text); err != nil {
			return err
		}
	}
	in := &feedbackBody{}
	if multi {
		err = form.read(in)
	} else {
		err = body.Read(c, in, body.IgnoreUnknown)
	}
	if err != nil {
		return err
	}
	n, err := h.newFeedback(c, form.token, in)
	if err != nil {
		return err
	}
	return h.store(c, n, form.picture)
}

// admitFeedback bounds feedback beyond the quota of the token.
func (h sdkHandlers) admitFeedback(c *gin.Context, text string) (*session.Token, error) {
	t, err := h.admit(c, text, session.ScopeFeedback)
	if err != nil {
		return nil, err
	}
	wait := h.feedbacks.Take(t.ID, feedbacksPerMinute)
	if wait == 0 {
		wait = h.brake.Wait(c.ClientIP())
	}
	if wait > 0 {
		return nil, &respond.Problem{Status: http.StatusTooManyRequests, Text: "too much feedback in a minute", RetryAfter: wait}
	}
	return t, nil
}

// feedbackForm is a form on its way.
type feedbackForm struct {
	h       sdkHandlers
	c       *gin.Context
	token   *session.Token // nil: not known yet
	fields  map[string]string
	picture *picture.Picture
	release func() // of the picture's place in memory
}

func (f *feedbackForm) free() {
	if f.release != nil {
		f.release()
	}
}

// read reads the parts as they come, and the members out of them.
func (f *feedbackForm) read(in *feedbackBody) error {
	parts, err := f.c.Request.MultipartReader()
	if err != nil {
		return storage.Invalid("Content-Type", "multipart/form-data needs a boundary")
	}
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return unreadable(err)
		}
		if n == maxFields {
			return storage.Invalid("body", "has more than %d parts", maxFields)
		}
		if err := f.part(part); err != nil {
			return err
		}
	}
	for name, to := range map[string]*word{"uuid": &in.UUID, "session_id": &in.SessionID, "text": &in.Text, "source": &in.Source,
		"build_id": &in.BuildID, "version": &in.Version, "version_code": &in.VersionCode, "package": &in.Package, "email": &in.Email,
		"correlation_id": &in.CorrelationID, "correlationId": &in.CorrelationID2, "device": &in.Device, "os": &in.OS,
		"os_version": &in.OSVersion, "locale": &in.Locale} {
		*to = word(f.fields[name])
	}
	if text := f.fields["blocker"]; text != "" && in.Blocker.UnmarshalJSON([]byte(text)) != nil {
		return storage.Invalid("blocker", "must be true or false")
	}
	return f.admit()
}

// admit finds the token among the fields, unless it is known already.
func (f *feedbackForm) admit() (err error) {
	if f.token == nil {
		f.token, err = f.h.admitFeedback(f.c, f.fields["token"])
	}
	return err
}

// part takes one part: a file is the picture, whatever it is called.
func (f *feedbackForm) part(part *multipart.Part) error {
	if part.FileName() == "" && part.FormName() != "screenshot" {
		value, err := readPart(part, maxField)
		f.fields[part.FormName()] = strings.ToValidUTF8(string(value), "\uFFFD")
		return err
	}
	if f.release != nil {
		return storage.Invalid("screenshot", "is given twice")
	}
	if err := f.admit(); err != nil {
		return err
	}
	release, err := f.h.place(f.c, f.token, maxScreenshot)
	if err != nil {
		return err
	}
	f.release = release
	data, err := readPart(part, maxScreenshot)
	if err != nil || len(data) == 0 {
		return err
	}
	return f.decode(data)
}

// decode writes the picture anew. Unpacked it takes many times its bytes, so only a few
// are decoded at once.
func (f *feedbackForm) decode(data []byte) (err error) {
	slot, err := f.h.decoding.Enter(f.c.Request.Context(), callerOf(f.token), 1)
	if err != nil {
		return unavailable(f.c, err)
	}
	defer slot.Leave()
	f.picture, err = picture.Read("screenshot", bytes.NewReader(data))
	return err
}

func readPart(part *multipart.Part, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(part, most+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if int64(len(data)) > most {
		return nil, &respond.Problem{Status: http.StatusRequestEntityTooLarge, Text: fmt.Sprintf("%s: is longer than %d bytes",
			part.FormName(), most)}
	}
	return data, nil
}

// newFeedback finds the session and the build that feedback is about.
func (h sdkHandlers) newFeedback(c *gin.Context, t *session.Token, in *feedbackBody) (n session.NewFeedback, err error) {
	if err := in.check(t); err != nil {
		return n, err
	}
	n = session.NewFeedback{OrganizationID: t.OrganizationID, ProjectID: t.ProjectID, Text: string(in.Text),
		Source: string(in.Source), Blocker: bool(in.Blocker),
		Email: string(in.Email), CorrelationID: first(in.CorrelationID, in.CorrelationID2), Device: in.device(), IPAddress: c.ClientIP()}
	n.Actor = account.Actor{Name: "sdk", RequestID: respond.RequestID(c.Request.Context()), IPAddress: n.IPAddress}
	if in.UUID != "" {
		if n.ClientID, err = identifier("uuid", string(in.UUID)); err != nil {
			return n, err
		}
	}
	if n.BuildID, err = number("build_id", string(in.BuildID)); err != nil {
		return n, err
	}
	ctx := c.Request.Context()
	if in.SessionID != "" {
		if err := h.ofSession(ctx, &n, string(in.SessionID)); err != nil {
			return n, err
		}
	}
	if n.BuildID == 0 {
		n.BuildID, err = distribution.FindReportedBuild(ctx, h.db, distribution.ReportedBuild{ProjectID: t.ProjectID,
			Version: string(in.Version), VersionCode: string(in.VersionCode)})
	}
	return n, err
}

// ofSession takes from the session what the feedback does not say itself.
func (h sdkHandlers) ofSession(ctx context.Context, n *session.NewFeedback, id string) error {
	client, err := identifier("session_id", id)
	if err != nil {
		return err
	}
	s, err := session.SessionByClient(ctx, h.db, n.ProjectID, client)
	if errors.Is(err, storage.ErrNotFound) {
		return errNoSession()
	}
	if err != nil {
		return err
	}
	n.SessionID = s.ID
	n.SessionURL = h.cfg.Links.Path(fmt.Sprintf("/api/v3/sessions/%d", s.ID))
	if n.BuildID == 0 {
		n.BuildID = s.BuildID
	}
	if n.Email == "" {
		n.Email = s.Identity.Email
	}
	if n.CorrelationID == "" {
		n.CorrelationID = s.Identity.CorrelationID
	}
	if n.Device == (session.Device{}) {
		n.Device = s.Device
	}
	return nil
}

// store writes the picture, then the row that names it.
func (h sdkHandlers) store(c *gin.Context, n session.NewFeedback, shot *picture.Picture) error {
	ctx := c.Request.Context()
	if n.ClientID != uuid.Nil {
		id, err := session.FeedbackByClient(ctx, h.db, n.ProjectID, n.ClientID)
		if err == nil {
			return answerFeedback(c, id)
		}
		if !errors.Is(err, storage.ErrNotFound) {
			return unavailable(c, err)
		}
	}
	if shot != nil {
		if err := h.putScreenshot(ctx, &n, shot); err != nil {
			return err
		}
	}
	var id int64
	err := h.db.InTx(ctx, func(tx *storage.Tx) (err error) {
		id, err = session.AddFeedback(ctx, tx, n)
		return err
	})
	var unknown *storage.UnknownOutcomeError
	if err != nil && n.ScreenshotKey != "" && !errors.As(err, &unknown) {
		h.removeScreenshot(ctx, n.ScreenshotKey)
	}
	if errors.Is(err, storage.ErrNotFound) {
		return &respond.Problem{Status: http.StatusNotFound, Text: "build_id: the app has no such build", Err: err}
	}
	if err != nil {
		return unavailable(c, err)
	}
	return answerFeedback(c, id)
}

func answerFeedback(c *gin.Context, id int64) error {
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "feedback_id": decimal(id)})
}

// putScreenshot stores a picture under a key of its own.
func (r *room) putScreenshot(ctx context.Context, n *session.NewFeedback, shot *picture.Picture) error {
	if r.cfg.Objects == nil {
		return &respond.Problem{Status: http.StatusServiceUnavailable, Text: "screenshot: this installation has no store of files"}
	}
	n.ScreenshotKey, n.ScreenshotType = session.ScreenshotPrefix+uuid.NewString(), shot.ContentType
	n.ScreenshotSize = int64(len(shot.Bytes))
	_, err := object.Put(ctx, r.cfg.Objects, n.ScreenshotKey, bytes.NewReader(shot.Bytes), n.ScreenshotSize,
		object.WriteOptions{ContentType: shot.ContentType})
	if err != nil {
		return &respond.Problem{Status: http.StatusServiceUnavailable, Text: "the screenshot cannot be stored now: send it again later",
			RetryAfter: retryAfter, Err: err}
	}
	n.ScreenshotURL, err = r.link(ctx, n.ScreenshotKey, shot.ContentType, eventLinkLife)
	return err
}

// link signs a link to a picture; "" without one.
func (r *room) link(ctx context.Context, key, kind string, life time.Duration) (string, error) {
	if key == "" || r.cfg.Objects == nil {
		return "", nil
	}
	return r.cfg.Objects.SignGet(ctx, key, life, object.SignOptions{ContentType: kind, Inline: true,
		FileName: "screenshot." + strings.TrimPrefix(kind, "image/")})
}

// removeScreenshot deletes a picture that no row names. What cannot be deleted now is
// left to the sweep.
func (r *room) removeScreenshot(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWait)
	defer cancel()
	if err := r.cfg.Objects.Delete(ctx, key); err != nil {
		r.cfg.Log.WarnContext(ctx, "screenshot not deleted", "key", key, "error", err)
	}
}

// deleteFeedback serves DELETE /api/v3/feedbacks/{id}.
func (h readHandlers) deleteFeedback(c *gin.Context) error {
	id, err := feedbackOf(c)
	if err != nil {
		return err
	}
	ctx, w := c.Request.Context(), auth.Writer(c)
	var key string
	err = h.db.InTx(ctx, func(tx *storage.Tx) (err error) {
		key, err = session.DeleteFeedback(ctx, tx, w, id, denied(distribution.ErrNotTeamAdmin))
		return err
	})
	if err != nil {
		return err
	}
	if key != "" && h.cfg.Objects != nil {
		h.removeScreenshot(ctx, key)
	}
	return respond.Empty(c, http.StatusNoContent)
}
