package install

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/tasks/admission"
)

const (
	// passwordAge is how long a browser need not be asked again.
	passwordAge = 24 * time.Hour
	// wrongPasswords is how many wrong passwords an address may send to a page in a minute.
	wrongPasswords = 10
	// concurrentPasswords bounds the processor time of digests, some 150 ms each, which
	// organizations share; one more is for an organization that has none while others hold
	// all. pagePasswords bounds those of one page that run or wait, so that no page keeps
	// another's visitors waiting.
	concurrentPasswords = 2
	pagePasswords       = 4
	// passwordWait is how long a visitor waits for a turn.
	passwordWait = 10 * time.Second
)

// passwords ask for the passwords of pages. Who knows one has a cookie that is signed over
// the page, the password's digest and an end: it ends with the password.
type passwords struct {
	tickets *tickets // for the secret
	brake   *remote.Brake
	turns   *admission.Room

	mu   sync.Mutex
	busy map[string]int // by lock
}

func newPasswords(t *tickets) *passwords {
	return &passwords{tickets: t, brake: remote.NewBrake(wrongPasswords, t.now),
		turns: admission.New(admission.Config{Name: "passwords", Capacity: concurrentPasswords, Headroom: 1, Wait: passwordWait}),
		busy:  map[string]int{}}
}

// lock is a password that a page asks for.
type lock struct {
	name   string // p and the id of the app, b and that of the build
	digest string
}

// locks are the passwords that hold for a page, the app's first.
func (v *visit) locks() (list []lock) {
	if v.Project.PagePassword != "" {
		list = append(list, lock{"p" + number(v.Project.ID), v.Project.PagePassword})
	}
	if v.Build != nil && v.Build.PagePassword != "" {
		list = append(list, lock{"b" + number(v.Build.ID), v.Build.PagePassword})
	}
	return list
}

// lockText stands for the passwords of a page in the signature of a ticket, which so ends
// when one is set or changed.
func (v *visit) lockText() string {
	var text strings.Builder
	for _, l := range v.locks() {
		text.WriteString(l.name + "=" + l.digest + ";")
	}
	return text.String()
}

// cookie is the name of the cookie of a lock.
func (l lock) cookie() string { return "slipway_page_" + l.name }

// sign signs the end of a cookie.
func (l lock) sign(secret []byte, end int64) string {
	mac := hmac.New(sha256.New, secret)
	for _, part := range []string{"slipway page password v1", l.name, l.digest, number(end)} {
		mac.Write([]byte(part + "\n"))
	}
	return number(end) + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// missing returns the first lock of which the browser has not shown that it knows the
// password; nil when there is none, and for who was given the build by name.
func (p *passwords) missing(c *gin.Context, v *visit) (*lock, error) {
	locks := v.locks()
	if len(locks) == 0 || v.granted {
		return nil, nil
	}
	secret, err := p.tickets.installationSecret(c.Request.Context())
	if err != nil {
		return nil, err
	}
	for i, l := range locks {
		if !p.shown(c.Request, secret, l) {
			return &locks[i], nil
		}
	}
	return nil, nil
}

func (p *passwords) shown(r *http.Request, secret []byte, l lock) bool {
	cookie, err := r.Cookie(l.cookie())
	if err != nil || len(cookie.Value) > maxSecret {
		return false
	}
	text, _, _ := strings.Cut(cookie.Value, ".")
	end, err := strconv.ParseInt(text, 10, 64)
	return err == nil && hmac.Equal([]byte(l.sign(secret, end)), []byte(cookie.Value)) && p.tickets.now().Unix() < end
}

var (
	errManyPasswords = &respond.Problem{Status: http.StatusTooManyRequests, Text: "too many passwords", RetryAfter: time.Minute}
	errBusyPasswords = &respond.Problem{Status: http.StatusServiceUnavailable,
		Text: "too many passwords are being checked: try again", RetryAfter: passwordWait}
)

// check reports whether a password is that of a lock. An address that sent too many wrong
// ones to the page has to wait; others, and other pages, do not.
func (p *passwords) check(ctx context.Context, organizationID int64, address string, l lock, password string) (bool, error) {
	if !p.enter(l.name) {
		return false, errBusyPasswords
	}
	defer p.leave(l.name)
	place, err := p.turns.Enter(ctx, admission.Caller{Organization: organizationID, Key: l.name}, 1)
	if err != nil {
		return false, errBusyPasswords
	}
	defer place.Leave()
	if p.brake.Blocked(address, l.name) {
		return false, errManyPasswords
	}
	if landing.CheckPassword(l.digest, password) {
		return true, nil
	}
	p.brake.WaitFor(address, l.name)
	return false, nil
}

func (p *passwords) enter(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy[name] == pagePasswords {
		return false
	}
	p.busy[name]++
	return true
}

func (p *passwords) leave(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy[name]--; p.busy[name] == 0 {
		delete(p.busy, name)
	}
}

// passwordView is the form that asks for a password.
type passwordView struct {
	head
	App     appView
	Action  string
	OfBuild bool   // it is the build's own password
	Fault   string // why the password was not taken
}

func (h *Handlers) askPassword(c *gin.Context, v *visit, status int, fault string) error {
	asks, err := h.passwords.missing(c, v)
	if err != nil {
		return err
	}
	return h.render(c, status, "password", passwordView{head: h.head("Password"), App: h.app(v), Action: h.path(v.name) + "/password",
		OfBuild: asks != nil && asks.name[0] == 'b' && v.Project.PagePassword != "", Fault: fault})
}

// Password serves POST /install/{name}/password; the form has the member password.
func (h *Handlers) Password(c *gin.Context) error {
	if err := h.sessions.ownOrigin(c); err != nil {
		return err
	}
	v, err := h.open(c, 1)
	if err != nil {
		return err
	}
	if v.standing != locked {
		h.leadTo(c, "/install/"+v.name) // which says what there is to say
		return nil
	}
	asks, err := h.passwords.missing(c, v)
	if err != nil {
		return err
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	known, err := h.passwords.check(c.Request.Context(), v.Project.OrganizationID, c.ClientIP(), *asks, c.PostForm("password"))
	if err != nil {
		return err
	}
	if !known {
		return h.askPassword(c, v, http.StatusForbidden, "This is not the password. Ask the person who sent you the link.")
	}
	secret, err := h.tickets.installationSecret(c.Request.Context())
	if err != nil {
		return err
	}
	http.SetCookie(c.Writer, &http.Cookie{Name: asks.cookie(), Value: asks.sign(secret, h.cfg.Now().Add(passwordAge).Unix()),
		Path: h.base + "/install/", MaxAge: int(passwordAge.Seconds()), HttpOnly: true, Secure: h.https, SameSite: http.SameSiteLaxMode})
	h.leadTo(c, "/install/"+v.name)
	return nil
}
