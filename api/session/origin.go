package session

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage/crash"
)

// allowOrigin lets the pages of the origins that the crash projects of the app allow read the
// answer, refusals behind the token included. To others it says nothing, and their browsers
// keep the answer from them. No cookie is read here.
func allowOrigin(c *gin.Context, origins []string) {
	origin := c.GetHeader("Origin")
	if origin == "" || !crash.OriginAllowed(origins, origin) {
		return
	}
	h := c.Writer.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Add("Vary", "Origin")
}

// preflight serves OPTIONS of what the SDK calls. The token stands in a header of the request
// that follows, unless it is in the query: without it every origin may ask.
func (h sdkHandlers) preflight(c *gin.Context) error {
	origins := []string{crash.AnyOrigin}
	if text := c.Query("token"); text != "" {
		t, err := h.find(c.Request.Context(), c.ClientIP(), text)
		if err != nil {
			return err
		}
		origins = t.Origins
	}
	allowOrigin(c, origins)
	header := c.Writer.Header()
	header.Set("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
	header.Set("Access-Control-Allow-Headers", "Content-Type, Content-Encoding, "+TokenHeader)
	header.Set("Access-Control-Max-Age", "7200")
	c.Writer.WriteHeader(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}
