package respond

import (
	"bytes"
	"html/template"
	"net/http"

	"github.com/gin-gonic/gin"
)

// Page writes a page of its own, that of no console, with the policy of what it may load. It
// is made whole before the status goes out; the error is for the handler to return.
func Page(c *gin.Context, page *template.Template, policy string, data any) error {
	var out bytes.Buffer
	if err := page.Execute(&out, data); err != nil {
		return err
	}
	c.Header("Content-Security-Policy", policy)
	c.Data(http.StatusOK, "text/html; charset=utf-8", out.Bytes())
	return nil
}
