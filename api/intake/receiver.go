// Package intake receives crash reports, and metrics of sessions, from the clients
// inside applications.
//
// A request goes through token, format, scope and quota before a byte of its
// body is read. The body is JSON as it is, or multipart with the report in
// the part upload_file and files beside it, either of them inflated; or a
// native dump with form fields, from which a report is made. The report is
// checked, digested and scrubbed (package report), files are streamed into the
// object store, and the Committer stores report and file rows in a commit that
// many requests share. The answer is 200 only when that commit is durable: the
// submitted members, and the id under which the report is kept. Metrics are counted
// in a commit of their own. Symbol files (symbols.go) go into the object store and
// become rows with their tasks.
//
// The clients are programs that crash, written long ago: they send what
// multipart forbids, ignore Retry-After, and break on an empty or non-JSON
// answer. So reading is lenient, a refusal always has a JSON body that names
// what is wrong, and success is always exactly 200.
//
// Memory is bounded for the process: documents, form fields that are kept, files
// on their way into the object store and large answers take their share of a
// budget as their bytes arrive, wait for it up to ten seconds, and are then refused
// with 503; one token has at most a quarter of it. Files never stand in memory as a
// whole. Who sends slower than the router waits for, or does not take the answer, is
// cut off. When a report is refused, or the client goes away, the files that it
// brought are deleted; only when it is unknown whether the commit took place, they
// stay.
package intake

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/token"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/crash/usage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/tasks/admission"
)

// Submitter makes a report durable; *Committer is the one.
type Submitter interface {
	Submit(ctx context.Context, r received.Incoming) (received.Receipt, error)
}

// Store is what the receiver needs of the database; storage/crash's Store is
// the one.
type Store interface {
	Token(ctx context.Context, digest [32]byte) (*crash.Token, error)
	Owns(ctx context.Context, organization, project int64, id uuid.UUID) error
	AddAttachments(ctx context.Context, organization, project int64, id uuid.UUID, files []received.Attachment, most int) error
	RecordUsage(ctx context.Context, project int64, events []usage.Event) error
	AddFeedback(ctx context.Context, n crash.NewFeedback) (uuid.UUID, error)
}

// Observer counts what happens; its methods are called concurrently, once a
// request.
type Observer interface {
	// Accepted: a report of that many bytes was stored and answered with 200.
	Accepted(bytes int)
	// Rejected: a request was refused. The reason is one of the Reason
	// constants, and "uuid" also for Resent and Conflict.
	Rejected(reason string)
	// Resent: the same report was there; nothing was stored.
	Resent()
	// Conflict: another report had the uuid; this one was stored as well.
	Conflict()
	// AttachmentCut: an attachment had no end; its report was stored, and of the
	// attachment what had come.
	AttachmentCut()
	// Usage: that many events of session metrics were counted.
	Usage(events int)
	// SymbolFiles: that many symbol files of a request were stored, or were there.
	SymbolFiles(files int, bytes int64)
}

// Limits bounds what one request may bring and what all together may hold.
// Bytes are counted after inflation.
type Limits struct {
	Report      int64 // bytes of a report
	Attachment  int64 // bytes of one file
	Attachments int   // files of one crash, late ones included
	Body        int64 // bytes of a body, other than of symbol files
	Symbols     int64 // bytes of one symbol file
	// InFlight bounds the bytes of documents in memory; at least four times
	// Report. Masking secrets, answers and form fields may add up to 7/4 of it.
	InFlight   int64
	Fields     int   // plain form fields
	Field      int64 // bytes of one field's value
	FieldBytes int64 // bytes of all fields, names included
}

// DefaultLimits returns the published limits.
func DefaultLimits() Limits {
	return Limits{
		Report:      16 << 20,  // whole source files ride along: 50 KB for each frame
		Attachment:  100 << 20, // a full memory dump of a phone application
		Attachments: 32,
		Body:        512 << 20,
		Symbols:     2 << 30, // the debug information of a large application
		InFlight:    256 << 20,
		Fields:      1000, // Crashpad sends some dozens
		Field:       64 << 10,
		FieldBytes:  1 << 20,
	}
}

// SymbolStore stores symbol files with their tasks; api/symbol's Store is the one.
type SymbolStore interface {
	Add(ctx context.Context, n symbolfile.New) (*symbolfile.Stored, error)
}

// Config is what a Receiver works with. Submitter, Store, Symbols, SymbolView and Objects
// are required.
type Config struct {
	Submitter Submitter
	Store     Store
	Symbols   SymbolStore
	// SymbolView is how answers show symbols that were stored.
	SymbolView func(*symbolfile.Upload) any
	Objects    object.Store
	// Region is the region of this installation: a token that names another
	// one is refused with a text that says so.
	Region string
	// Meter counts crashes against the quota of their organization; nil: nothing bounds
	// them.
	Meter *quota.Meter
	// Leaks revokes personal keys that come in place of tokens; nil: they are
	// refused only.
	Leaks    *Leaks
	Limits   Limits // fields of zero mean the default
	Report   report.Limits
	Observer Observer         // nil: nobody counts
	Log      *slog.Logger     // nil: slog.Default
	Now      func() time.Time // nil: time.Now
	// Wait is how long a request waits for its place in memory; default 10 s.
	Wait time.Duration
}

// Receiver holds the handlers of crash submission.
type Receiver struct {
	cfg     Config
	tokens  *token.Cache[crash.Token]
	quotas  *token.Quotas
	guesses *token.Guesses
	memory  *budget
	buffers *buffers
	inflate sync.Pool // *inflater
	usage   *admission.Room
	json    []string // header value, shared by all answers
	origin  []string
	grace   time.Duration // answerGrace and answerRate, shorter in tests
	rate    int
}

// New returns a receiver; Close ends it.
func New(cfg Config) (*Receiver, error) {
	if cfg.Submitter == nil || cfg.Store == nil || cfg.Objects == nil || cfg.Symbols == nil || cfg.SymbolView == nil {
		return nil, errors.New("crash receiver: needs a submitter, stores of reports, symbols and objects, and a view of symbols")
	}
	cfg.Limits = cfg.Limits.withDefaults()
	if cfg.Limits.InFlight < 4*cfg.Limits.Report {
		return nil, errors.New("crash receiver: the bytes in flight must be at least four times the largest report")
	}
	if cfg.Limits.Body < cfg.Limits.Report {
		return nil, errors.New("crash receiver: the body must be allowed to be as large as a report")
	}
	if cfg.Observer == nil {
		cfg.Observer = silent{}
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Wait <= 0 {
		cfg.Wait = 10 * time.Second
	}
	return &Receiver{
		cfg:     cfg,
		tokens:  token.NewCache(cfg.Store.Token, cfg.Now),
		quotas:  token.NewQuotas(cfg.Now),
		guesses: token.NewGuesses(cfg.Now),
		memory:  newBudget(cfg.Limits, cfg.Wait),
		buffers: newBuffers(),
		inflate: sync.Pool{New: func() any { return newInflater() }},
		usage:   admission.New(admission.Config{Name: "crash metrics", Capacity: usageSlots, Headroom: 1, Wait: cfg.Wait}),
		json:    []string{"application/json"},
		origin:  []string{"*"},
		grace:   answerGrace,
		rate:    answerRate,
	}, nil
}

// Tokens returns what the receiver knows of tokens.
func (r *Receiver) Tokens() token.Forgetter { return r.tokens }

const publicToken = "the crash token in the address is checked by the handler"

// PathRoute is the route of the paths /{universe}/{token}/{format}. They could be
// nearly any path with three segments: the router tries them last.
const PathRoute = "/:universe/:token/:format"

// Routes are the room's routes.
func (r *Receiver) Routes() []route.Route {
	const crash = respond.InterfaceCrash
	return []route.Route{
		{Method: http.MethodPost, Path: "/post", Interface: crash, Public: publicToken, Handler: r.Submit, Body: route.OwnBound,
			Deadline: route.StreamDeadline, DeadlineOf: deadlineOf, Quiet: true},
		{Method: http.MethodOptions, Path: "/post", Interface: crash, Public: publicToken, Handler: r.Preflight, Quiet: true},
		{Method: http.MethodPost, Path: "/api/post", Interface: crash, Public: publicToken, Handler: r.Submit,
			Body: route.OwnBound, Deadline: route.StreamDeadline, DeadlineOf: deadlineOf, Quiet: true},
		{Method: http.MethodOptions, Path: "/api/post", Interface: crash, Public: publicToken, Handler: r.Preflight, Quiet: true},
		{Method: http.MethodPost, Path: "/api/unique-events/submit", Interface: crash, Public: publicToken,
			Handler: r.SubmitUnique, Body: route.OwnBound, Quiet: true},
		{Method: http.MethodOptions, Path: "/api/unique-events/submit", Interface: crash, Public: publicToken, Handler: r.Preflight, Quiet: true},
		{Method: http.MethodPost, Path: "/api/summed-events/submit", Interface: crash, Public: publicToken,
			Handler: r.SubmitSummed, Body: route.OwnBound, Quiet: true},
		{Method: http.MethodOptions, Path: "/api/summed-events/submit", Interface: crash, Public: publicToken, Handler: r.Preflight, Quiet: true},
		{Method: http.MethodPost, Path: "/api/tunnel", Interface: crash,
			Public: "the crash token in the envelope is checked by the handler", Handler: r.Tunnel, Body: route.OwnBound,
			Deadline: route.StreamDeadline, Quiet: true},
		{Method: http.MethodOptions, Path: "/api/tunnel", Interface: crash,
			Public: "a preflight has no body, and the token stands there", Handler: r.Preflight, Quiet: true},
		{Method: http.MethodPost, Path: "/api/v3/crashes/:id/feedback", Interface: respond.InterfaceV3, Public: publicToken,
			Handler: r.Feedback, Body: route.OwnBound, Quiet: true},
		{Method: http.MethodOptions, Path: "/api/v3/crashes/:id/feedback", Interface: respond.InterfaceV3, Bare: true,
			Public: publicToken, Handler: r.Preflight, Quiet: true},
		{Method: http.MethodPost, Path: PathRoute, Interface: crash, Public: publicToken, Handler: r.SubmitPath,
			Body: route.OwnBound, Deadline: route.StreamDeadline, DeadlineOf: deadlineOf, Quiet: true},
		{Method: http.MethodOptions, Path: PathRoute, Interface: crash, Public: publicToken, Handler: r.Preflight, Quiet: true},
	}
}

// deadlineOf lets symbol files, which are as large as builds, take the time of builds.
func deadlineOf(c *gin.Context) time.Duration {
	name := c.Param("format")
	if name == "" {
		name = parseQuery(c.Request.URL.RawQuery).format
	}
	if f, ok := formats[name]; ok && f.takesSymbols() {
		return route.UploadDeadline
	}
	return 0
}

// Rooms are the rooms that bound what reports take, for metrics.
func (r *Receiver) Rooms() []*admission.Room {
	rooms := []*admission.Room{r.usage}
	for i := range r.memory.tiers {
		rooms = append(rooms, r.memory.tiers[i].room)
	}
	return rooms
}

// Close ends look-ups under way and waits for them. Requests must have ended.
func (r *Receiver) Close() { r.tokens.Close() }

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	for _, f := range []struct {
		value *int64
		std   int64
	}{{&l.Report, d.Report}, {&l.Attachment, d.Attachment}, {&l.Body, d.Body}, {&l.Symbols, d.Symbols}, {&l.InFlight, d.InFlight},
		{&l.Field, d.Field}, {&l.FieldBytes, d.FieldBytes}} {
		if *f.value <= 0 {
			*f.value = f.std
		}
	}
	if l.Attachments <= 0 {
		l.Attachments = d.Attachments
	}
	if l.Fields <= 0 {
		l.Fields = d.Fields
	}
	return l
}

type silent struct{}

func (silent) Accepted(int)           {}
func (silent) Rejected(string)        {}
func (silent) Resent()                {}
func (silent) Conflict()              {}
func (silent) AttachmentCut()         {}
func (silent) Usage(int)              {}
func (silent) SymbolFiles(int, int64) {}
