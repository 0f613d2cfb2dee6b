package intake

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/storage/crash/usage"
)

// Session metrics are lists of events. A summed event that is named Application
// Launches is the start of an application, a session; a unique event says that a user
// was there. Both carry the attributes of the application: its version, the session,
// and the id of the installation, which stands for the user.
const (
	uniqueEvents = "unique_events"
	summedEvents = "summed_events"
	launchEvent  = "application launches"
)

const (
	// usageBytes bounds the body of metrics: clients send 50 events of some KiB.
	usageBytes = 1 << 20
	// usageEvents and usageAttributes bound the events of a body, and the attributes
	// of each.
	usageEvents     = 1000
	usageAttributes = 1000
	// usageSlots requests are read and counted at once: each holds a connection to the
	// database, which reports need more.
	usageSlots = 4
)

// Attributes of events.
const (
	attributeVersion = "application.version"
	attributeSession = "application.session"
	attributeUser    = "guid"
)

// SubmitUnique serves POST /api/unique-events/submit.
func (r *Receiver) SubmitUnique(c *gin.Context) error { return r.submitUsage(c, uniqueEvents) }

// SubmitSummed serves POST /api/summed-events/submit.
func (r *Receiver) SubmitSummed(c *gin.Context) error { return r.submitUsage(c, summedEvents) }

func (r *Receiver) submitUsage(c *gin.Context, list string) error {
	r.serve(c, parseQuery(c.Request.URL.RawQuery), func(in *intake, ctx context.Context) error { return in.usage(ctx, list) })
	return nil
}

// usage takes the request through all checks up to its answer.
func (in *intake) usage(ctx context.Context, list string) error {
	var err error
	if in.token, err = in.r.token(ctx, in.c.ClientIP(), in.ask.token); err != nil {
		return err
	}
	if err := in.r.checkOrigin(in.c, in.token); err != nil {
		return err
	}
	in.places.caller = callerOf(in.token)
	if err := in.r.admit(in.token, crashproject.ScopeErrorPost); err != nil {
		return err
	}
	if err := in.body.open(in.r, in.c.Request, in.places.arriving); err != nil {
		return err
	}
	if err := in.body.sniff(in.r); err != nil {
		return err
	}
	buf, err := in.places.read(ctx, &in.body, in.rawSize(), usageBytes)
	if errors.Is(err, errLimit) {
		return tooLarge("the metrics are longer than %d bytes", usageBytes)
	}
	if err != nil {
		return arrival(err)
	}
	in.doc = buf
	if err := in.countUsage(ctx, buf.b, list); err != nil {
		return err
	}
	in.ok([]byte(`{"response":"ok"}`))
	return nil
}

// countUsage reads and counts the events of a list.
func (in *intake) countUsage(ctx context.Context, doc []byte, list string) error {
	slot, err := in.r.usage.Enter(ctx, in.places.caller, 1)
	if err != nil {
		return err
	}
	defer slot.Leave()
	events, err := readUsage(doc, list, in.r.cfg.Now())
	if err != nil {
		return err
	}
	if err := in.r.cfg.Store.RecordUsage(ctx, in.token.ProjectID, events); err != nil {
		return err
	}
	in.r.cfg.Observer.Usage(len(events))
	return nil
}

// usageBody is a list of events with what they have in common.
type usageBody struct {
	Version json.RawMessage `json:"appversion"`
	Unique  *[]usageEvent   `json:"unique_events"`
	Summed  *[]usageEvent   `json:"summed_events"`
}

type usageEvent struct {
	ID         json.RawMessage            `json:"id"`
	Timestamp  json.RawMessage            `json:"timestamp"`
	Group      json.RawMessage            `json:"metric_group"`
	Unique     json.RawMessage            `json:"unique"`
	Attributes map[string]json.RawMessage `json:"attributes"`
}

// readUsage reads the events of the list.
func readUsage(doc []byte, list string, now time.Time) ([]usage.Event, error) {
	if !utf8.Valid(doc) {
		return nil, encodingFailure("the body is not valid UTF-8")
	}
	var b usageBody
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(doc, &b); {
	case errors.As(err, &wrong) && wrong.Field != "":
		return nil, member(wrong.Field, "has the wrong type")
	case err != nil:
		return nil, malformed("the metrics are not a JSON object")
	}
	events := b.Summed
	if list == uniqueEvents {
		events = b.Unique
	}
	if events == nil {
		return nil, member(list, "is required: an array of events")
	}
	if len(*events) > usageEvents {
		return nil, tooLarge("%s: holds more than %d events", list, usageEvents)
	}
	version := scalarText(b.Version)
	read := make([]usage.Event, 0, len(*events))
	for i := range *events {
		e := &(*events)[i]
		if len(e.Attributes) > usageAttributes {
			return nil, tooLarge("%s[%d].attributes: holds more than %d attributes", list, i, usageAttributes)
		}
		u := usage.Event{Version: usage.ShortText(cmp.Or(e.attribute(attributeVersion), version)), At: now}
		if u.Version == "" {
			return nil, member("appversion", "is required: the version of the application")
		}
		if t, ok := seconds(scalarText(e.Timestamp)); ok {
			u.At = time.Unix(t, 0)
		}
		if list == uniqueEvents {
			u.User = usage.ShortText(e.user())
		} else {
			u.Launch = strings.EqualFold(strings.TrimSpace(scalarText(e.Group)), launchEvent)
			u.Session = usage.ShortText(cmp.Or(e.attribute(attributeSession), scalarText(e.ID)))
		}
		if u.User != "" || u.Launch {
			read = append(read, u)
		}
	}
	return read, nil
}

// attribute is an attribute as text.
func (e *usageEvent) attribute(name string) string { return scalarText(e.Attributes[name]) }

// user is the id of a unique event's user: that of the installation, which crashes
// carry too, else the attribute that the event names, else the session.
func (e *usageEvent) user() string {
	if id := e.attribute(attributeUser); id != "" {
		return id
	}
	var names []json.RawMessage
	_ = json.Unmarshal(e.Unique, &names) // a list, or else nothing is named
	for _, name := range names {
		if id := e.attribute(scalarText(name)); id != "" {
			return id
		}
	}
	return e.attribute(attributeSession)
}

// scalarText is the text of a JSON string, number or boolean, and "" for all else.
func scalarText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '{', '[', 'n':
		return ""
	case '"':
		var s string
		_ = json.Unmarshal(raw, &s) // it is valid: it was read before
		return s
	}
	return string(raw)
}
