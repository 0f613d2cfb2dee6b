package frame

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/visitor"
)

const (
	publicSignIn = "who signs in has no session yet"
	publicAsset  = "style and script are no secret"
	publicLeave  = "it ends the session that the browser shows, and nothing else"
	publicRoot   = "it leads to the console or to the sign-in"

	// linkPrefix keeps links out of the request log, which hides what looks like a key.
	linkPrefix = "slp_link_"
	// pageCookie has a session of the pages of testers (package install).
	pageCookie = "slipway_session"
	// secretBytes is the length of sessions and links: nothing to guess, so a plain digest
	// of them may be stored.
	secretBytes = 32
	// maxSecret bounds what a stranger shows in place of one, in characters.
	maxSecret = 128
)

// Routes are the sign-in, its end, the assets, and the news of open pages.
func (f *Frame) Routes() []route.Route {
	get, post := http.MethodGet, http.MethodPost
	public := func(method, path, reason string, handler route.Handler) route.Route {
		return route.Route{Method: method, Path: path, Interface: respond.InterfaceConsole, Public: reason, Handler: handler, Fail: f.fail}
	}
	return []route.Route{
		f.liveRoute(),
		public(get, "/", publicRoot, func(c *gin.Context) error { return f.Lead(c, "") }),
		public(get, Base+"/assets/:name", publicAsset, f.assets.serve),
		public(get, Base+"/sign-in", publicSignIn, f.signInPage),
		public(post, Base+"/sign-in", publicSignIn, f.signIn),
		public(post, Base+"/sign-in/page", publicSignIn, f.continuePage),
		public(post, Base+"/sign-out", publicLeave, f.signOut),
		public(get, Base+"/open/:link", publicSignIn, f.openPage),
		public(post, Base+"/open/:link", publicSignIn, f.open),
	}
}

// signInData is the page of the sign-in.
type signInData struct {
	To, Name string
	Fault    string // why the name and key were not taken
	Known    string // the mail address of who is signed in to the pages of testers; "" when nobody
}

func (f *Frame) signInPage(c *gin.Context) error {
	data := signInData{To: wanted(c.Query("to"))}
	visitor, err := f.visitor(c)
	if err != nil {
		return err
	}
	if visitor != nil {
		data.Known = visitor.Email
	}
	return f.own.Show(c, "signin", Page{Title: "Sign in", Data: data})
}

// wanted is the page of the console that a sign-in leads to.
func wanted(to string) string {
	if !ownPath(to) {
		return ""
	}
	return to
}

// mailedAge is how long a mailed link that was used may lead on to the console: the session
// of the pages of testers lasts for a month, and a phone that has one is not the console's.
const mailedAge = 10 * time.Minute

// visitor is the member who signed in to the pages of testers by a mailed link just now; nil
// when nobody did, or a tester.
func (f *Frame) visitor(c *gin.Context) (*visitor.Visitor, error) {
	cookie, err := c.Request.Cookie(f.name(pageCookie))
	if err != nil || cookie.Value == "" || len(cookie.Value) > maxSecret {
		return nil, nil
	}
	v, err := visitor.BySession(c.Request.Context(), f.cfg.DB, account.DigestOf(cookie.Value), f.cfg.Now())
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	isFresh := f.cfg.Now().Sub(v.CreatedAt) < mailedAge
	if v.Via != visitor.ByMail || v.Blocked || !v.Role.AtLeast(account.Member) || !isFresh {
		return nil, nil
	}
	return v, nil
}

// signIn serves the form with a name and a key.
func (f *Frame) signIn(c *gin.Context) error {
	if err := f.readPublicForm(c); err != nil {
		return err
	}
	data := signInData{To: wanted(c.PostForm("to")), Name: storage.Cut(strings.ToValidUTF8(c.PostForm("name"), ""), 254)}
	login, err := f.cfg.Auth.LogIn(c, data.Name, c.PostForm("key"))
	if p := respond.Explain(err); err != nil && p.Status < http.StatusInternalServerError {
		data.Fault = sentence(p.Text)
		return f.own.Render(c, p.Status, "signin", Page{Title: "Sign in", Data: data})
	}
	if err != nil {
		return err
	}
	who := login.Caller
	n := account.NewConsoleSession{OrganizationID: who.OrganizationID, UserID: who.UserID, OperatorID: login.OperatorID, KeyID: who.KeyID}
	return f.begin(c, who, data.To, func(context.Context, *storage.Tx) (account.NewConsoleSession, error) { return n, nil })
}

// continuePage begins a session for who is signed in to the pages of testers.
func (f *Frame) continuePage(c *gin.Context) error {
	if err := f.readPublicForm(c); err != nil {
		return err
	}
	v, err := f.visitor(c)
	if err != nil {
		return err
	}
	if v == nil {
		return f.Lead(c, "/sign-in")
	}
	n := account.NewConsoleSession{OrganizationID: v.OrganizationID, UserID: v.UserID}
	return f.begin(c, &auth.Caller{UserID: v.UserID, Email: v.Email}, wanted(c.PostForm("to")),
		func(context.Context, *storage.Tx) (account.NewConsoleSession, error) { return n, nil })
}

// readPublicForm reads a form that needs no session, from a page of this installation, and
// not too often from one address.
func (f *Frame) readPublicForm(c *gin.Context) error {
	if err := f.ownOrigin(c); err != nil {
		return err
	}
	if wait := f.brake.Wait(c.ClientIP()); wait > 0 {
		return &respond.Problem{Status: http.StatusTooManyRequests, Text: "too many attempts from this address", RetryAfter: wait}
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, 16<<10)
	if err := c.Request.ParseForm(); err != nil {
		return &respond.Problem{Status: http.StatusBadRequest, Text: "the form cannot be read, or is too large", Err: err}
	}
	return nil
}

// begin stores the session that of returns, in its transaction, gives the browser its
// secret, and leads to the page. A session that the browser had before ends.
func (f *Frame) begin(c *gin.Context, who *auth.Caller, to string, of func(context.Context, *storage.Tx) (account.NewConsoleSession,
	error)) error {
	random, err := randomText(f.cfg.Random)
	if err != nil {
		return err
	}
	var secret string
	ctx, actor := c.Request.Context(), auth.Actor(c)
	err = f.cfg.DB.InTx(ctx, func(tx *storage.Tx) error {
		n, err := of(ctx, tx)
		if err != nil {
			return err
		}
		secret = auth.ConsoleSecret(random, n.OperatorID != 0)
		n.Device, n.Address = c.Request.UserAgent(), c.ClientIP()
		actor.UserID, actor.Name = n.UserID, who.Label()
		if former := auth.SessionSecret(c.Request, f.https); former != "" {
			if err := account.EndConsole(ctx, tx, account.DigestOf(former)); err != nil {
				return err
			}
		}
		if err := account.BeginConsoleSession(ctx, tx, actor, account.DigestOf(secret), n, f.cfg.Now()); err != nil || n.OperatorID != 0 {
			return err
		}
		id, err := account.IdentityByConsole(ctx, tx, account.DigestOf(secret), false, f.cfg.Now())
		if err == nil && id.Member.OIDCOnly {
			return auth.Closed()
		}
		return err
	})
	if err != nil {
		return err
	}
	http.SetCookie(c.Writer, f.cookie(auth.ConsoleCookie(f.https), secret, int(account.ConsoleLife.Seconds())))
	return f.Lead(c, to)
}

// randomText returns a secret of secretBytes.
func randomText(random io.Reader) (string, error) {
	b := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("random text: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// signOut ends the session of the browser, and that of the pages of testers, which could lead
// back.
func (f *Frame) signOut(c *gin.Context) error {
	if err := f.ownOrigin(c); err != nil {
		return err
	}
	ctx := c.Request.Context()
	if secret := auth.SessionSecret(c.Request, f.https); secret != "" {
		if err := account.EndConsole(ctx, f.cfg.DB, account.DigestOf(secret)); err != nil {
			return err
		}
	}
	if page, err := c.Request.Cookie(f.name(pageCookie)); err == nil && page.Value != "" && len(page.Value) <= maxSecret {
		if err := visitor.EndSession(ctx, f.cfg.DB, account.DigestOf(page.Value)); err != nil {
			return err
		}
		http.SetCookie(c.Writer, f.cookie(f.name(pageCookie), "", -1))
	}
	http.SetCookie(c.Writer, f.cookie(auth.ConsoleCookie(f.https), "", -1))
	return f.Lead(c, "/sign-in")
}

// errLink is for a link that was used, is too old, or invented.
var errLink = &respond.Problem{Status: http.StatusGone,
	Text: "this link was used already, or it is too old. Restart slipway up for a new one, or sign in with a key"}

// link is the digest of the path's link, which works on this machine alone.
func (f *Frame) link(c *gin.Context) (account.Digest, error) {
	isForwarded := c.GetHeader("X-Forwarded-For")+c.GetHeader("Forwarded")+c.GetHeader("X-Real-Ip") != ""
	if ip, err := netip.ParseAddr(c.ClientIP()); err != nil || !ip.Unmap().IsLoopback() || isForwarded {
		return account.Digest{}, &respond.Problem{Status: http.StatusForbidden,
			Text: "this link works on the machine that Slipway runs on, and nowhere else"}
	}
	text := c.Param("link")
	if !strings.HasPrefix(text, linkPrefix) || len(text) > maxSecret {
		return account.Digest{}, errLink
	}
	return account.DigestOf(text), nil
}

// openPage shows a button: looking at a link does not use it.
func (f *Frame) openPage(c *gin.Context) error {
	digest, err := f.link(c)
	if err != nil {
		return err
	}
	stands, err := account.ConsoleLinkStands(c.Request.Context(), f.cfg.DB, digest, f.cfg.Now())
	if err != nil {
		return err
	}
	if !stands {
		return errLink
	}
	return f.own.Show(c, "open", Page{Title: "Open the console"})
}

// open uses a link up and begins a session.
func (f *Frame) open(c *gin.Context) error {
	if err := f.readPublicForm(c); err != nil {
		return err
	}
	digest, err := f.link(c)
	if err != nil {
		return err
	}
	err = f.begin(c, &auth.Caller{Username: "link of slipway up"}, "", func(ctx context.Context,
		tx *storage.Tx) (n account.NewConsoleSession, err error) {
		n.OrganizationID, n.UserID, err = account.UseConsoleLink(ctx, tx, digest, f.cfg.Now())
		return n, err
	})
	if errors.Is(err, storage.ErrNotFound) {
		return errLink
	}
	return err
}

// NewLink returns the digest to store of a link that opens the console once, and its path.
func NewLink(random io.Reader) (digest account.Digest, path string, err error) {
	text, err := randomText(random)
	if err != nil {
		return account.Digest{}, "", err
	}
	secret := linkPrefix + text
	return account.DigestOf(secret), Base + "/open/" + secret, nil
}
