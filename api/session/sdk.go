package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/klauspost/compress/gzip"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pace"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/session"
)

// sdkHandlers serve the SDK.
type sdkHandlers Handlers

const (
	// maxStart bounds the body of a start or an end.
	maxStart = 64 << 10
	// maxEvents bounds the events of a batch.
	maxEvents = 1000
	// maxEventText and maxEventDepth bound one event.
	maxEventText  = 64 << 10
	maxEventDepth = 32
)

// errNoSession is for a session that the app of the token does not have.
func errNoSession() error {
	return &respond.Problem{Status: http.StatusNotFound, Text: "session: the app has none of this id", Err: storage.ErrNotFound}
}

// about is what a start and feedback say of build, device and person.
type about struct {
	BuildID        word `json:"build_id"`
	Version        word `json:"version"`
	VersionCode    word `json:"version_code"`
	Package        word `json:"package"`
	Email          word `json:"email"`
	CorrelationID  word `json:"correlation_id"`
	CorrelationID2 word `json:"correlationId"`
	Device         word `json:"device"`
	OS             word `json:"os"`
	OSVersion      word `json:"os_version"`
	Locale         word `json:"locale"`
}

func (a *about) device() session.Device {
	return session.Device{Model: string(a.Device), OS: string(a.OS), OSVersion: string(a.OSVersion), Locale: string(a.Locale)}
}

// check refuses the package of another app: its token is built into the wrong one.
func (a *about) check(t *session.Token) error {
	if a.Package != "" && t.PackageName != "" && string(a.Package) != t.PackageName {
		return storage.Invalid("package", "is not that of the token's app, %s", t.PackageName)
	}
	return nil
}

// startBody is the body of a start.
type startBody struct {
	SessionID word `json:"session_id"`
	about
	Attr1      word `json:"attr1"`
	Attr2      word `json:"attr2"`
	Attr3      word `json:"attr3"`
	Attr4      word `json:"attr4"`
	Attr5      word `json:"attr5"`
	StartTime  word `json:"start_time"`
	StartTime2 word `json:"startTime"`
	AppState   word `json:"app_state"`
}

func (in *startBody) start(t *session.Token, address string, now time.Time) (s session.Start, err error) {
	if err := in.check(t); err != nil {
		return s, err
	}
	s = session.Start{OrganizationID: t.OrganizationID, ProjectID: t.ProjectID, Version: string(in.Version),
		VersionCode: string(in.VersionCode),
		Identity: session.Identity{Email: string(in.Email), CorrelationID: first(in.CorrelationID, in.CorrelationID2),
			Attributes: [session.Attributes]string{string(in.Attr1), string(in.Attr2), string(in.Attr3), string(in.Attr4), string(in.Attr5)}},
		Device: in.device(), AppState: string(in.AppState), IPAddress: address}
	if s.ClientID, err = identifier("session_id", string(in.SessionID)); err != nil {
		return s, err
	}
	if s.BuildID, err = number("build_id", string(in.BuildID)); err != nil {
		return s, err
	}
	if s.StartedAt, err = instant("start_time", first(in.StartTime, in.StartTime2)); err != nil {
		return s, err
	}
	return s, s.Clean(now)
}

// start serves POST /api/1/sdk/sessions.
func (h sdkHandlers) start(c *gin.Context) error {
	t, err := h.token(c, session.ScopeSession)
	if err != nil {
		return err
	}
	release, err := h.place(c, t, maxStart)
	if err != nil {
		return err
	}
	defer release()
	var in startBody
	if err := inflated(c, maxStart); err != nil {
		return err
	}
	if err := body.Read(c, &in, body.IgnoreUnknown); err != nil {
		return err
	}
	s, err := in.start(t, c.ClientIP(), h.cfg.Now())
	if err != nil {
		return err
	}
	started, err := h.starts.Submit(c.Request.Context(), t.OrganizationID, s)
	switch {
	case err != nil:
		return unavailable(c, err)
	case started.NoBuild:
		return &respond.Problem{Status: http.StatusNotFound, Text: "build_id: the app has no such build", Err: storage.ErrNotFound}
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "session_id": s.ClientID.String(), "id": started.ID,
		"build_id": decimal(started.BuildID), "repeated": started.Repeated})
}

// eventsBody is the body of a batch.
type eventsBody struct {
	Seq    *int64 `json:"seq"`
	Events []struct {
		Type string          `json:"type"`
		Time word            `json:"time"`
		Text word            `json:"text"`
		Data json.RawMessage `json:"data"`
	} `json:"events"`
}

// sessionOf reads the session of the path. Only the app knows its id: what is no
// uuid names nothing.
func sessionOf(c *gin.Context) (uuid.UUID, error) {
	id, err := uuid.Parse(c.Param("session"))
	if err != nil {
		return uuid.Nil, errNoSession()
	}
	return id, nil
}

// events serves POST /api/1/sdk/sessions/{session}/events.
func (h sdkHandlers) events(c *gin.Context) error {
	t, err := h.token(c, session.ScopeSession)
	if err != nil {
		return err
	}
	id, err := sessionOf(c)
	if err != nil {
		return err
	}
	release, err := h.place(c, t, session.MaxBatch)
	if err != nil {
		return err
	}
	defer release()
	b, err := h.batch(c, t, id)
	if err != nil {
		return err
	}
	added, err := h.batches.Submit(c.Request.Context(), t.OrganizationID, b)
	switch {
	case err != nil:
		return unavailable(c, err)
	case added.Unknown:
		return errNoSession()
	case added.Late:
		return storage.Invalid("session", "ended more than %d hours ago: it takes no more events", int(session.EventGrace.Hours()))
	}
	accepted := b.Events - added.Dropped
	if added.Repeated {
		accepted = 0
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "accepted": accepted, "dropped": added.Dropped, "repeated": added.Repeated})
}

// batch reads and packs the events of a request.
func (h sdkHandlers) batch(c *gin.Context, t *session.Token, id uuid.UUID) (session.Batch, error) {
	var none session.Batch
	if err := inflated(c, session.MaxBatch); err != nil {
		return none, err
	}
	text, err := io.ReadAll(c.Request.Body)
	if err != nil {
		return none, unreadable(err)
	}
	in, err := parseEvents(text)
	if err != nil {
		return none, err
	}
	now := h.cfg.Now()
	events := make([]session.Event, 0, len(in.Events))
	for i := range in.Events {
		e := &in.Events[i]
		member := "events[" + strconv.Itoa(i) + "]"
		if !slices.Contains(session.EventTypes(), e.Type) {
			return none, storage.Invalid(member+".type", "must be %s", strings.Join(session.EventTypes(), ", "))
		}
		if len(e.Text) > maxEventText {
			return none, storage.Invalid(member+".text", "must have at most %d bytes", maxEventText)
		}
		at, err := instant(member+".time", string(e.Time))
		if err != nil {
			return none, err
		}
		if string(e.Data) == "null" {
			e.Data = nil
		}
		events = append(events, session.Event{Type: e.Type, Time: session.ClampTime(at, now).Truncate(time.Millisecond),
			Text: string(e.Text), Data: e.Data})
	}
	return h.cfg.Store.NewBatch(t.ProjectID, id, *in.Seq, events)
}

func parseEvents(text []byte) (*eventsBody, error) {
	if body.Depth(text) > maxEventDepth {
		return nil, storage.Invalid("body", "is nested more than %d deep", maxEventDepth)
	}
	var in eventsBody
	if err := json.Unmarshal(bytes.ToValidUTF8(text, []byte("\uFFFD")), &in); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return nil, storage.Invalid(wrong.Field, "has the wrong type: seq is a whole number, events are objects with type, time, text and data")
		}
		return nil, storage.Invalid("body", "must be a JSON object with seq and events")
	}
	switch {
	case in.Seq == nil:
		return nil, storage.Invalid("seq", "is required: the number of the batch in its session")
	case *in.Seq < 0:
		return nil, storage.Invalid("seq", "must be 0 or more")
	case len(in.Events) == 0:
		return nil, storage.Invalid("events", "is required: at least one")
	case len(in.Events) > maxEvents:
		return nil, storage.Invalid("events", "has at most %d elements", maxEvents)
	}
	return &in, nil
}

// unreadable keeps 413 and calls everything else the caller's broken body.
func unreadable(err error) error {
	var large *http.MaxBytesError
	var slow *pace.SlowError
	switch {
	case errors.As(err, &large):
		return err
	case errors.As(err, &slow) && slow.Evicted: // clients send again what was not served
		return &respond.Problem{Status: http.StatusServiceUnavailable, Text: slow.Error(), RetryAfter: retryAfter, Err: err}
	}
	return storage.Invalid("body", "cannot be read: it ends early, or is not of its Content-Encoding")
}

// inflated lets the body be read as it was before its gzip, bounded by most bytes.
func inflated(c *gin.Context, most int64) error {
	switch encoding := strings.ToLower(strings.TrimSpace(c.GetHeader("Content-Encoding"))); encoding {
	case "", "identity":
		return nil
	case "gzip", "x-gzip":
	default:
		return storage.Invalid("Content-Encoding", "must be gzip or identity")
	}
	z, err := gzip.NewReader(c.Request.Body)
	if err != nil {
		return unreadable(err)
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, z, most)
	c.Request.Header.Del("Content-Encoding")
	return nil
}

// endBody is the body of an end.
type endBody struct {
	Duration word        `json:"duration"` // seconds
	Crashed  body.Switch `json:"crashed"`
}

// end serves POST /api/1/sdk/sessions/{session}/end.
func (h sdkHandlers) end(c *gin.Context) error {
	t, err := h.token(c, session.ScopeSession)
	if err != nil {
		return err
	}
	id, err := sessionOf(c)
	if err != nil {
		return err
	}
	var in endBody
	if err := inflated(c, maxStart); err != nil {
		return err
	}
	if err := body.Read(c, &in, body.IgnoreUnknown); err != nil {
		return err
	}
	e := session.End{ProjectID: t.ProjectID, ClientID: id, Crashed: bool(in.Crashed)}
	if in.Duration != "" {
		seconds, err := strconv.ParseFloat(string(in.Duration), 64)
		if err != nil || seconds != seconds {
			return storage.Invalid("duration", "must be a number of seconds")
		}
		// Clocks that were set back while the app ran give lengths below zero.
		d := time.Duration(min(max(seconds, 0), session.MaxDuration.Seconds()) * float64(time.Second))
		e.Duration = &d
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), endWait)
	defer cancel()
	ended, err := session.EndSession(ctx, h.db, e)
	if errors.Is(err, storage.ErrNotFound) {
		return errNoSession()
	}
	if err != nil {
		return unavailable(c, err)
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "session_id": id.String(), "id": ended.ID,
		"duration": clock(time.Duration(ended.DurationMS) * time.Millisecond), "crashed": ended.Crashed})
}
