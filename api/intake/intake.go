package intake

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/pace"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/tasks/admission"
	"github.com/slipway-qa/slipway/tasks/logfield"
)

// ask holds the parameters of a request's address.
type ask struct {
	token, format  string
	object         string
	attachmentName string
	sentAt         string
}

// Submit serves POST /post and /api/post: token, format, object and
// attachment_name stand in the query.
func (r *Receiver) Submit(c *gin.Context) error {
	r.serve(c, parseQuery(c.Request.URL.RawQuery), (*intake).run)
	return nil
}

// SubmitPath serves POST /{universe}/{token}/{format}, with the route
// parameters token and format; formats that are not known are 404.
func (r *Receiver) SubmitPath(c *gin.Context) error {
	q := parseQuery(c.Request.URL.RawQuery)
	q.token, q.format = c.Param("token"), c.Param("format")
	if _, ok := formats[q.format]; !ok {
		r.allowOrigin(c)
		f := unknownFormat()
		f.Status = http.StatusNotFound
		r.cfg.Observer.Rejected(f.reason)
		return &f.Problem
	}
	r.serve(c, q, (*intake).run)
	return nil
}

// parseQuery reads the parameters that count, the first of each name. The query
// is never read from the body: a report may come as form-urlencoded.
func parseQuery(raw string) ask {
	var q ask
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		key, value, _ := strings.Cut(pair, "=")
		var to *string
		switch key {
		case "token":
			to = &q.token
		case "format":
			to = &q.format
		case "object":
			to = &q.object
		case "attachment_name":
			to = &q.attachmentName
		case "sent_at":
			to = &q.sentAt
		default:
			continue
		}
		if *to != "" {
			continue
		}
		if strings.ContainsAny(value, "%+") {
			text, err := url.QueryUnescape(value)
			if err != nil {
				continue
			}
			value = text
		}
		*to = value
	}
	return q
}

// intake is one request on its way.
type intake struct {
	r      *Receiver
	c      *gin.Context
	ask    ask
	format format
	token  *crash.Token
	body   body

	doc      *buffer // the report as it came
	scrubbed *buffer
	head     report.Head
	checked  bool
	digest   *[32]byte // of a report that was cut off, as it came
	// after runs with the id of the report, once it is stored and before the answer.
	after func(ctx context.Context, id uuid.UUID) error

	files  []received.Attachment // in the object store
	keep   bool                  // the files belong to a crash
	dump   *dump
	sent   []symbolFile // in the object store, not stored as rows yet
	fields []field
	bytes  int64            // of the fields
	form   *admission.Place // of the fields that are kept

	places places
}

// serve writes a failure by itself: the client is not to wait until the files that
// came with the report are deleted.
func (r *Receiver) serve(c *gin.Context, q ask, run func(*intake, context.Context) error) {
	r.allowOrigin(c)
	in := &intake{r: r, c: c, ask: q, places: places{r: r, arriving: pace.Of(c)}}
	defer in.end()
	if err := run(in, c.Request.Context()); err != nil {
		in.refuse(err)
	}
}

// end frees what the request held. After a panic nobody knows what still looks
// at the buffers: they are left to the collector.
func (in *intake) end() {
	p := recover()
	if p != nil && p != http.ErrAbortHandler { //nolint:errorlint // the value of a panic
		in.r.cfg.Log.ErrorContext(in.c.Request.Context(), "crash submission panicked",
			"panic", p, "stack", string(debug.Stack()))
		if !in.c.Writer.Written() {
			in.refuse(fmt.Errorf("panic: %v", p))
		}
	}
	in.removeFiles()
	in.body.close(in.r)
	in.form.Leave()
	for _, b := range []*buffer{in.doc, in.scrubbed} {
		switch {
		case b != nil && p != nil:
			b.place.Leave()
		default:
			in.r.buffers.put(b)
		}
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // the value of a panic
		panic(p)
	}
}

// admit checks the scope of a token, and takes one report of its quota.
func (r *Receiver) admit(token *crash.Token, scope string) error {
	if err := allowed(token, scope); err != nil {
		return err
	}
	return r.take(token)
}

// run takes the request through all checks up to its answer.
func (in *intake) run(ctx context.Context) error {
	var err error
	if in.token, err = in.r.token(ctx, in.c.ClientIP(), in.ask.token); err != nil {
		return err
	}
	if err := in.r.checkOrigin(in.c, in.token); err != nil {
		return err
	}
	in.places.caller = callerOf(in.token)
	name := in.ask.format
	if name == "" {
		name = formatJSON
	}
	var ok bool
	if in.format, ok = formats[name]; !ok {
		return unknownFormat()
	}
	if in.ask.object != "" {
		in.format = formats[formatJSON]
	}
	if err := in.r.admit(in.token, in.format.scope); err != nil {
		return err
	}
	if in.format.scope == crashproject.ScopeSymbolPost {
		return symbolPost{in}.symbols(ctx)
	}
	if err := announced(in); err != nil {
		return err
	}
	if err := in.body.open(in.r, in.c.Request, in.places.arriving); err != nil {
		return err
	}
	if in.ask.object != "" {
		return in.late(ctx)
	}
	if err := in.receive(ctx); err != nil {
		return err
	}
	return in.store(ctx)
}

// announced refuses a report whose header says that it is too long.
func announced(in *intake) error {
	request := in.c.Request
	if _, parts := boundaryOf(request.Header.Get("Content-Type")); parts || in.format.dumpPart != "" || in.ask.object != "" ||
		request.Header.Get("Content-Encoding") != "" {
		return nil
	}
	if limit := in.r.cfg.Limits.Report; request.ContentLength > limit {
		return tooLarge("the report is longer than %d bytes", limit)
	}
	return nil
}

// receive reads the body until the report is there and checked.
func (in *intake) receive(ctx context.Context) error {
	boundary, parts := boundaryOf(in.c.Request.Header.Get("Content-Type"))
	switch {
	case parts:
		if err := in.multipart(ctx, boundary); err != nil {
			return err
		}
	case in.format.dumpPart != "":
		if err := in.takeDump(ctx, &in.body, ""); err != nil {
			return err
		}
	default:
		if err := in.body.sniff(in.r); err != nil {
			return err
		}
		in.body.lenient = true
		if err := in.takeDocument(ctx, &in.body, in.rawSize()); err != nil {
			return err
		}
	}
	if in.format.dumpPart != "" {
		if in.dump == nil {
			return member(in.format.dumpPart, "is required: a part with this name, or upload_file")
		}
		if err := in.describeDump(ctx); err != nil {
			return err
		}
	}
	if !in.checked {
		return member("upload_file", "is required: the part that holds the report")
	}
	return nil
}

// rawSize is the length of a body that is not inflated, else -1.
func (in *intake) rawSize() int64 {
	if in.body.inflater != nil {
		return -1
	}
	return in.c.Request.ContentLength
}

// takeDocument reads and checks the report. A body of known length goes from
// the connection straight into its buffer.
func (in *intake) takeDocument(ctx context.Context, src io.Reader, size int64) error {
	if in.doc != nil {
		return malformed("upload_file: is given twice")
	}
	buf, err := in.places.read(ctx, src, size, in.r.cfg.Limits.Report)
	if errors.Is(err, errLimit) {
		return tooLarge("the report is longer than %d bytes", in.r.cfg.Limits.Report)
	}
	if err != nil {
		return arrival(err)
	}
	in.doc = buf
	return in.check()
}

// arrival names why a part of the body could not be read.
func arrival(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return malformed("the body ended early")
	}
	return err
}

// store commits the report and writes the answer.
func (in *intake) store(ctx context.Context) error {
	in.places.arriving.FreeAll() // nobody waits for the sender any more
	incoming := received.Incoming{
		OrganizationID: in.token.OrganizationID, ProjectID: in.token.ProjectID,
		UUID: uuid.UUID(in.head.UUID), Document: in.head.Document, Format: in.format.name, Attachments: in.files,
		RequestID: logfield.Get(ctx, logfield.RequestID), SentAt: in.sentAt(),
	}
	switch {
	case in.dump != nil:
		incoming.Digest = in.dump.digest
	case in.digest != nil:
		incoming.Digest = *in.digest
	default:
		incoming.Digest = sha256.Sum256(in.head.Document)
	}
	if len(in.head.Secrets) > 0 {
		in.scrubbed = in.r.buffers.get(len(in.head.Document) + 12*len(in.head.Secrets))
		in.scrubbed.b = report.Scrub(in.scrubbed.b, in.head)
		incoming.Document = in.scrubbed.b
	}
	receipt, err := in.r.submit(ctx, incoming)
	var unknown *storage.UnknownOutcomeError
	switch {
	case errors.As(err, &unknown):
		in.keepUnknown(ctx)
		return err
	case err != nil:
		return err
	}
	in.keep = receipt.Outcome != received.Resent
	if in.after != nil {
		if err := in.after(ctx, receipt.ID); err != nil {
			return err
		}
	}
	switch {
	case receipt.Outcome == received.First:
		size := len(in.doc.b)
		in.answer(receipt.ID)
		in.r.cfg.Observer.Accepted(size)
		return nil
	case receipt.Outcome == received.Conflict:
		in.r.cfg.Observer.Conflict()
	default:
		in.r.cfg.Observer.Resent()
	}
	return refuse(http.StatusBadRequest, codeExists, ReasonUUID, "uuid: a report with this uuid exists in the project")
}

const (
	// answerGrace and answerRate, in bytes a second, are what a client has to
	// take its answer, which may be as long as its report.
	answerGrace = 30 * time.Second
	answerRate  = 64 << 10
)

// answer writes the echo of the report. The next documents need not wait until
// the client has taken it: it has a place of its own while there is one.
func (in *intake) answer(id uuid.UUID) {
	in.doc.b = echo(in.doc.b, id, in.head.UnknownMembers)
	in.r.buffers.put(in.scrubbed)
	in.scrubbed = nil
	if at, ok := in.r.memory.tiers[tierEchoes].room.Try(in.places.caller, in.doc.place.Weight()); ok {
		in.doc.place.Leave()
		in.doc.place = at
	}
	in.ok(in.doc.b)
}

// mustTake sets the time that the client has to take an answer of that many bytes.
func (in *intake) mustTake(length int) {
	at := time.Now().Add(in.r.grace + time.Duration(length/in.r.rate)*time.Second)
	// Writers without a connection, such as tests', refuse.
	_ = http.NewResponseController(in.c.Writer).SetWriteDeadline(at)
}

// ok writes a success.
func (in *intake) ok(body []byte) {
	in.mustTake(len(body))
	w := in.c.Writer
	h := w.Header()
	h["Content-Type"] = in.r.json
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // fails when the client has gone
}
