package install

import (
	"cmp"
	"net/http"

	"github.com/gin-gonic/gin"
	"howett.net/plist"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/install"
)

// The manifest as Apple describes it for over-the-air installation ("Distribute
// proprietary in-house apps", Apple Platform Deployment).
type manifest struct {
	Items []manifestItem `plist:"items"`
}

type manifestItem struct {
	Assets   []manifestAsset  `plist:"assets"`
	Metadata manifestMetadata `plist:"metadata"`
}

type manifestAsset struct {
	Kind       string `plist:"kind"`
	URL        string `plist:"url"`
	NeedsShine *bool  `plist:"needs-shine,omitempty"`
}

type manifestMetadata struct {
	BundleIdentifier string `plist:"bundle-identifier"`
	BundleVersion    string `plist:"bundle-version"`
	Kind             string `plist:"kind"`
	Title            string `plist:"title"`
}

// errTicket does not tell a stranger which of the reasons holds.
var errTicket = &respond.Problem{Status: http.StatusForbidden,
	Text: "this install link is not valid any more: reload the page of the app"}

// Manifest serves GET /install/{name}/manifest.plist?ticket=, which iOS fetches
// without the browser's cookies. Failures are plain text: iOS shows none of it.
func (h *Handlers) Manifest(c *gin.Context) error {
	v, user, err := h.manifestBuild(c)
	if err != nil {
		return err
	}
	link, err := h.deliver(c, v, user, install.Manifest)
	if err != nil {
		return err
	}
	doc, err := plist.MarshalIndent(h.manifestOf(v.Build, link), plist.XMLFormat, "  ")
	if err != nil {
		return err
	}
	c.Data(http.StatusOK, "text/xml; charset=utf-8", doc)
	return nil
}

// manifestBuild reads the build that the ticket is for with the person whom it stands for
// (0: anybody), and checks again that it may be installed: tickets outlive a block, and the
// page that they were on.
func (h *Handlers) manifestBuild(c *gin.Context) (v *visit, user int64, err error) {
	ctx := c.Request.Context()
	if v, err = h.find(c); err != nil {
		return nil, 0, err
	}
	if v.Build == nil {
		return nil, 0, errTicket
	}
	secret, err := h.tickets.installationSecret(ctx)
	if err != nil {
		return nil, 0, err
	}
	user, ok := readTicket(secret, c.Query("ticket"), v.Build.ID, v.lockText(), h.cfg.Now())
	if !ok || user == 0 && v.closed() {
		return nil, 0, errTicket
	}
	if user != 0 {
		stands, err := h.judge(ctx, v, user)
		if err != nil {
			return nil, 0, err
		}
		if stands != welcome {
			return nil, 0, errTicket
		}
	}
	return v, user, h.installable(v)
}

// installable is why a device does not get a manifest.
func (h *Handlers) installable(v *visit) error {
	for _, l := range v.limits() {
		if reason := l.PageClosed(h.cfg.Now()); reason != "" {
			return errClosed(reason)
		}
	}
	if v.Build.Kind != artifact.IPA {
		return storage.ErrNotFound
	}
	if problem := unavailable(v.Build); problem != nil {
		return &respond.Problem{Status: http.StatusConflict, Text: problem.Title}
	}
	return nil
}

func (h *Handlers) manifestOf(b *distribution.Build, file string) manifest {
	plain := false
	return manifest{Items: []manifestItem{{
		Assets: []manifestAsset{
			{Kind: "software-package", URL: file},
			{Kind: "display-image", URL: h.cfg.Links.Icon(b.Token), NeedsShine: &plain},
		},
		Metadata: manifestMetadata{BundleIdentifier: b.PackageName, Kind: "software",
			BundleVersion: cmp.Or(b.Version, b.VersionCode, "1"), Title: cmp.Or(printable(b.AppName, 80), b.PackageName)},
	}}}
}
