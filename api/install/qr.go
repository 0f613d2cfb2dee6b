package install

import (
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"rsc.io/qr"
)

// quiet is the empty border of a code in modules, as the standard asks for.
const quiet = 4

// qrOf encodes a link. Level M stands a scratched screen; the longest page name
// gives a code that a phone reads from an arm's length.
func qrOf(link string) (*qr.Code, error) { return qr.Encode(link, qr.M) }

// qrSVG draws a code: dark on white also in the dark, for many readers do not
// know the reverse. Each run of dark modules in a row is one rectangle.
func qrSVG(code *qr.Code) string {
	side := strconv.Itoa(code.Size + 2*quiet)
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ` + side + " " + side +
		`" shape-rendering="crispEdges" role="img" aria-label="QR code of this page"><rect width="` + side +
		`" height="` + side + `" fill="#fff"/><path fill="#000" d="`)
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			start := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if run := strconv.Itoa(x - start); x > start {
				b.WriteString("M" + strconv.Itoa(start+quiet) + " " + strconv.Itoa(y+quiet) + "h" + run + "v1h-" + run + "z")
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.String()
}

// inlineQR is the code of a page, for the page itself.
func inlineQR(link string) (template.HTML, error) {
	code, err := qrOf(link)
	if err != nil {
		return "", err
	}
	return template.HTML(qrSVG(code)), nil
}

// QR serves GET /install/{name}/qr: the page's link as SVG, or as PNG with
// ?format=png.
func (h *Handlers) QR(c *gin.Context) error {
	v, err := h.find(c)
	if err != nil {
		return err
	}
	code, err := qrOf(h.cfg.Links.Page(v.name))
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "public, max-age=3600")
	if c.Query("format") == "png" {
		c.Data(http.StatusOK, "image/png", code.PNG())
		return nil
	}
	c.Data(http.StatusOK, "image/svg+xml", []byte(qrSVG(code)))
	return nil
}
