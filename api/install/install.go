// Package install serves the pages that testers open on their phones:
// /install/{slug or token} of a project or a build, with its icon, QR code, download
// and iOS manifest, the sign-in to closed pages, the pages of a person's own (/me),
// invitation links (/invite) and the registration of devices (/udid).
//
// Pages are rendered on the server, whole: one answer with its style in it, no
// script, nothing from another host. What stands on a page is in two steps: visit
// reads who comes and what they ask for, actionsOf (pure) decides what the button
// does on this device or why an install cannot work. Templates only lay out.
//
// An open page serves everybody. A closed one shows those who are not signed in the
// icon, the name and a form for their mail address. A request for a link has the
// same answer, after the same time, whether the address is known or not; only
// members who are not blocked are sent one. Opening the link changes nothing, for mail
// scanners open links; its button uses it up and begins a session, whose cookie is
// stored as a digest. What a person may install is read from the database at each
// request, so that a block or a lost grant acts at once; the page of a project
// shows the newest of that, which need not be the latest build.
//
// iOS fetches manifests without cookies, so their address carries a ticket: build,
// person and end of life under an HMAC. Files come by short-lived signed links of
// the object store.
//
// Failures are pages too: the routes name fail, the only place that writes them, and
// which logs them as package respond does.
package install

import (
	"cmp"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/api/install/enrolment"
	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/note"
)

// Config is what the pages need. DB, Objects, PublicURL and Log are required.
type Config struct {
	DB      *storage.DB
	Objects object.Store
	Links   link.Links
	// Queue inserts tasks; nil leaves their delivery to the relay.
	Queue     *dispatch.Enqueuer
	PublicURL string
	Log       *slog.Logger
	// Product is the name in the footer and in mail; default "Slipway".
	Product string
	// Now is the clock of links, sessions and tickets; default time.Now.
	Now func() time.Time
	// Random is where secrets come from; default crypto/rand.
	Random io.Reader
	// SignInTime is how long each request for a sign-in link takes, so that the
	// time does not tell whether the address is known: above what writing a mail
	// takes, below what a person notices. Default 400 ms.
	SignInTime time.Duration
	// Organization returns the organization that a host name selects, by its slug; ""
	// for hosts that select none. nil: no host does.
	Organization func(host string) string
	// Signer signs the profiles that devices are registered by; nil: they go out
	// unsigned.
	Signer *enrolment.Signer
	// DeviceIssuers are the authorities that issue devices their certificates. With
	// them an answer that no such certificate signed is refused; without, whoever
	// has a tester's profile may name any device.
	DeviceIssuers []*x509.Certificate
	// SignInsPerMinute is how many requests for sign-in links a remote address
	// may make; default 10, since a team may sit behind one address.
	SignInsPerMinute int
}

const (
	defaultSignInTime = 400 * time.Millisecond
	defaultSignIns    = 10
)

// Handlers serve the pages of apps and builds, and their files.
type Handlers struct {
	visitReader
	sessions *sessionHandlers
	people   *personHandlers
	devices  *deviceHandlers
	tickets  *tickets
	notes    *notes
}

// New returns the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.Objects == nil || cfg.Log == nil {
		return nil, errors.New("install pages: database, objects and log are required")
	}
	u, err := url.Parse(cfg.PublicURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("install pages: the public URL must be http(s)://host")
	}
	cfg.Product = cmp.Or(cfg.Product, "Slipway")
	cfg.SignInTime = cmp.Or(cfg.SignInTime, defaultSignInTime)
	cfg.SignInsPerMinute = cmp.Or(cfg.SignInsPerMinute, defaultSignIns)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	origin := http.NewCrossOriginProtection()
	// Behind a proxy that changes the Host header, the pages' own origin is the
	// public one.
	if err := origin.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
		return nil, fmt.Errorf("install pages: public URL: %w", err)
	}
	pages, err := newPages()
	if err != nil {
		return nil, err
	}
	tickets := &tickets{db: cfg.DB, now: cfg.Now}
	visits := visitReader{passwords: newPasswords(tickets), site: &site{cfg: cfg, base: strings.TrimRight(u.EscapedPath(), "/"),
		https: u.Scheme == "https", host: u.Host, pages: pages}}
	sessions := &sessionHandlers{visitReader: visits, origin: origin, brake: remote.NewBrake(cfg.SignInsPerMinute, cfg.Now),
		letters: letter.New(letter.Config{Links: cfg.Links, Queue: cfg.Queue})}
	kept := newNotes(note.HTML, notesBytes)
	people := &personHandlers{sessionHandlers: sessions, notes: kept, pictures: make(chan struct{}, concurrentPictures),
		invitations: remote.NewBrake(invitationsPerMinute, cfg.Now), feedbacks: remote.NewBrake(feedbacksPerMinute, cfg.Now)}
	return &Handlers{visitReader: visits, sessions: sessions, people: people, tickets: tickets, notes: kept,
		devices: &deviceHandlers{personHandlers: people, tickets: tickets, answers: remote.NewBrake(answersPerMinute, cfg.Now)},
	}, nil
}

// publicPage is why the routes ask for no credentials.
const publicPage = "testers have no key; the handler asks for a sign-in where a page is closed"

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	return slices.Concat([]route.Route{
		{Method: http.MethodGet, Path: "/install/:name", Public: publicPage, Handler: h.Landing, Fail: h.fail},
		{Method: http.MethodGet, Path: "/install/:name/icon", Public: publicPage, Handler: h.Icon, Fail: h.fail},
		{Method: http.MethodGet, Path: "/install/:name/qr", Public: publicPage, Handler: h.QR, Fail: h.fail},
		{Method: http.MethodGet, Path: "/install/:name/download", Public: publicPage, Handler: h.Download, Fail: h.fail,
			Deadline: route.UploadDeadline},
		{Method: http.MethodGet, Path: "/install/:name/manifest.plist", Public: publicPage, Handler: h.Manifest, Fail: h.failPlain},
		{Method: http.MethodPost, Path: "/install/:name/sign-in", Public: publicPage, Handler: h.sessions.SignIn, Fail: h.fail},
		{Method: http.MethodPost, Path: "/install/:name/password", Public: publicPage, Handler: h.Password, Fail: h.fail},
		{Method: http.MethodGet, Path: "/session/:link", Public: publicPage, Handler: h.sessions.Session, Fail: h.fail},
		{Method: http.MethodPost, Path: "/session/:link", Public: publicPage, Handler: h.sessions.Confirm, Fail: h.fail},
		{Method: http.MethodPost, Path: "/sign-out", Public: publicPage, Handler: h.sessions.SignOut, Fail: h.fail},
	}, h.people.routes(h.fail), h.devices.routes(h.people.signedIn, h.fail, h.failPlain))
}
