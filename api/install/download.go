package install

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
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
	if v.standing == unknown {
		// The form is on the page; a mail's link may lead here.
		c.Redirect(http.StatusSeeOther, h.path(v.name))
		return nil
	}
	if v.standing != welcome {
		return h.turnAway(c, v)
	}
	if problem := unavailable(v.Build); problem != nil {
		return &respond.Problem{Status: http.StatusConflict, Text: problem.Title + ": " + problem.Text}
	}
	link, err := h.deliver(c, v.Build, v.userID())
	if err != nil {
		return err
	}
	c.Redirect(http.StatusFound, link)
	return nil
}

// deliver signs a link to the build's file and records the download by a person, or by
// nobody known (0), unless only the headers are asked for.
func (h *Handlers) deliver(c *gin.Context, b *distribution.Build, userID int64) (string, error) {
	ctx := c.Request.Context()
	link, err := h.cfg.Objects.SignGet(ctx, b.File.Key, downloadAge, object.SignOptions{FileName: b.FileName, ContentType: contentType(b)})
	if err != nil || c.Request.Method == http.MethodHead {
		return link, err
	}
	d := distribution.Download{Build: b, BuildURL: h.cfg.Links.Page(b.Token), Referer: c.Request.Referer(), Via: "page",
		Actor: account.Actor{UserID: userID, Name: distribution.Anonymous, RequestID: respond.RequestID(ctx), IPAddress: c.ClientIP()}}
	return link, h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return distribution.RecordDownload(ctx, tx, d) })
}

// contentType is what makes Android offer to install a file; everything else is
// bytes to be saved.
func contentType(b *distribution.Build) string {
	if b.Kind == artifact.APK {
		return "application/vnd.android.package-archive"
	}
	return "application/octet-stream"
}
