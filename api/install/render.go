package install

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
)

//go:embed page
var files embed.FS

// pages are the templates, each with the frame around it, and the style that is
// written into all of them.
type pages struct {
	byName map[string]*template.Template
	style  template.CSS
	policy string
}

// head is what the frame of every page needs.
type head struct {
	Title   string
	Product string
	Style   template.CSS
	Refresh int // seconds; 0: never
}

func newPages() (*pages, error) {
	style, err := files.ReadFile("page/page.css")
	if err != nil {
		return nil, err
	}
	p := &pages{byName: map[string]*template.Template{}, style: template.CSS(style)}
	names, err := fs.Glob(files, "page/*.html")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		base := strings.TrimSuffix(strings.TrimPrefix(name, "page/"), ".html")
		if base == "frame" {
			continue
		}
		if p.byName[base], err = template.ParseFS(files, "page/frame.html", name); err != nil {
			return nil, fmt.Errorf("install pages: %w", err)
		}
	}
	// The hash lets this one style apply and nothing that a text might smuggle in.
	sum := sha256.Sum256(style)
	p.policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	return p, nil
}

// site is what all pages share: the settings, the addresses and the templates.
type site struct {
	cfg   Config
	base  string // path of the public URL, "" as a rule
	https bool
	host  string
	pages *pages
}

func (s *site) head(title string) head {
	return head{Title: title, Product: s.cfg.Product, Style: s.pages.style}
}

// render writes a page. It is made whole before the status goes out, so that an
// error in it becomes an error page.
func (s *site) render(c *gin.Context, status int, name string, view any) error {
	var out bytes.Buffer
	if err := s.pages.byName[name].ExecuteTemplate(&out, "frame.html", view); err != nil {
		return fmt.Errorf("render page %s: %w", name, err)
	}
	header := c.Writer.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(out.Len()))
	header.Set("Content-Security-Policy", s.pages.policy)
	// Not no-referrer: browsers then call the origin of a form "null", and posts
	// over plain http could not be told from those of other sites.
	header.Set("Referrer-Policy", "same-origin")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Robots-Tag", "noindex, nofollow")
	// What stands on a page depends on the person, the device and the hour.
	header.Set("Cache-Control", "private, no-store")
	c.Status(status)
	_, _ = c.Writer.Write(out.Bytes()) // fails when the visitor has gone
	return nil
}

const problemPage = "problem"

// problemView is the page of a failure.
type problemView struct {
	head
	Heading, Text string
	RequestID     string // "" when there is nothing to report
}

// fail writes a failure as a page and logs it when it is the service's own.
func (s *site) fail(c *gin.Context, err error) {
	p, ok := s.explain(c, err)
	if !ok {
		return
	}
	view := problemView{}
	switch {
	case p.Status >= http.StatusInternalServerError:
		view.Heading, view.Text = "Something went wrong", "The page could not be made. Please try again in a minute."
		view.RequestID = respond.RequestID(c.Request.Context())
	case p.Status == http.StatusNotFound:
		view.Heading = "This page does not exist"
		view.Text = "The link may be incomplete, or the app was removed. Ask the person who sent it to you."
	case p.Status == http.StatusTooManyRequests:
		view.Heading, view.Text = "Too many requests", "Please wait a minute before you try again."
	default:
		view.Heading, view.Text = "That did not work", sentence(p.Text)
	}
	view.head = s.head(view.Heading)
	if err := s.render(c, p.Status, problemPage, view); err != nil {
		panic(err) // the router writes the failure, for want of a page to write it on
	}
}

// failPlain writes a failure for a device, which shows it to nobody.
func (s *site) failPlain(c *gin.Context, err error) {
	p, ok := s.explain(c, err)
	if !ok {
		return
	}
	text := p.Text
	if p.Status >= http.StatusInternalServerError {
		text = "internal error; request " + respond.RequestID(c.Request.Context())
	}
	c.Data(p.Status, "text/plain; charset=utf-8", []byte(text+"\n"))
}

// statusGone marks in logs that the visitor went away first, as package respond
// has it.
const statusGone = 499

// explain returns how a failure is written, and writes its log line; false when the
// visitor has gone or the answer has begun.
func (s *site) explain(c *gin.Context, err error) (*respond.Problem, bool) {
	ctx := c.Request.Context()
	p := respond.Explain(err)
	if p.Status >= http.StatusInternalServerError &&
		context.Cause(ctx) == context.Canceled { //nolint:errorlint // cancelled without a cause of its own
		c.Status(statusGone)
		return nil, false
	}
	switch {
	case p.Status == http.StatusInternalServerError:
		s.cfg.Log.ErrorContext(ctx, "request failed", "route", c.FullPath(), "error", err)
	case p.Status > http.StatusInternalServerError:
		s.cfg.Log.WarnContext(ctx, "request could not be served", "route", c.FullPath(), "error", err)
	}
	if p.RetryAfter > 0 {
		c.Header("Retry-After", strconv.Itoa(int((p.RetryAfter+time.Second-1)/time.Second)))
	}
	return p, !c.Writer.Written()
}
