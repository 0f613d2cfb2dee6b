package frame

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
)

// maxForm bounds a form's body; texts of steps are the longest.
const maxForm = 1 << 20

// csrf returns the token of the forms of a session: only who knows the session's secret
// can make it.
func (f *Frame) csrf(r *http.Request) string {
	secret := auth.SessionSecret(r, f.https)
	if secret == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("slipway console form " + secret))
	return base64.RawURLEncoding.EncodeToString(sum[:24])
}

// ownOrigin refuses a form that another site posts.
func (f *Frame) ownOrigin(c *gin.Context) error {
	if err := f.origin.Check(c.Request); err != nil {
		return &respond.Problem{Status: http.StatusForbidden, Text: "this form was sent from another site", Err: err}
	}
	return nil
}

// checkForm refuses a form that another site posts, or a page of another session. The token
// is a member of the form; of a form with files it is the first part, and the files are not
// read before it was checked.
func (f *Frame) checkForm(c *gin.Context) error {
	if err := f.ownOrigin(c); err != nil {
		return err
	}
	given, err := formToken(c)
	if err != nil {
		return err
	}
	want := f.csrf(c.Request)
	if want == "" || subtle.ConstantTimeCompare([]byte(given), []byte(want)) != 1 {
		return &respond.Problem{Status: http.StatusForbidden,
			Text: "this form is of a session that has ended: go back, load the page again, and repeat it"}
	}
	return nil
}

// formToken returns the token that a form shows.
func formToken(c *gin.Context) (string, error) {
	if strings.HasPrefix(strings.ToLower(c.GetHeader("Content-Type")), "multipart/") {
		return takeToken(c.Request)
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	if err := c.Request.ParseForm(); err != nil {
		return "", unreadable(err)
	}
	return c.Request.PostForm.Get(tokenField), nil
}

// Done ends a form's request: it leads to a page of the console and says there what was
// done.
func (f *Frame) Done(c *gin.Context, path, notice string) error {
	f.setNotice(c, Notice{Text: notice})
	return f.Lead(c, path)
}

// Refused ends a form's request that the api refused: it leads back to the page with the
// reason. What is the service's own failure is returned.
func (f *Frame) Refused(c *gin.Context, path string, err error) error {
	text, failure := Refusal(err)
	if failure != nil {
		return failure
	}
	f.setNotice(c, Notice{Text: sentence(text), Bad: true})
	return f.Lead(c, path)
}

// Refusal is the text of a refusal of the api, to be said beside what was typed; other
// failures are returned, and nothing without an error.
func Refusal(err error) (text string, failure error) {
	if err == nil {
		return "", nil
	}
	p := respond.Explain(err)
	if p.Status >= http.StatusInternalServerError || p.Status == http.StatusUnauthorized {
		return "", err
	}
	return p.Text, nil
}

// End is Done without an error, and Refused with one.
func (f *Frame) End(c *gin.Context, path, notice string, err error) error {
	if err != nil {
		return f.Refused(c, path, err)
	}
	return f.Done(c, path, notice)
}

// Lead redirects to a page of the console. path stands behind /console.
func (f *Frame) Lead(c *gin.Context, path string) error {
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, f.base+Base+path)
	return nil
}

// Back is the page that a form was on, as its member "back" says it, where that is a page of
// the console; else the page given. Both without /console.
func (f *Frame) Back(c *gin.Context, otherwise string) string {
	back := strings.TrimPrefix(c.PostForm("back"), f.base)
	rest, ok := strings.CutPrefix(back, Base)
	if !ok || !ownPath(rest) {
		return otherwise
	}
	return rest
}

// ownPath reports whether a text is a path, with a query or not, of the console.
func ownPath(path string) bool {
	if path == "" {
		return true
	}
	u, err := url.Parse(path)
	begins := path[0] == '/' || path[0] == '?'
	return err == nil && begins && u.Host == "" && u.Scheme == "" && !strings.HasPrefix(path, "//") && !strings.ContainsAny(path, "\\\r\n\t")
}

// Notice is said once, on the page that follows a form.
type Notice struct {
	Text string
	Bad  bool
}

const (
	noticeCookie = "slipway_notice"
	// maxNotice fits into a cookie.
	maxNotice = 600
	// byScript is the header of requests that the console's script makes.
	byScript = "X-Console-Script"
	// noticeSeconds is how long a notice waits for its page.
	noticeSeconds = 60
)

func (f *Frame) setNotice(c *gin.Context, n Notice) {
	kind := "+"
	if n.Bad {
		kind = "-"
	}
	value := base64.RawURLEncoding.EncodeToString([]byte(kind + storage.Cut(n.Text, maxNotice)))
	http.SetCookie(c.Writer, f.cookie(f.name(noticeCookie), value, noticeSeconds))
}

// takeNotice returns the notice that the page is to say, and forgets it.
func (f *Frame) takeNotice(c *gin.Context) *Notice {
	if c.GetHeader(byScript) != "" {
		return nil // the page that the person sees comes after this one
	}
	cookie, err := c.Request.Cookie(f.name(noticeCookie))
	if err != nil || cookie.Value == "" {
		return nil
	}
	http.SetCookie(c.Writer, f.cookie(f.name(noticeCookie), "", -1))
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || len(text) < 2 || len(text) > 4*maxNotice {
		return nil
	}
	return &Notice{Text: strings.ToValidUTF8(string(text[1:]), "?"), Bad: text[0] == '-'}
}

// name is the name of a cookie: with https it is bound to the host that sets it.
func (f *Frame) name(cookie string) string {
	if f.https {
		return "__Host-" + cookie
	}
	return cookie
}

func (f *Frame) cookie(name, value string, seconds int) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: f.https, SameSite: http.SameSiteLaxMode}
}

// problemData is the page of a failure.
type problemData struct {
	Text      string
	Status    int
	RequestID string
}

// Unmatched writes the failure of an address that no page has, with the navigation of who is
// signed in around it.
func (f *Frame) Unmatched(c *gin.Context, err error) {
	f.cfg.Auth.Recognize(c)
	if p := respond.Explain(err); p.Status == http.StatusNotFound {
		err = &respond.Problem{Status: p.Status, Text: "The console has no page at this address.", Err: errNoPage}
	}
	f.fail(c, err)
}

// errNoPage marks the failure of an address that no page has.
var errNoPage = errors.New("the console has no such page")

// fail writes a failure as a page; without a session it leads to the sign-in, and back.
func (f *Frame) fail(c *gin.Context, err error) {
	ctx := c.Request.Context()
	p := respond.Explain(err)
	if p.Status >= http.StatusInternalServerError &&
		context.Cause(ctx) == context.Canceled || //nolint:errorlint // cancelled without a cause of its own
		c.Writer.Written() {
		return
	}
	signedOut := p.Status == http.StatusUnauthorized && auth.CallerOf(ctx) == nil
	// The script would follow a redirect of its upload, and take the sign-in for success.
	byUpload := c.Request.Method != http.MethodGet && c.GetHeader(byScript) != ""
	if signedOut && !byUpload {
		to := "/sign-in"
		if c.Request.Method == http.MethodGet {
			to += "?to=" + url.QueryEscape(strings.TrimPrefix(c.Request.URL.RequestURI(), Base))
		} else if from, err := url.Parse(c.GetHeader("Referer")); err == nil && strings.HasPrefix(from.Path, f.base+Base) {
			f.setNotice(c, Notice{Text: "Your session has ended, and the form was not sent.", Bad: true})
			to += "?to=" + url.QueryEscape(strings.TrimPrefix(from.RequestURI(), f.base+Base))
		}
		_ = f.Lead(c, to)
		c.Abort()
		return
	}
	data := problemData{Text: sentence(p.Text), Status: p.Status}
	title := http.StatusText(p.Status)
	switch {
	case signedOut:
		title = "You are signed out"
		data.Text = "Your session has ended, and nothing was stored. Sign in again, load this page anew, and repeat it."
	case p.Status >= http.StatusInternalServerError:
		f.cfg.Log.ErrorContext(ctx, "page failed", "route", c.FullPath(), "error", err)
		title, data.RequestID = "Something went wrong", respond.RequestID(ctx)
		data.Text = "The page could not be made. Please try again in a minute."
	case errors.Is(err, errNoPage):
		title = "There is no such page"
	case p.Status == http.StatusNotFound:
		title = "There is nothing here"
		data.Text = "What this link names was removed, belongs to another organization, or never was."
	case p.Status == http.StatusMethodNotAllowed:
		title = "This address is no page"
		data.Text = "It takes a form of the console: go back to the page that the form is on, and send it from there."
	case p.Status == http.StatusGone:
		title = "This link is over"
	case p.Status == http.StatusForbidden:
		title = "That is not allowed"
	case p.Status == http.StatusBadRequest:
		title = "That cannot be read"
	}
	if p.RetryAfter > 0 {
		c.Header("Retry-After", strconv.Itoa(int((p.RetryAfter+time.Second-1)/time.Second)))
	}
	if err := f.own.Render(c, p.Status, "problem", Page{Title: title, Data: data}); err != nil {
		panic(err) // the router writes the failure, for want of a page to write it on
	}
	c.Abort()
}

// sentence is a text with a capital letter and a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if first := text[0]; first >= 'a' && first <= 'z' {
		text = string(first-'a'+'A') + text[1:]
	}
	if strings.ContainsRune(".!?", rune(text[len(text)-1])) {
		return text
	}
	return text + "."
}
