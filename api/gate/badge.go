package gate

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/gate"
)

// badgePrefix begins the token of a badge, which keeps it out of the request log.
const badgePrefix = "slp_badge_"

// badgeToken signs the address of a build's badge: half of an HMAC-SHA-256.
func badgeToken(secret []byte, build int64) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("gate-badge\x00"))
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(build)))
	return badgePrefix + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// installationSecret reads the secret once.
func (h *Handlers) installationSecret(ctx context.Context) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.secret != nil {
		return h.secret, nil
	}
	secret, err := account.InstallationSecret(ctx, h.cfg.DB)
	h.secret = secret
	return secret, err
}

// badgeSeconds is how long a badge may be kept: a page that many read asks once.
const badgeSeconds = 30

// badge serves GET /api/v3/builds/{id}/gate/badge.svg?token=; 404 for another token.
func (h *Handlers) badge(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	secret, err := h.installationSecret(ctx)
	if err != nil {
		return err
	}
	if !hmac.Equal([]byte(c.Query("token")), []byte(badgeToken(secret, id))) {
		return storage.ErrNotFound
	}
	state, err := gate.StateOf(ctx, h.cfg.DB, id)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", fmt.Sprintf("public, max-age=%d", badgeSeconds))
	c.Header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	c.Data(http.StatusOK, "image/svg+xml", []byte(picture(state)))
	return nil
}

// badgeForm is the picture of a badge. The widths do not depend on the reader's fonts: the
// texts are stretched to them.
const badgeForm = `<svg xmlns="http://www.w3.org/2000/svg" width="%[3]d" height="20" role="img" aria-label="gate: %[1]s">` +
	`<title>gate: %[1]s</title>` +
	`<rect width="%[3]d" height="20" rx="4" fill="%[2]s"/><path d="M4 0h32v20H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4z" fill="#3b4252"/>` +
	`<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">` +
	`<text x="6" y="14" textLength="24" lengthAdjust="spacingAndGlyphs">gate</text>` +
	`<text x="42" y="14" textLength="%[4]d" lengthAdjust="spacingAndGlyphs">%[1]s</text></g></svg>`

func picture(s gate.State) string {
	color, width := "#7a6a00", 52
	switch s {
	case gate.Pass:
		color, width = "#1a7f37", 26
	case gate.Fail:
		color, width = "#c1121f", 20
	}
	return fmt.Sprintf(badgeForm, s, color, 48+width, width)
}
