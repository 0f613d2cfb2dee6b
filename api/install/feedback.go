package install

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/picture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/installpage"
	"github.com/slipway-qa/slipway/storage/distribution/visitor"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/session"
)

const (
	// maxFeedbackBody lets one picture and a text through.
	maxFeedbackBody = picture.MaxBytes + 256<<10
	// formMemory is what a form may take of memory before its files go to the disk.
	formMemory = 256 << 10
	// concurrentPictures bounds the memory that decoding takes: some 200 MB each at worst.
	concurrentPictures = 2
	// screenshotAge is how long the link in a webhook leads to the picture: as long as
	// stores sign for.
	screenshotAge = 7 * 24 * time.Hour
	// feedbackSource marks in lists where feedback came from.
	feedbackSource = "page"
)

type feedbackView struct {
	personView
	App         appView
	Version     string
	Action      string
	Build       string // token
	Once        string // names this form, so that sending it twice counts once
	Text        string
	Blocker     bool
	Fault       string
	Page        string // of the build
	Most        int
	IsDelivered bool
}

// feedbackLink is the form for feedback on a build.
func (s *site) feedbackLink(b *distribution.Build) string {
	return s.base + "/me/feedback?build=" + b.Token
}

// ownBuild reads a build by its token; storage.ErrNotFound when the person may not
// install it.
func (h *personHandlers) ownBuild(c *gin.Context, v *visitor.Visitor, token string) (*distribution.Build, error) {
	if !pageName.MatchString(token) {
		return nil, storage.ErrNotFound
	}
	ctx := c.Request.Context()
	l, err := installpage.ByName(ctx, h.cfg.DB, token)
	if err != nil {
		return nil, err
	}
	if !l.OfBuild || l.Project.OrganizationID != v.OrganizationID {
		return nil, storage.ErrNotFound
	}
	access, err := installpage.BuildAccess(ctx, h.cfg.DB, l.Build.ID, v.UserID)
	if err != nil {
		return nil, err
	}
	if !access.Allowed {
		return nil, storage.ErrNotFound
	}
	return l.Build, nil
}

func (h *personHandlers) feedbackView(v *visitor.Visitor, b *distribution.Build) feedbackView {
	return feedbackView{personView: h.view("Feedback", v), App: appView{Name: b.AppName, Icon: h.path(b.Token) + "/icon"},
		Version: versionOf(b), Action: h.base + "/me/feedback", Build: b.Token, Page: h.path(b.Token), Most: session.MaxFeedback}
}

// FeedbackForm serves GET /me/feedback?build=.
func (h *personHandlers) FeedbackForm(c *gin.Context, v *visitor.Visitor) error {
	b, err := h.ownBuild(c, v, c.Query("build"))
	if err != nil {
		return err
	}
	once, err := uuid.NewRandomFromReader(h.cfg.Random)
	if err != nil {
		return err
	}
	view := h.feedbackView(v, b)
	view.Once = once.String()
	return h.render(c, http.StatusOK, "feedback", view)
}

// Feedback serves POST /me/feedback: a multipart form with build, text, picture and blocker, of
// which text or picture may be missing.
func (h *personHandlers) Feedback(c *gin.Context, v *visitor.Visitor) error {
	if err := slowDown(c, h.feedbacks); err != nil {
		return err
	}
	r := c.Request
	err := r.ParseMultipartForm(formMemory)
	if r.MultipartForm != nil {
		defer func() { _ = r.MultipartForm.RemoveAll() }()
	}
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return err
		}
		return storage.Invalid("form", "must be multipart/form-data")
	}
	b, err := h.ownBuild(c, v, r.PostFormValue("build"))
	if err != nil {
		return err
	}
	n := session.NewFeedback{OrganizationID: v.OrganizationID, ProjectID: b.ProjectID, BuildID: b.ID, UserID: v.UserID,
		Text: lineEnds(r.PostFormValue("text")), Source: feedbackSource, Blocker: r.PostFormValue("blocker") != "",
		Email: v.Email, IPAddress: c.ClientIP(), Actor: h.actor(c, v)}
	// One that is no uuid is none: each counts then.
	n.ClientID, _ = uuid.Parse(r.PostFormValue("once"))
	err = h.keepFeedback(c, &n)
	view := h.feedbackView(v, b)
	var invalid *storage.InvalidError
	if errors.As(err, &invalid) {
		view.Text, view.Blocker, view.Once, view.Fault = n.Text, n.Blocker, r.PostFormValue("once"),
			sentence("The "+invalid.Field+" "+invalid.Msg)
		return h.render(c, http.StatusBadRequest, "feedback", view)
	}
	if err != nil {
		return err
	}
	view.IsDelivered = true
	return h.render(c, http.StatusOK, "feedback", view)
}

// lineEnds turns the line ends of forms into those of texts.
func lineEnds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// keepFeedback stores the picture, if there is one, and the feedback.
func (h *personHandlers) keepFeedback(c *gin.Context, n *session.NewFeedback) error {
	ctx := c.Request.Context()
	p, err := h.picture(c)
	if err != nil {
		return err
	}
	if p != nil {
		n.ScreenshotKey, n.ScreenshotType, n.ScreenshotSize = session.ScreenshotPrefix+uuid.NewString(), p.ContentType, int64(len(p.Bytes))
		_, err := object.Put(ctx, h.cfg.Objects, n.ScreenshotKey, bytes.NewReader(p.Bytes), n.ScreenshotSize,
			object.WriteOptions{ContentType: p.ContentType})
		if err != nil {
			return err
		}
		n.ScreenshotURL, err = h.cfg.Objects.SignGet(ctx, n.ScreenshotKey, screenshotAge, object.SignOptions{ContentType: p.ContentType})
		if err != nil {
			return err
		}
	}
	return h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error {
		_, err := session.AddFeedback(ctx, tx, *n)
		return err
	})
}

// picture reads the form's picture; nil when there is none.
func (h *personHandlers) picture(c *gin.Context) (*picture.Picture, error) {
	file, header, err := c.Request.FormFile("picture")
	if errors.Is(err, http.ErrMissingFile) {
		return nil, nil
	}
	if err != nil {
		return nil, storage.Invalid("picture", "cannot be read")
	}
	defer file.Close()
	if header.Size == 0 {
		return nil, nil // browsers send an empty file for a field that was left empty
	}
	ctx := c.Request.Context()
	select {
	case h.pictures <- struct{}{}:
		defer func() { <-h.pictures }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return picture.Read("picture", file)
}
