package intake

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

// Blockers of ads refuse requests to other hosts, and addresses with a token. A page that they
// are used on posts an envelope to its own origin, which passes it on to Tunnel: a line of
// JSON that has the token, and then items, each a line of JSON with its type and length, and
// its bytes.
//
//	{"token":"slp_...","sent_at":"2026-11-02T10:00:00Z"}
//	{"type":"report","length":512}
//	{"uuid":...}
//	{"type":"feedback","length":40}
//	{"text":"I pressed pay."}
//
// An item without a length ends with its line. The body needs no header.
const (
	// envelopeLine bounds a line of the envelope itself: a token and a few words.
	envelopeLine = 16 << 10
	// envelopeItems bounds the items: a report, its files, feedback and two lists of events.
	envelopeItems = 50
)

// envelopeHeader is the first line.
type envelopeHeader struct {
	Token  string          `json:"token"`
	DSN    string          `json:"dsn"` // https://TOKEN@HOST, as others write it
	SentAt json.RawMessage `json:"sent_at"`
}

// envelopeItem is the line before the bytes of an item.
type envelopeItem struct {
	Type        string `json:"type"`
	Length      *int64 `json:"length"`
	Name        string `json:"filename"`
	ContentType string `json:"content_type"`
	CrashID     string `json:"crash_id"` // of feedback on a report that was sent before
}

// Tunnel serves POST /api/tunnel.
func (r *Receiver) Tunnel(c *gin.Context) error {
	r.serve(c, ask{}, (*intake).tunnel)
	return nil
}

// tunnel takes an envelope through all checks up to its answer.
func (in *intake) tunnel(ctx context.Context) error {
	if err := in.body.open(in.r, in.c.Request, in.places.arriving); err != nil {
		return err
	}
	if err := in.body.sniff(in.r); err != nil {
		return err
	}
	e := &envelope{intake: in, src: bufio.NewReaderSize(&in.body, envelopeLine)}
	if err := e.begin(ctx); err != nil {
		return err
	}
	for n := 0; ; n++ {
		more, err := e.next(ctx)
		switch {
		case err != nil:
			return err
		case !more:
			return e.end(ctx)
		case n == envelopeItems:
			return tooLarge("the envelope has more than %d items", envelopeItems)
		}
	}
}

// envelope is one that is being read.
type envelope struct {
	*intake
	src      *bufio.Reader
	feedback []pendingFeedback
	counted  bool // events
	writes   int  // items that are written by themselves: feedback and events
}

// pendingFeedback waits for the report that it is about.
type pendingFeedback struct {
	crashID string
	request feedbackRequest
}

// begin reads the header, and checks its token.
func (e *envelope) begin(ctx context.Context) error {
	line, err := e.line()
	if err != nil {
		return err
	}
	var header envelopeHeader
	if json.Unmarshal(line, &header) != nil {
		return malformed("the envelope begins with no line of JSON")
	}
	if header.Token == "" && header.DSN != "" {
		if u, err := url.Parse(header.DSN); err == nil {
			header.Token = u.User.Username()
		}
	}
	e.ask.sentAt = scalarText(header.SentAt)
	if e.token, err = e.r.token(ctx, e.c.ClientIP(), header.Token); err != nil {
		return err
	}
	if err := e.r.checkOrigin(e.c, e.token); err != nil {
		return err
	}
	e.places.caller, e.format = callerOf(e.token), formats[formatJSON]
	return e.r.admit(e.token, e.format.scope)
}

// line reads a line of the envelope; io.EOF is the end of the body.
func (e *envelope) line() ([]byte, error) {
	line, err := e.src.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, tooLarge("a line of the envelope is longer than %d bytes", envelopeLine)
	case err != nil && !errors.Is(err, io.EOF):
		return nil, arrival(err)
	}
	return bytes.TrimSpace(line), nil
}

// next takes one item; false at the end. One that is cut off inside its own line is not there.
func (e *envelope) next(ctx context.Context) (more bool, err error) {
	for {
		if _, err := e.src.Peek(1); err != nil {
			if e.body.err != nil {
				return false, e.body.err
			}
			return false, nil
		}
		line, err := e.line()
		if err != nil {
			return false, err
		}
		if len(line) == 0 {
			continue // between items
		}
		var item envelopeItem
		if json.Unmarshal(line, &item) != nil {
			if _, err := e.src.Peek(1); err != nil && e.complete() {
				return false, nil
			}
			return false, malformed("an item of the envelope begins with no line of JSON")
		}
		return true, e.take(ctx, &item)
	}
}

// take reads the bytes of an item, whatever becomes of them.
func (e *envelope) take(ctx context.Context, item *envelopeItem) error {
	var src io.Reader = &lineReader{src: e.src}
	size := int64(-1)
	if item.Length != nil {
		if size = *item.Length; size < 0 {
			return member("length", "must not be negative")
		}
		src = io.LimitReader(e.src, size)
	}
	err := e.admitItem(item.Type)
	if err != nil {
		return err
	}
	switch item.Type {
	case "report":
		err = e.takeDocument(ctx, src, -1)
	case "attachment":
		err = e.attach(ctx, src, attachmentName("", item.Name), item.ContentType)
	case "feedback":
		err = e.takeFeedback(item, src)
	case uniqueEvents, summedEvents:
		err = e.takeEvents(ctx, item, src)
	}
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, src); err != nil { // of types that are not known
		return arrival(err)
	}
	return nil
}

// admitItem counts items that are written by themselves as requests of their own, but for the
// first, for which the envelope was admitted: an envelope costs no less than what is in it.
func (e *envelope) admitItem(kind string) error {
	switch kind {
	case "feedback", uniqueEvents, summedEvents:
		if e.writes++; e.writes > 1 {
			return e.r.admit(e.token, e.format.scope)
		}
	}
	return nil
}

func (e *envelope) takeFeedback(item *envelopeItem, src io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(src, feedbackBytes+1))
	switch {
	case err != nil:
		return arrival(err)
	case len(text) > feedbackBytes:
		return tooLarge("the feedback is longer than %d bytes", feedbackBytes)
	}
	p := pendingFeedback{crashID: item.CrashID}
	if json.Unmarshal(text, &p.request) != nil {
		return malformed("the feedback is not a JSON object of texts")
	}
	n := crash.NewFeedback{Name: p.request.Name, Email: p.request.Email, Text: p.request.Text}
	if err := n.Clean(); err != nil {
		return feedbackFailure(err)
	}
	e.feedback = append(e.feedback, p)
	return nil
}

func (e *envelope) takeEvents(ctx context.Context, item *envelopeItem, src io.Reader) error {
	buf, err := e.places.read(ctx, src, -1, usageBytes)
	if errors.Is(err, errLimit) {
		return tooLarge("the metrics are longer than %d bytes", usageBytes)
	}
	if err != nil {
		return arrival(err)
	}
	defer e.r.buffers.put(buf)
	e.counted = true
	return e.countUsage(ctx, buf.b, item.Type)
}

// end stores what came, and answers.
func (e *envelope) end(ctx context.Context) error {
	if e.checked {
		e.after = func(ctx context.Context, id uuid.UUID) error { return e.addAll(ctx, &id) }
		return e.store(ctx)
	}
	switch {
	case len(e.files) > 0:
		return member("report", "is required: an item that files belong to")
	case len(e.feedback) == 0 && !e.counted:
		return member("report", "is required: an item of the type report, feedback, unique_events or summed_events")
	}
	if err := e.addAll(ctx, nil); err != nil {
		return err
	}
	e.ok([]byte(`{"response":"ok"}`))
	return nil
}

// addAll stores the feedback on the report of the envelope, nil when it has none, or on those
// that were sent before.
func (e *envelope) addAll(ctx context.Context, report *uuid.UUID) error {
	for _, p := range e.feedback {
		id := report
		if p.crashID != "" {
			given, err := uuid.Parse(p.crashID)
			if err != nil {
				return member("crash_id", "must be the _rxid or the uuid of a report")
			}
			id = &given
		}
		if id == nil {
			return member("crash_id", "is required: the envelope has no report")
		}
		if _, err := e.r.addFeedback(ctx, e.token, *id, p.request); err != nil {
			return feedbackFailure(err)
		}
	}
	return nil
}

// feedbackFailure gives the refusals of feedback the shape of the crash interface, which has
// no 404.
func feedbackFailure(err error) error {
	var invalid *storage.InvalidError
	switch {
	case errors.As(err, &invalid):
		return member(invalid.Field, invalid.Msg)
	case errors.Is(err, storage.ErrNotFound):
		return member("crash_id", "is no report of the crash project")
	}
	return err
}

// lineReader reads to the end of a line, and leaves what is behind it.
type lineReader struct {
	src  *bufio.Reader
	over bool
}

func (l *lineReader) Read(p []byte) (int, error) {
	if l.over {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	if _, err := l.src.Peek(1); err != nil {
		return 0, err
	}
	have, _ := l.src.Peek(min(l.src.Buffered(), len(p)))
	if at := bytes.IndexByte(have, '\n'); at >= 0 {
		l.over, have = true, have[:at+1]
	}
	n := copy(p, have)
	if _, err := l.src.Discard(n); err != nil {
		return n, err
	}
	if l.over {
		return n - 1, io.EOF // without the end of the line
	}
	return n, nil
}
