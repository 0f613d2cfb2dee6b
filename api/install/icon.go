package install

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage/artifact/icon"
	"github.com/slipway-qa/slipway/storage/object"
)

// Icon serves GET /install/{name}/icon for everybody: mail and lists show it. An
// app without one gets its first letter.
func (h *Handlers) Icon(c *gin.Context) error {
	v, err := h.find(c)
	if err != nil {
		return err
	}
	header := c.Writer.Header()
	header.Set("Cache-Control", "public, max-age=300")
	header.Set("Content-Type", "image/png")
	key := v.Project.IconKey
	if v.Build != nil && v.Build.IconKey != "" && (v.OfBuild || key == "") {
		key = v.Build.IconKey
	}
	if key == "" {
		return h.letterIcon(c, v.Project.Name)
	}
	body, info, err := h.cfg.Objects.Open(c.Request.Context(), key, 0, -1)
	if errors.Is(err, object.ErrNotFound) {
		return h.letterIcon(c, v.Project.Name)
	}
	if err != nil {
		return err
	}
	defer body.Close()
	if unchanged(c, info.ETag) {
		return nil
	}
	header.Set("Content-Length", strconv.FormatInt(info.Size, 10))
	c.Status(http.StatusOK)
	_, _ = io.Copy(c.Writer, body) // the length tells a browser that bytes are missing
	return nil
}

// letterIcon writes the picture of an app without one.
func (h *Handlers) letterIcon(c *gin.Context, name string) error {
	sum := sha256.Sum256([]byte("letter " + name))
	if unchanged(c, hex.EncodeToString(sum[:8])) {
		return nil
	}
	png, err := icon.Letter(name)
	if err != nil {
		return err
	}
	c.Data(http.StatusOK, "image/png", png)
	return nil
}

// unchanged sets the ETag, and writes 304 when the browser has that picture.
func unchanged(c *gin.Context, etag string) bool {
	etag = `"` + etag + `"`
	c.Header("ETag", etag)
	for given := range strings.SplitSeq(c.GetHeader("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(given), "W/") == etag {
			c.Status(http.StatusNotModified)
			c.Writer.WriteHeaderNow()
			return true
		}
	}
	return false
}
