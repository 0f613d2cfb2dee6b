// Package frame is what the pages of the console share: the page around them with its
// navigation, sign-in, forms, and the way to the api.
//
// A page asks the routes of the api (API.Get, API.Send) on behalf of who is signed in, and
// shows what they answer. So a page has the rights, the limits and the views of the route,
// and no statement or rule of its own. Package api connects the two; what a page needs and
// no route has, a route gets.
//
// Pages are html/template with the frame around them. They are read and steered without
// script; the one script adds live refresh, relative times, keys and copy buttons. What a page
// shows that may change it carries signed (Page.Live); the script waits for news of that and
// then reads the page anew, with the rights that its reader has. The
// policy of content lets a page have the console's own style, script and pictures and
// nothing else. A form carries a token that is bound to its session, and is answered by a
// redirect; what it did is said on the page that follows.
//
// A failure becomes a page: who is not signed in is led to the sign-in and back again, a
// refused form says why, and of an internal error the page has the request's id.
package frame

import (
	"crypto/rand"
	"embed"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage"
)

// Base begins the paths of all pages.
const Base = "/console"

//go:embed page asset
var files embed.FS

// Config is what a Frame needs. DB, Auth and PublicURL are required.
type Config struct {
	DB        *storage.DB
	Auth      *auth.Authenticator
	PublicURL string
	// Pictures are the origins that links to objects lead to, so that pages may show them,
	// beside the installation's own.
	Pictures []string
	// Changes wakes pages that are open; nil: they show what was when they were made.
	Changes *wait.Changes
	// SigningKey is that of the installation, the same in every process: what a page waits for
	// is signed with a key made from it.
	SigningKey []byte
	Version    string // of the program, shown at the foot
	Log        *slog.Logger
	Now        func() time.Time // default time.Now
	Random     io.Reader        // default crypto/rand
}

// Frame serves the sign-in and the assets, and renders the pages of all areas.
type Frame struct {
	cfg    Config
	base   string // path of the public URL, "" as a rule
	public string // the public URL without a slash at its end
	https  bool
	API    *API
	origin *http.CrossOriginProtection
	brake  *remote.Brake
	assets *assets
	policy string // of the content of pages
	// watchKey signs what pages wait for.
	watchKey []byte
	own      *Templates
	waits    sessionWaits
}

// attemptsPerMinute is how often a remote address may try to sign in.
const attemptsPerMinute = 30

// New returns a frame; Connect makes it work.
func New(cfg Config) (*Frame, error) {
	if cfg.DB == nil || cfg.Auth == nil {
		return nil, errors.New("console: database and authenticator are required")
	}
	public, err := url.Parse(cfg.PublicURL)
	if err != nil || public.Host == "" {
		return nil, errors.New("console: the public URL must be an address such as https://qa.example.com")
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	f := &Frame{cfg: cfg, base: strings.TrimSuffix(public.Path, "/"), public: strings.TrimSuffix(cfg.PublicURL, "/"),
		https: public.Scheme == "https", API: &API{}, origin: http.NewCrossOriginProtection(),
		brake: remote.NewBrake(attemptsPerMinute, cfg.Now), policy: policy(cfg.Pictures)}
	if f.assets, err = newAssets(); err != nil {
		return nil, err
	}
	if f.watchKey, err = deriveWatchKey(cfg.SigningKey, cfg.Random); err != nil {
		return nil, err
	}
	f.own, err = f.Templates(files)
	return f, err
}

// PublicURL is the address of the installation, without a slash at its end.
func (f *Frame) PublicURL() string { return f.public }

// Address is where a page of the console is, for links that no template writes.
func (f *Frame) Address(path string) string { return f.base + Base + path }

// Now is the clock's time.
func (f *Frame) Now() time.Time { return f.cfg.Now() }

// Connect leads the pages to the api.
func (f *Frame) Connect(api http.Handler) { f.API.handler = api }
