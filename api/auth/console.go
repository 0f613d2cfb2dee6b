package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

const (
	// consoleCookie has the secret of a session of the console.
	consoleCookie = "slipway_console"
	// hostPrefix binds a cookie to the host that set it; browsers allow it with https alone.
	hostPrefix = "__Host-"
	// operatorSecret begins the secrets of operators' sessions.
	operatorSecret = "op_"
	// maxCookie bounds what is looked at: secrets have 43 to 46 characters.
	maxCookie = 128
)

// ConsoleCookie is the name of the cookie of a console session.
func ConsoleCookie(https bool) string {
	if https {
		return hostPrefix + consoleCookie
	}
	return consoleCookie
}

// ConsoleSecret returns the secret of a session from 32 random bytes as text; it says
// whether an operator's session begins.
func ConsoleSecret(random string, operator bool) string {
	if operator {
		return operatorSecret + random
	}
	return random
}

// SessionSecret returns the secret that a browser shows; "" when it shows none. With https
// only the cookie that is bound to the host counts: any other could be set by a neighbour.
func SessionSecret(r *http.Request, https bool) string {
	cookie, err := r.Cookie(ConsoleCookie(https))
	if err != nil || len(cookie.Value) > maxCookie {
		return ""
	}
	return cookie.Value
}

// session is the console's own way: the cookie that a sign-in began.
func (a *Authenticator) session(ctx context.Context, r *http.Request) (*Caller, error) {
	secret := SessionSecret(r, a.https)
	if secret == "" {
		return nil, nil
	}
	id, err := account.IdentityByConsole(ctx, a.db, account.DigestOf(secret), strings.HasPrefix(secret, operatorSecret), a.now())
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil // it has ended: the page of the sign-in says the rest
	}
	if err != nil {
		return nil, err
	}
	caller := &Caller{Operator: true, Username: id.Operator}
	if id.Member != nil {
		caller = callerOf(id.Member)
	}
	caller.SessionID, caller.stale = id.SessionID, id.Stale
	return caller, nil
}

// Login is what a person shows once to begin a session of the console.
type Login struct {
	Caller     *Caller
	OperatorID int64
}

// LogIn finds who shows a name and a secret: a user name and its access key, a mail address
// (a service account's user name) and its API key, or an operator's name and password.
// Wrong ones are counted by remote address, as those of requests are.
func (a *Authenticator) LogIn(c *gin.Context, name, secret string) (*Login, error) {
	ctx, name, secret := c.Request.Context(), strings.TrimSpace(name), strings.TrimSpace(secret)
	if name == "" || secret == "" || len(name) > maxCredential || len(secret) > maxCredential {
		return nil, a.refused(c, problemInvalid("a name and a key are required", nil))
	}
	key, err := account.ParseKey(secret)
	if err != nil {
		return nil, a.refused(c, problemInvalid("this is no key", err))
	}
	login := &Login{}
	switch key.Kind {
	case account.KindOperator:
		if err := key.In(a.region); err != nil {
			return nil, a.refused(c, problemInvalid(err.Error(), err))
		}
		op, err := account.OperatorByPassword(ctx, a.db, cleanText(name), key.Digest)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, a.refused(c, problemInvalid("invalid operator credentials", err))
		}
		if err != nil {
			return nil, err
		}
		login.Caller, login.OperatorID = &Caller{Operator: true, Username: op.Username}, op.ID
		return login, nil
	case account.KindAccess:
		login.Caller, err = a.authoring(ctx, name, secret)
	default:
		login.Caller, err = a.distribution(ctx, name, secret)
	}
	if err != nil {
		return nil, a.refused(c, err)
	}
	if err := a.hosts.allow(c.Request.Host, login.Caller); err != nil {
		return nil, err
	}
	if login.Caller.scopes != nil {
		return nil, problemForbidden("a key that is restricted to scopes opens no session") // which would have none
	}
	return login, nil
}

// Closed is the refusal of sessions by an organization that accepts OIDC tokens only.
func Closed() error {
	return problemForbidden("this organization accepts OIDC tokens only: it has no console")
}

type knownKey struct{}

// Known returns who is signed in, also where the rule of the request's action refuses them;
// nil when nobody is. It is for pages, which show by whom they are looked at.
func Known(ctx context.Context) *Caller {
	c, _ := ctx.Value(knownKey{}).(*Caller)
	return c
}

// Recognize finds who is signed in to the console, for a page that is the same for all and
// says by whom it is looked at (Known). It refuses nobody.
func (a *Authenticator) Recognize(c *gin.Context) {
	caller, err := a.authenticate(c, []Method{a.session})
	if err != nil {
		if !errors.Is(err, errNone) {
			a.log.WarnContext(c.Request.Context(), "session not looked up", "error", err)
		}
		return
	}
	c.Request = c.Request.WithContext(context.WithValue(c.Request.Context(), knownKey{}, caller))
}

// Stale reports whether the last use of the caller's session or key was stored anew.
func (c *Caller) Stale() bool { return c.stale }

// Inside is the middleware of a route that is asked on behalf of a caller who was found
// already: it applies the action's rule to the caller in the request's context, and asks
// for no credentials.
func (a *Authenticator) Inside(action Action) func(c *gin.Context) error {
	return func(c *gin.Context) error {
		caller := CallerOf(c.Request.Context())
		if caller == nil {
			return errNone
		}
		as := *caller
		_, err := a.admit(c, action, &as, nil)
		return err
	}
}

type insideKey struct{}

// FromInside marks a request as one that is asked on behalf of the caller in its context.
func FromInside(ctx context.Context) context.Context {
	return context.WithValue(ctx, insideKey{}, true)
}

// inside returns the caller of a request that was marked by FromInside.
func inside(ctx context.Context) *Caller {
	if marked, _ := ctx.Value(insideKey{}).(bool); marked {
		return CallerOf(ctx)
	}
	return nil
}
