package mail

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	store "github.com/slipway-qa/slipway/storage/mail"
)

//go:embed page
var files embed.FS

// pages are the template of the unsubscribe page with its style.
type pages struct {
	page   *template.Template
	style  template.CSS
	policy string
}

// pageView is what the page shows: a subscription, or a text.
type pageView struct {
	Title        string
	Text         string
	Subscription *store.Subscription
	Done         bool // it was changed just now
	Style        template.CSS
}

func newPages() (*pages, error) {
	style, err := files.ReadFile("page/page.css")
	if err != nil {
		return nil, err
	}
	page, err := template.ParseFS(files, "page/unsubscribe.html")
	if err != nil {
		return nil, fmt.Errorf("mail pages: %w", err)
	}
	// The hash lets this one style apply and nothing that a text might smuggle in.
	sum := sha256.Sum256(style)
	return &pages{page: page, style: template.CSS(style), policy: "default-src 'none'; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"}, nil
}

// render writes the page.
func (p *pages) render(c *gin.Context, status int, view pageView) error {
	view.Style = p.style
	var out bytes.Buffer
	if err := p.page.Execute(&out, view); err != nil {
		return fmt.Errorf("render the unsubscribe page: %w", err)
	}
	for name, value := range map[string]string{"Content-Type": "text/html; charset=utf-8", "Content-Length": strconv.Itoa(out.Len()),
		"Content-Security-Policy": p.policy, "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		"X-Robots-Tag": "noindex, nofollow", "Cache-Control": "private, no-store"} {
		c.Header(name, value)
	}
	c.Status(status)
	if c.Request.Method != http.MethodHead {
		_, _ = c.Writer.Write(out.Bytes()) // fails when the visitor has gone
	}
	return nil
}
