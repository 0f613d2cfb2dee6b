package intake

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage/crash"
)

// allowOrigin lets any page read the answer, errors included, before it is known which pages
// may post.
func (r *Receiver) allowOrigin(c *gin.Context) {
	c.Writer.Header()["Access-Control-Allow-Origin"] = r.origin
}

// checkOrigin refuses the pages that the crash project of a token does not allow. What is no
// page sends no origin. Where the project names its pages, the answer names the one that asked:
// navigator.sendBeacon sends cookies along, and a browser then refuses *. The routes read no
// cookie, so that this gives a page nothing.
func (r *Receiver) checkOrigin(c *gin.Context, t *crash.Token) error {
	origin := c.Request.Header.Get("Origin")
	switch {
	case origin == "" || t.AnyOrigin():
		return nil
	case !t.AllowsOrigin(origin) || !originText(origin):
		withoutOrigin(c)
		return refuse(http.StatusForbidden, codeScope, ReasonScope,
			"Origin: pages of this origin may not post to the crash project: see its allowed_origins")
	}
	h := c.Writer.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Add("Vary", "Origin")
	return nil
}

// withoutOrigin lets no page read the answer. The header stays, without a value: it is said.
func withoutOrigin(c *gin.Context) {
	c.Writer.Header()["Access-Control-Allow-Origin"] = nil
}

// originText reports whether a text can be echoed as an origin.
func originText(s string) bool {
	const maxOrigin = 300
	return len(s) <= maxOrigin && !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c >= 0x7f ||
			strings.ContainsRune(`"'<>,;`, c)
	})
}

const (
	// maxAllowHeaders bounds what of a preflight is echoed.
	maxAllowHeaders = 1024
	defaultHeaders  = "Content-Type, Content-Encoding"
	// preflightAge is the longest that browsers keep a preflight (Chromium: 2
	// hours).
	preflightAge = 2 * time.Hour
)

// Preflight serves OPTIONS: a page of an origin that the crash project of the token allows
// may post, with any headers. A token that is not known, or stands in the body, is for the
// request that follows.
func (r *Receiver) Preflight(c *gin.Context) error {
	r.allowOrigin(c)
	h := c.Writer.Header()
	text := parseQuery(c.Request.URL.RawQuery).token
	if text == "" {
		text = c.Param("token")
	}
	if text != "" && c.Request.Header.Get("Origin") != "" {
		if t, err := r.token(c.Request.Context(), c.ClientIP(), text); err == nil && r.checkOrigin(c, t) != nil {
			c.Writer.WriteHeader(http.StatusNoContent)
			c.Writer.WriteHeaderNow()
			return nil
		}
	}
	h.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
	h.Set("Access-Control-Allow-Headers", defaultHeaders)
	if asked := c.Request.Header.Get("Access-Control-Request-Headers"); asked != "" &&
		len(asked) <= maxAllowHeaders && headerNames(asked) {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	h.Set("Access-Control-Max-Age", strconv.Itoa(int(preflightAge/time.Second)))
	h.Add("Vary", "Access-Control-Request-Headers")
	c.Writer.WriteHeader(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}

// headerNames reports whether s is a list of header names.
func headerNames(s string) bool {
	const more = "!#$%&'*+-.^_`|~, "
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && strings.IndexByte(more, c) < 0 {
			return false
		}
	}
	return true
}
