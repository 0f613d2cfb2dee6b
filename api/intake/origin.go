package intake

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// allowOrigin lets any page read the answer, errors included.
func (r *Receiver) allowOrigin(c *gin.Context) {
	c.Writer.Header()["Access-Control-Allow-Origin"] = r.origin
}

const (
	// maxAllowHeaders bounds what of a preflight is echoed.
	maxAllowHeaders = 1024
	defaultHeaders  = "Content-Type, Content-Encoding"
	// preflightAge is the longest that browsers keep a preflight (Chromium: 2
	// hours).
	preflightAge = 2 * time.Hour
)

// Preflight serves OPTIONS: a page of any origin may post, with any headers.
func (r *Receiver) Preflight(c *gin.Context) error {
	r.allowOrigin(c)
	h := c.Writer.Header()
	h.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
	h.Set("Access-Control-Allow-Headers", defaultHeaders)
	if asked := c.Request.Header.Get("Access-Control-Request-Headers"); asked != "" &&
		len(asked) <= maxAllowHeaders && headerNames(asked) {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	h.Set("Access-Control-Max-Age", strconv.Itoa(int(preflightAge/time.Second)))
	h.Set("Vary", "Access-Control-Request-Headers")
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
