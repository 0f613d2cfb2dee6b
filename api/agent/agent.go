// Package agent serves the tools for agents: /mcp speaks the Model Context Protocol
// (streamable HTTP, without sessions: any process can take any request), and
// /api/v3/agent-calls takes the record of a call.
//
// What the tools are and what they answer says a Protocol, which asks the api's own routes
// by the Transport that it is made with, on behalf of the caller. So rights, limits and
// audit are those of the routes. A key's scopes say which changes its agent may make; whoever
// has none, by key, token or OIDC, reads only: here they are restricted to account.ScopeRead,
// which the table of package auth enforces at every route.
//
// Each call of a tool is an audit entry, by whichever way it came. An agent on a laptop
// (slipway-ci mcp) sends its own record; what it does with the api is in the audit anyway.
//
// Organizations share the places of a process for calls, and a key has a rate: 429 beyond.
// A request whose Origin is another site's is 403, as the protocol wants it. A body that is
// no JSON object is 400: batches of calls would pass the rate.
package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/inside"
	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/tasks/admission"
)

// Path is where the protocol is spoken.
const Path = "/mcp"

const (
	// maxMessage bounds a message in bytes: a test with its steps, which is the largest
	// that a tool takes, has some ten KiB.
	maxMessage = 512 << 10
	// Deadline is above the longest call: a run that is waited for.
	Deadline = 90 * time.Second
	// mostCalls run at once in a process, and headroom more for organizations that have none.
	// Most of them wait for the database or a run; their searches have a room of their own.
	mostCalls = 64
	headroom  = 16
	// perMinute is what an agent asks in a quick minute, several times over.
	perMinute = 240
	// recordsPerHour are taken of a program outside: one each second.
	recordsPerHour = 3600
)

// Protocol answers a message of an agent.
type Protocol interface {
	// Serve answers on behalf of the caller in the request's context, with the tools that
	// the scopes allow.
	Serve(w http.ResponseWriter, r *http.Request, scopes []account.Scope)
}

// Config is what the handlers need; all but Now are required.
type Config struct {
	DB *storage.DB
	// Protocol is made with the way to the api's routes.
	Protocol func(api http.RoundTripper) (Protocol, error)
	// PublicURL is the address that browsers have for the api's own origin; with BaseDomain
	// those of the organizations below it, too.
	PublicURL, BaseDomain string
	Now                   func() time.Time // default time.Now
}

// Handlers are the handlers of the room's routes.
type Handlers struct {
	cfg      Config
	public   *url.URL
	api      *inside.Transport
	protocol Protocol
	room     *admission.Room
	brake    *remote.Brake
	records  *remote.Brake // from outside
}

// New returns the handlers. Connect must follow before the first request.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.Protocol == nil {
		return nil, errors.New("agent handlers: database and protocol are required")
	}
	public, err := url.Parse(cfg.PublicURL)
	if err != nil || public.Host == "" {
		return nil, errors.New("agent handlers: the public address is required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	h := &Handlers{cfg: cfg, public: public, api: &inside.Transport{}, brake: remote.NewBrake(perMinute, cfg.Now),
		records: remote.NewHourlyBrake(recordsPerHour, cfg.Now),
		room:    admission.New(admission.Config{Name: "agents", Capacity: mostCalls, Headroom: headroom})}
	h.protocol, err = cfg.Protocol(h.api)
	return h, err
}

// Connect leads the tools to the api.
func (h *Handlers) Connect(api http.Handler) { h.api.Handler = api }

// Rooms are the rooms, for metrics.
func (h *Handlers) Rooms() []*admission.Room { return []*admission.Room{h.room} }

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3 = respond.InterfaceV3
	return []route.Route{
		{Method: http.MethodPost, Path: Path, Interface: v3, Query: route.NoQuery(), Action: auth.UseAgentTools, Handler: h.serve,
			Deadline: Deadline, Body: maxMessage},
		{Method: http.MethodPost, Path: "/api/v3/agent-calls", Interface: v3, Query: route.NoQuery(), Action: auth.UseAgentTools,
			Handler: h.record},
	}
}

// serve answers a message.
func (h *Handlers) serve(c *gin.Context) error {
	ctx := c.Request.Context()
	caller := auth.CallerOf(ctx)
	if err := h.checkOrigin(c.GetHeader("Origin")); err != nil {
		return err
	}
	if err := h.slow("mcp", caller); err != nil {
		return err
	}
	message, err := readMessage(c.Request)
	if err != nil {
		return err
	}
	place, err := h.room.Enter(ctx, admission.Caller{Organization: caller.OrganizationID, Key: nameOf(caller)}, 1)
	if err != nil {
		return err
	}
	defer place.Leave()
	scopes := caller.Scopes()
	ctx = auth.WithCaller(ctx, caller.Restricted(account.ScopeRead), auth.UseAgentTools)
	ctx = inside.WithOrigin(ctx, inside.Origin{Host: c.Request.Host, Address: c.ClientIP(), Agent: c.Request.UserAgent()})
	r := c.Request.Clone(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(message)), int64(len(message))
	r.Header.Set("Content-Type", "application/json") // as everywhere in version 3, the body says it
	r.Header.Set("Accept", "application/json, text/event-stream")
	answer := &plainRefusals{ResponseWriter: c.Writer}
	h.protocol.Serve(answer, r, scopes)
	return answer.refusal()
}

// nameOf tells the callers of an organization apart.
func nameOf(caller *auth.Caller) string {
	if caller.KeyID != 0 {
		return "key " + strconv.FormatInt(caller.KeyID, 10)
	}
	return "user " + strconv.FormatInt(caller.UserID, 10)
}

// slow refuses a caller who asks more often than an agent does.
func (h *Handlers) slow(what string, caller *auth.Caller) error {
	wait := h.brake.WaitFor("", what+" of "+nameOf(caller))
	if wait == 0 {
		return nil
	}
	return &respond.Problem{Status: http.StatusTooManyRequests, RetryAfter: wait,
		Text: "too many calls with this key: " + strconv.Itoa(perMinute) + " a minute are let through"}
}

// checkOrigin refuses what a page of another site sends: also one whose name leads to this
// machine by a changed DNS entry. What is no browser sends no Origin.
func (h *Handlers) checkOrigin(origin string) error {
	if origin == "" {
		return nil
	}
	u, err := url.Parse(origin)
	if err == nil && u.Scheme == h.public.Scheme {
		ours := strings.EqualFold(u.Host, h.public.Host)
		label, below := strings.CutSuffix(strings.ToLower(u.Hostname()), "."+strings.ToLower(h.cfg.BaseDomain))
		if ours || h.cfg.BaseDomain != "" && below && !strings.Contains(label, ".") && u.Port() == h.public.Port() {
			return nil
		}
	}
	return &respond.Problem{Status: http.StatusForbidden, Text: "a page of another origin must not use the tools for agents"}
}

// readMessage reads the one message of a request.
func readMessage(r *http.Request) ([]byte, error) {
	message, err := io.ReadAll(r.Body) // bounded by the route
	if err != nil {
		return nil, err
	}
	message = bytes.TrimSpace(message)
	if len(message) == 0 || message[0] != '{' || !json.Valid(message) {
		return nil, &respond.Problem{Status: http.StatusBadRequest, Text: "the body must be one JSON-RPC message, an object"}
	}
	return message, nil
}

// outcomes are how a call may end.
func outcomes() []string {
	return []string{"done", "failed", "refused", "cancelled", "timed_out"}
}

// callRequest is the record of a call. By which way it came, the server knows.
type callRequest struct {
	Tool    string `json:"tool"`
	Outcome string `json:"outcome"`
	// Arguments are the names of those that were given, and Digest is over their values:
	// these may be long, or private.
	Arguments body.List `json:"arguments"`
	Digest    string    `json:"digest"`
	TookMS    int64     `json:"took_ms"`
}

const (
	maxName      = 64 // of a tool or an argument
	maxArguments = 32
	maxTookMS    = int64(time.Hour / time.Millisecond)
)

func (r *callRequest) check() error {
	switch {
	case !isName(r.Tool):
		return storage.Invalid("tool", "must be the name of a tool: lower case letters and _, at most %d", maxName)
	case !slices.Contains(outcomes(), r.Outcome):
		return storage.Invalid("outcome", "must be one of %v", outcomes())
	case len(r.Arguments) > maxArguments || slices.ContainsFunc(r.Arguments, func(name string) bool { return !isName(name) }):
		return storage.Invalid("arguments", "must be at most %d names", maxArguments)
	case len(r.Digest) > maxName || strings.Trim(r.Digest, "0123456789abcdef") != "":
		return storage.Invalid("digest", "must be hexadecimal, at most %d characters", maxName)
	case r.TookMS < 0 || r.TookMS > maxTookMS:
		return storage.Invalid("took_ms", "must be 0 to %d", maxTookMS)
	}
	return nil
}

func isName(s string) bool {
	return s != "" && len(s) <= maxName && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_0123456789") == ""
}

// record serves POST /api/v3/agent-calls.
func (h *Handlers) record(c *gin.Context) error {
	ctx := c.Request.Context()
	caller := auth.CallerOf(ctx)
	via := "http"
	if !inside.ByTransport(ctx) {
		via = "stdio"
		if wait := h.records.WaitFor("", nameOf(caller)); wait > 0 {
			return &respond.Problem{Status: http.StatusTooManyRequests, RetryAfter: wait,
				Text: "too many records with this key: " + strconv.Itoa(recordsPerHour) + " an hour are taken"}
		}
	}
	var call callRequest
	if err := body.Read(c, &call); err != nil {
		return err
	}
	if err := call.check(); err != nil {
		return err
	}
	detail := map[string]any{"via": via, "outcome": call.Outcome, "arguments": call.Arguments, "digest": call.Digest, "took_ms": call.TookMS}
	if caller.KeyID != 0 {
		detail["key_id"] = caller.KeyID
	}
	err := h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error {
		return account.Audit(ctx, tx, account.Event{OrganizationID: caller.OrganizationID, Type: account.AgentCalled, Actor: auth.Actor(c),
			Subject: call.Tool, Detail: detail})
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
