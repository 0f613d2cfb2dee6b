package frame

import (
	"bytes"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
)

const (
	// mailPolicy lets the HTML part of a mail have the style and the pictures that are in it,
	// and nothing else. The sandbox keeps it from script, forms, windows and the session.
	mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors " +
		"'self'; sandbox"
	// failurePolicy is that of a failure in place of a mail, whose link opens a window of its own.
	failurePolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-popups " +
		"allow-popups-to-escape-sandbox"
)

// Mail writes the HTML part of a mail, for a frame within a page of the console.
func (f *Frame) Mail(c *gin.Context, part string) error {
	framed(c, mailPolicy)
	c.Data(http.StatusOK, "text/html; charset=utf-8", []byte(part))
	return nil
}

// framed sets the headers of what a frame within a page of the console shows.
func framed(c *gin.Context, policy string) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Cache-Control", "private, no-store")
}

// Framed makes the failures of a route fit into the frame that shows it: the sign-in and the
// pages of failures may be in none, so that the frame would stay blank.
func (f *Frame) Framed(r route.Route) route.Route {
	r.Fail = f.failFramed
	return r
}

var failure = template.Must(template.New("failure").
	Parse(`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{{.Title}}</title></head><body>` +
		`<p>{{.Text}}</p>{{with .SignIn}}<p>` +
		`<a href="{{.}}" target="_blank" rel="noopener">Sign in again</a>, and come back to this page.</p>{{end}}</body></html>
`))

// failFramed writes a failure as a text, with a link to the sign-in for who has no session any
// more. The link opens a window of its own: what was typed on the page around stays there.
func (f *Frame) failFramed(c *gin.Context, err error) {
	ctx := c.Request.Context()
	p := respond.Explain(err)
	if c.Writer.Written() {
		return
	}
	data := struct{ Title, Text, SignIn string }{http.StatusText(p.Status), sentence(p.Text), ""}
	switch {
	case p.Status == http.StatusUnauthorized && auth.CallerOf(ctx) == nil:
		data.Text = "Your session has ended, and nothing can be shown here."
		data.SignIn = f.base + Base + "/sign-in"
		if from, err := url.Parse(c.GetHeader("Referer")); err == nil && strings.HasPrefix(from.Path, f.base+Base+"/") {
			data.SignIn += "?to=" + url.QueryEscape(strings.TrimPrefix(from.RequestURI(), f.base+Base))
		}
	case p.Status >= http.StatusInternalServerError:
		if respond.Gone(c, err) {
			c.Abort()
			return
		}
		f.cfg.Log.ErrorContext(ctx, "page failed", "route", c.FullPath(), "error", err)
		data.Text = "This could not be made. Please try again in a minute."
	}
	var out bytes.Buffer
	if err := failure.Execute(&out, data); err != nil {
		panic(err) // the router writes the failure, for want of a page to write it on
	}
	framed(c, failurePolicy)
	c.Data(p.Status, "text/html; charset=utf-8", out.Bytes())
	c.Abort()
}
