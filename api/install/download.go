package install

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/installpage"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/install"
	"github.com/slipway-qa/slipway/storage/object"
)

// downloadAge is the life of a link to a file, as long as an upload may take. A
// phone on a slow network that loses it resumes by the same link, each time as a
// new request, and neither a browser nor iOS comes back here for another link. A
// block acts on the links that were given out before only when they end.
const downloadAge = 2 * time.Hour

// Download serves GET /install/{name}/download: it leads to the file by a short-lived
// link and counts.
func (h *Handlers) Download(c *gin.Context) error {
	v, err := h.open(c, 1)
	if err != nil {
		return err
	}
	if v.Build == nil {
		return storage.ErrNotFound
	}
	if v.standing == unknown || v.standing == locked {
		// The form is on the page; a mail's link may lead here.
		c.Redirect(http.StatusSeeOther, h.path(v.name))
		return nil
	}
	if v.standing != welcome {
		return h.turnAway(c, v)
	}
	for _, l := range v.limits() {
		if reason := l.PageClosed(h.cfg.Now()); reason != "" {
			return errClosed(reason)
		}
	}
	if problem := unavailable(v.Build); problem != nil {
		return &respond.Problem{Status: http.StatusConflict, Text: problem.Title + ": " + problem.Text}
	}
	if c.Request.Method == http.MethodHead && v.bounded() {
		describeFile(c, v.Build)
		return nil
	}
	link, err := h.deliver(c, v, v.userID(), install.Page)
	if err != nil {
		return err
	}
	c.Redirect(http.StatusFound, link)
	return nil
}

// boundedAge is the life of a link behind a page that lets a number of installs through:
// whoever has it can load the file again. A slow phone needs some of it.
const boundedAge = 30 * time.Minute

// bounded reports whether the page lets only so many installs through.
func (v *visit) bounded() bool {
	return slices.ContainsFunc(v.limits(), func(l *landing.Limits) bool { return l.PageMaxInstalls != nil })
}

// linkAge is the life of a link to the file; none outlives the page by much.
func (v *visit) linkAge(now time.Time) time.Duration {
	age := downloadAge
	if v.bounded() {
		age = boundedAge
	}
	for _, l := range v.limits() {
		if l.PageExpiresAt != nil {
			age = min(age, max(time.Minute, l.PageExpiresAt.Sub(now)))
		}
	}
	return age
}

// describeFile writes the headers of a file for who asks for these only: a link would be
// an install that nobody counts.
func describeFile(c *gin.Context, b *distribution.Build) {
	c.Header("Content-Type", contentType(b))
	c.Header("Content-Length", strconv.FormatInt(b.File.Size, 10))
	c.Status(http.StatusOK)
}

// deliver signs a link to the build's file and records the download by a person, or by
// nobody known (0), unless only the headers are asked for. A page that lets no more through
// is 410.
func (h *Handlers) deliver(c *gin.Context, v *visit, userID int64, by install.Channel) (string, error) {
	ctx, b, now := c.Request.Context(), v.Build, h.cfg.Now()
	link, err := h.cfg.Objects.SignGet(ctx, b.File.Key, v.linkAge(now), object.SignOptions{FileName: b.FileName, ContentType: contentType(b)})
	if err != nil || c.Request.Method == http.MethodHead {
		return link, err
	}
	d := installpage.Download{Build: b, BuildURL: h.cfg.Links.Page(b.Token), Referer: c.Request.Referer(),
		Via: installpage.ViaPage, Now: now,
		Channel: by, Device: modelOf(c.Request.UserAgent()),
		Actor: account.Actor{UserID: userID, Name: installpage.Anonymous, RequestID: respond.RequestID(ctx), IPAddress: c.ClientIP()}}
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return installpage.RecordDownload(ctx, tx, d) })
	var closed *landing.ClosedError
	if errors.As(err, &closed) {
		return "", errClosed(closed.Reason)
	}
	return link, err
}

// contentType is what makes Android offer to install a file; everything else is
// bytes to be saved.
func contentType(b *distribution.Build) string {
	if b.Kind == artifact.APK {
		return "application/vnd.android.package-archive"
	}
	return "application/octet-stream"
}
