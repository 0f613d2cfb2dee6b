package frame

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/live"
)

// Templates are the pages of one area, each with the frame and its parts around it.
type Templates struct {
	frame  *Frame
	byName map[string]*template.Template
}

// Templates parses the pages of an area, which stand in its folder page: NAME.html is the
// page NAME, and defines "content"; what parts.html defines is there in all of them.
func (f *Frame) Templates(area fs.FS) (*Templates, error) {
	common, err := template.New("frame.html").Funcs(f.functions()).ParseFS(files, "page/frame.html", "page/shared.html")
	if err != nil {
		return nil, fmt.Errorf("console: frame: %w", err)
	}
	names, err := fs.Glob(area, "page/*.html")
	if err != nil {
		return nil, err
	}
	t := &Templates{frame: f, byName: map[string]*template.Template{}}
	for _, name := range names {
		base := strings.TrimSuffix(strings.TrimPrefix(name, "page/"), ".html")
		if base == "frame" || base == "shared" || base == "parts" {
			continue
		}
		page, err := common.Clone()
		if err != nil {
			return nil, err
		}
		patterns := []string{name}
		if _, err := fs.Stat(area, "page/parts.html"); err == nil {
			patterns = append(patterns, "page/parts.html")
		}
		if t.byName[base], err = page.ParseFS(area, patterns...); err != nil {
			return nil, fmt.Errorf("console: page %s: %w", base, err)
		}
	}
	return t, nil
}

// Page is what a handler says of its page. Title is the heading and the window's title.
type Page struct {
	Title string
	Area  string       // the path of the area in the navigation, such as "/crashes"
	Live  []live.Topic // what the page shows that may change while it is open; nil: nothing
	Data  any
}

// View is what a template sees: the page, and what the frame adds.
type View struct {
	Page
	Who     *Who
	Areas   []Area
	CSRF    string
	Watch   string // what the script waits for; "": nothing
	Notice  *Notice
	Here    string // path and query of this page
	Path    string
	Query   url.Values
	Root    string // path of the public URL, "" as a rule
	Base    string // of the console's pages
	Style   string
	Script  string
	Version string
}

// Who is signed in.
type Who struct {
	Name         string
	Organization string // "" for an operator
	Role         string
	Operator     bool
	Admin        bool
}

// Area is a line of the navigation.
type Area struct {
	Path, Name string
	Current    bool
}

// areas are the areas of the console in the order of the navigation, with the action that
// a caller must be allowed to see them.
func areas() []struct {
	path, name string
	action     auth.Action
} {
	return []struct {
		path, name string
		action     auth.Action
	}{
		{"/", "Overview", auth.ReadCrashes},
		{"/crashes", "Crashes", auth.ReadCrashes},
		{"/tests", "Tests", auth.ReadTests},
		{"/builds", "Builds", auth.ReadBuilds},
		{"/people", "People", auth.ReadTesters},
		{"/operate", "Operate", auth.ReadTasks},
		{"/settings", "Settings", auth.ManageOwnKeys},
	}
}

// view returns the frame's part of a page.
func (f *Frame) view(c *gin.Context, p Page) *View {
	v := &View{Page: p, Here: c.Request.URL.RequestURI(), Path: f.base + c.Request.URL.Path, Query: c.Request.URL.Query(),
		Root: f.base, Base: f.base + Base,
		Style: f.assets.style, Script: f.assets.script, Version: f.cfg.Version, Notice: f.takeNotice(c)}
	caller := auth.Known(c.Request.Context())
	if caller == nil {
		return v
	}
	f.renewCookie(c, caller)
	v.Who = &Who{Name: caller.Label(), Organization: caller.OrganizationSlug, Role: string(caller.Role), Operator: caller.Operator,
		Admin: caller.Admin()}
	if caller.Operator {
		v.Who.Name = caller.Username
	}
	v.CSRF, v.Watch = f.csrf(c.Request), f.watchOf(caller, p.Live)
	rules := auth.Table()
	for _, area := range areas() {
		if rules[area.action].Allow(caller) == nil {
			v.Areas = append(v.Areas, Area{Path: area.path, Name: area.name, Current: area.path == p.Area})
		}
	}
	return v
}

// renewCookie lets the cookie last as long as the row of its session, where the request made
// that last from now on.
func (f *Frame) renewCookie(c *gin.Context, caller *auth.Caller) bool {
	if !caller.Stale() {
		return false
	}
	http.SetCookie(c.Writer, f.cookie(auth.ConsoleCookie(f.https), auth.SessionSecret(c.Request, f.https), int(account.ConsoleLife.Seconds())))
	return true
}

// policy lets a page have what the console serves itself, pictures of the object store, and
// send forms to the installation.
func policy(pictures []string) string {
	sources := strings.Join(append([]string{"'self'", "data:"}, pictures...), " ")
	return "default-src 'none'; style-src 'self'; script-src 'self'; img-src " + sources + "; connect-src 'self'; frame-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// Render writes a page. It is made whole before the status goes out, so that an error in
// it becomes an error page.
func (t *Templates) Render(c *gin.Context, status int, name string, p Page) error {
	page := t.byName[name]
	if page == nil {
		return fmt.Errorf("console: there is no page %q", name)
	}
	var out bytes.Buffer
	if err := page.ExecuteTemplate(&out, "frame.html", t.frame.view(c, p)); err != nil {
		return fmt.Errorf("render page %s: %w", name, err)
	}
	h := c.Writer.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", t.frame.policy)
	// Not no-referrer: browsers then call the origin of a form "null".
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Cache-Control", "private, no-store")
	h.Set("Vary", "Accept-Encoding, Cookie")
	body := out.Bytes()
	if strings.Contains(c.GetHeader("Accept-Encoding"), "gzip") {
		if zipped, err := compress(body); err == nil {
			h.Set("Content-Encoding", "gzip")
			body = zipped
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	c.Status(status)
	_, _ = c.Writer.Write(body) // fails when the reader has gone
	return nil
}

// Show writes a page with the status 200.
func (t *Templates) Show(c *gin.Context, name string, p Page) error {
	return t.Render(c, http.StatusOK, name, p)
}

// ShowList writes a page whose list was asked for by filters: with a fault, which is why they
// were refused, its status is that of a wrong request.
func (t *Templates) ShowList(c *gin.Context, name, fault string, p Page) error {
	if fault != "" {
		return t.Render(c, http.StatusBadRequest, name, p)
	}
	return t.Show(c, name, p)
}

// compressors are used again: one takes more than a megabyte, which is more than most pages.
var compressors = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // fails for unknown levels only
	return w
}}

func compress(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w := compressors.Get().(*gzip.Writer)
	defer compressors.Put(w)
	w.Reset(&out)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Open is the route of a page that is read: path stands behind /console.
func (f *Frame) Open(path string, action auth.Action, handler route.Handler) route.Route {
	return route.Route{Method: http.MethodGet, Path: Base + path, Interface: respond.InterfaceConsole, Action: action,
		Handler: handler, Fail: f.fail}
}

// Form is the route of a form: the handler runs when the form comes from a page of this
// session.
func (f *Frame) Form(path string, action auth.Action, handler route.Handler) route.Route {
	return route.Route{Method: http.MethodPost, Path: Base + path, Interface: respond.InterfaceConsole, Action: action, Fail: f.fail,
		Handler: func(c *gin.Context) error {
			if err := f.checkForm(c); err != nil {
				return err
			}
			return handler(c)
		}}
}
