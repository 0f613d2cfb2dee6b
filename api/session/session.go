// Package session receives what the SDK of an app sends, and serves it to people:
// sessions, their events, feedback, and the question for a newer build.
//
// The ways in stand below /api/1/sdk and take the token of the app, as the query
// parameter token or the header X-SDK-Token. Everybody who has the app can read its
// token, so it may send and not read. A personal key in its place is revoked. All that
// an SDK sends carries an id that the SDK chose, so that sending again is harmless.
//
// Starts and batches of events are committed many at a time (api/groupcommit), and answered
// when they are durable. What requests hold in memory is bounded, first for each
// organization (api/session/session.go: place): a request waits up to ten seconds for its place, and is
// then refused with 503 and Retry-After. Bodies may be gzip; they are bounded after
// inflation. Reading is lenient where a device is wrong (clocks, invalid UTF-8, names
// in two spellings) and strict where a sender could harm others.
//
// Screenshots go into the object store before the row that names them; the sweep of
// objects removes one whose row was never written.
package session

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/groupcommit"
	"github.com/slipway-qa/slipway/api/intake"
	"github.com/slipway-qa/slipway/api/pace"
	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/token"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/session"
	"github.com/slipway-qa/slipway/tasks/admission"
	"github.com/slipway-qa/slipway/tasks/link"
)

// Config is what the handlers are made from.
type Config struct {
	Store *session.Store
	// Objects may be nil: then screenshots are refused.
	Objects object.Store
	Links   link.Links
	Keys    *account.Issuer
	Region  string
	// Leaks revokes personal keys that come in place of tokens; nil: they are refused only.
	Leaks *intake.Leaks
	Log   *slog.Logger     // default slog.Default
	Now   func() time.Time // default time.Now
	// Wait is how long a request waits for its place in memory; default 10 s.
	Wait time.Duration
}

// Handlers are the handlers of the room's routes.
type Handlers struct{ *room }

// room is what the handlers share.
type room struct {
	cfg       Config
	db        *storage.DB
	tokens    *token.Cache[session.Token]
	quotas    *token.Quotas
	guesses   *token.Guesses
	feedbacks *token.Quotas
	brake     *remote.Brake
	starts    *groupcommit.Committer[session.Start, session.Started]
	batches   *groupcommit.Committer[session.Batch, session.Added]
	memory    *admission.Room // bytes of bodies
	decoding  *admission.Room // pictures that are decoded
}

const (
	// memory bounds what bodies hold at once, in bytes.
	memory = 256 << 20
	// feedbacksPerMinute bounds the feedback of one token: each is an audit entry, an
	// event and maybe a picture. An app whose testers all shake at once stays below.
	feedbacksPerMinute = 600
	// feedbacksPerAddress bounds that of one address.
	feedbacksPerAddress = 60
	// decodingSlots pictures are unpacked at once, each of up to 128 MiB.
	decodingSlots = 2
	defaultWait   = 10 * time.Second
)

// New returns the handlers; Close ends them.
func New(cfg Config) (*Handlers, error) {
	if cfg.Store == nil || cfg.Keys == nil {
		return nil, errors.New("sessions: a store and an issuer of keys are required")
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Wait <= 0 {
		cfg.Wait = defaultWait
	}
	db := cfg.Store.DB()
	find := func(ctx context.Context, digest [32]byte) (*session.Token, error) {
		return session.TokenByDigest(ctx, db, digest)
	}
	return &Handlers{&room{cfg: cfg, db: db, tokens: token.NewCache(find, cfg.Now), quotas: token.NewQuotas(cfg.Now),
		guesses:   token.NewGuesses(cfg.Now),
		feedbacks: token.NewQuotas(cfg.Now), brake: remote.NewBrake(feedbacksPerAddress, cfg.Now),
		starts: newCommitter("starts of sessions", cfg.Store.Start, cfg.Log), batches: newCommitter("session events",
			cfg.Store.AddEvents, cfg.Log),
		memory:   admission.New(admission.Config{Name: "session bytes", Capacity: memory, Headroom: memory / 8, Wait: cfg.Wait}),
		decoding: admission.New(admission.Config{Name: "session pictures", Capacity: decodingSlots, Headroom: 1, Wait: cfg.Wait})}}, nil
}

const (
	// linger is how long the first request of a commit waits for company, unless
	// lingerMost are there: short beside the commit itself, which takes some milliseconds.
	linger     = 2 * time.Millisecond
	lingerMost = 24
	// commitMost requests share a commit.
	commitMost = 64
	// endWait bounds the end of a session, which has a transaction of its own.
	endWait = 10 * time.Second
)

func newCommitter[In, Out any](name string, store func(context.Context, []In) ([]Out, error),
	log *slog.Logger) *groupcommit.Committer[In, Out] {
	return groupcommit.New(groupcommit.Config[In, Out]{Name: name, Store: store, Log: log, Linger: linger, LingerMost: lingerMost,
		Most: commitMost})
}

// Rooms are the rooms that bound what requests take, for metrics.
func (h *Handlers) Rooms() []*admission.Room { return []*admission.Room{h.memory, h.decoding} }

// Close commits what waits. Requests must have ended.
func (h *Handlers) Close() {
	h.starts.Close()
	h.batches.Close()
	h.tokens.Close()
}

// Tokens returns what the handlers know of tokens.
func (h *Handlers) Tokens() token.Forgetter { return h.tokens }

const publicToken = "the SDK token is checked by the handler"

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3, v1 = respond.InterfaceV3, respond.InterfaceLegacy
	sdk, read, tokens := sdkHandlers(*h), readHandlers(*h), tokenHandlers(*h)
	return []route.Route{
		{Method: http.MethodPost, Path: "/api/1/sdk/sessions", Interface: v1, Public: publicToken, Handler: sdk.start,
			Quiet: true, Body: maxStart},
		{Method: http.MethodPost, Path: "/api/1/sdk/sessions/:session/events", Interface: v1, Public: publicToken,
			Handler: sdk.events, Quiet: true, Body: session.MaxBatch},
		{Method: http.MethodPost, Path: "/api/1/sdk/sessions/:session/end", Interface: v1, Public: publicToken,
			Handler: sdk.end, Quiet: true, Body: maxStart},
		{Method: http.MethodPost, Path: "/api/1/sdk/feedbacks", Interface: v1, Public: publicToken, Handler: sdk.feedback,
			Body: maxFeedbackBody, Deadline: feedbackDeadline},
		{Method: http.MethodGet, Path: "/api/1/sdk/update", Interface: v1, Public: publicToken, Handler: sdk.update, Quiet: true},
		{Method: http.MethodOptions, Path: "/api/1/sdk/sessions", Interface: v1, Public: publicToken, Handler: sdk.preflight, Quiet: true},
		{Method: http.MethodOptions, Path: "/api/1/sdk/sessions/:session/events", Interface: v1, Public: publicToken,
			Handler: sdk.preflight, Quiet: true},
		{Method: http.MethodOptions, Path: "/api/1/sdk/sessions/:session/end", Interface: v1, Public: publicToken,
			Handler: sdk.preflight, Quiet: true},
		{Method: http.MethodOptions, Path: "/api/1/sdk/feedbacks", Interface: v1, Public: publicToken, Handler: sdk.preflight, Quiet: true},
		{Method: http.MethodOptions, Path: "/api/1/sdk/update", Interface: v1, Public: publicToken, Handler: sdk.preflight, Quiet: true},

		{Method: http.MethodGet, Path: "/api/1/projects/:id/builds/:build/sessions", Interface: v1, Action: auth.ReadSessions,
			Handler: read.sessions1},
		{Method: http.MethodGet, Path: "/api/1/projects/:id/builds/:build/sessions/:session", Interface: v1,
			Action: auth.ReadSessions, Handler: read.session1},
		{Method: http.MethodGet, Path: "/api/1/feedbacks", Interface: v1, Action: auth.ReadFeedbacks, Handler: read.feedbacks1},

		{Method: http.MethodGet, Path: "/api/v3/projects/:id/sessions", Interface: v3, Query: []string{"page", "per_page",
			"search", "crashed"}, Action: auth.ReadSessions, Handler: read.sessionsOfProject},
		{Method: http.MethodGet, Path: "/api/v3/projects/:id/devices", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ReadSessions, Handler: read.devicesOfProject},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/sessions", Interface: v3, Query: []string{"page", "per_page",
			"search", "crashed"}, Action: auth.ReadSessions, Handler: read.sessionsOfBuild},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/devices", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ReadSessions, Handler: read.devicesOfBuild},
		{Method: http.MethodGet, Path: "/api/v3/sessions/:id", Interface: v3, Query: route.NoQuery(), Action: auth.ReadSessions,
			Handler: read.session},
		{Method: http.MethodGet, Path: "/api/v3/sessions/:id/events", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ReadSessions, Handler: read.events},
		{Method: http.MethodGet, Path: "/api/v3/feedbacks", Interface: v3, Query: []string{"page", "per_page", "search",
			"project_id", "build_id"}, Action: auth.ReadFeedbacks, Handler: read.feedbacks},
		{Method: http.MethodGet, Path: "/api/v3/feedbacks/:id", Interface: v3, Query: route.NoQuery(), Action: auth.ReadFeedbacks,
			Handler: read.feedback},
		{Method: http.MethodDelete, Path: "/api/v3/feedbacks/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageFeedbacks, Handler: read.deleteFeedback},

		{Method: http.MethodGet, Path: "/api/v3/projects/:id/sdk-tokens", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ManageSDKTokens, Handler: tokens.list},
		{Method: http.MethodPost, Path: "/api/v3/projects/:id/sdk-tokens", Interface: v3, Action: auth.ManageSDKTokens, Handler: tokens.create},
		{Method: http.MethodDelete, Path: "/api/v3/projects/:id/sdk-tokens/:token", Interface: v3, Bare: true,
			Query: route.NoQuery(), Action: auth.ManageSDKTokens, Handler: tokens.revoke},
	}
}

// unavailable tells a client to come again, when that is what a failure means.
func unavailable(c *gin.Context, err error) error {
	if respond.Cause(err) != "" {
		return err // which says why
	}
	late := errors.Is(err, context.DeadlineExceeded) && c.Request.Context().Err() == nil
	var full *admission.FullError
	if errors.As(err, &full) || errors.Is(err, groupcommit.ErrBusy) || errors.Is(err, storage.ErrUnavailable) || late {
		return &respond.Problem{Status: http.StatusServiceUnavailable, Text: "too much at once: send it again later",
			RetryAfter: retryAfter, Err: err}
	}
	return err
}

// retryAfter is what a client is told to wait: a database restart takes this long.
const retryAfter = 5 * time.Second

// place takes a place in memory for the body of a request, once something of it has come.
// What is compressed may become as long as a body may be.
func (r *room) place(c *gin.Context, t *session.Token, most int64) (release func(), err error) {
	weight := c.Request.ContentLength
	if weight < 0 || weight > most || c.GetHeader("Content-Encoding") != "" {
		weight = most
	}
	arriving := pace.Of(c)
	if err := arriving.First(); err != nil {
		return nil, unreadable(err)
	}
	place, err := r.memory.Enter(c.Request.Context(), callerOf(t), weight)
	if err != nil {
		return nil, unavailable(c, err)
	}
	arriving.Hold(place)
	return func() {
		arriving.Free(place)
		place.Leave()
	}, nil
}

// callerOf is who the rooms take a request for.
func callerOf(t *session.Token) admission.Caller {
	return admission.Caller{Organization: t.OrganizationID, Key: strconv.FormatInt(t.ID, 10)}
}
