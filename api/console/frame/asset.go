package frame

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage"
)

// assets are the style and the script, each under a name with its digest, so that browsers
// may keep them for good.
type assets struct {
	byName map[string]*asset
	style  string // the name of the style
	script string
}

type asset struct {
	kind          string
	plain, zipped []byte
}

func newAssets() (*assets, error) {
	a := &assets{byName: map[string]*asset{}}
	for _, one := range []struct {
		file, kind string
		name       *string
	}{{"console.css", "text/css; charset=utf-8", &a.style}, {"console.js", "text/javascript; charset=utf-8", &a.script}} {
		text, err := files.ReadFile("asset/" + one.file)
		if err != nil {
			return nil, err
		}
		var zipped bytes.Buffer
		w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(text); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		extension := path.Ext(one.file)
		*one.name = strings.TrimSuffix(one.file, extension) + "-" + hex.EncodeToString(sum[:6]) + extension
		a.byName[*one.name] = &asset{kind: one.kind, plain: text, zipped: zipped.Bytes()}
	}
	return a, nil
}

// serve serves GET /console/assets/{name}.
func (a *assets) serve(c *gin.Context) error {
	found := a.byName[c.Param("name")]
	if found == nil {
		return storage.ErrNotFound
	}
	h, body := c.Writer.Header(), found.plain
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(c.GetHeader("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = found.zipped
	}
	c.Data(http.StatusOK, found.kind, body)
	return nil
}
