// Package upload receives builds and symbols from CI jobs (contract:
// upload-and-crash 2.1 and 4.1, distribution 4.3).
//
// A form's parts come in any order, the key often behind the file. The file goes
// from the connection straight into an unfinished upload of the object store, on
// one goroutine, hashed on its way: when its last byte was read, the reader goes
// on to the rest of the form before it says that the file has ended. So a wrong
// key, a bad parameter or a connection that breaks anywhere in the form aborts
// the upload, and nothing is kept. A symbols file is an object of its own that is
// taken the same way, inside the other one when it comes later. A request that
// authenticates by its headers is refused before its body is read.
//
// Then the package is inspected by ranges of the stored object, its icon is
// stored, and one transaction makes the build and the tasks that were asked for.
// What was stored for a build that does not come about is deleted; when it is not
// known whether the commit took place, the build is looked for, and if that fails
// too the objects stay for the sweep.
//
// Reading is lenient (names: alias.go): the clients are scripts that were written
// for another service years ago. Failures are 400 with a code in the upload
// interface, success is exactly 200. Symbols are best effort.
//
// Memory is bounded by the store's buffers and 256 KiB for each upload; how many
// run at once, and what may arrive of senders that have not shown a key yet, in
// all and from one address, is bounded by the gate, and who finds no place hears
// 429. A sender without a key must be quick as well, or it hears 408.
package upload

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/icon"
	"github.com/slipway-qa/slipway/storage/artifact/inspect"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/link"
)

// Config is what the handlers work with. Auth, DB, Objects and BuildView are
// required.
type Config struct {
	Auth    *auth.Authenticator
	DB      *storage.DB
	Objects object.Store
	Links   link.Links
	// Vendor stands in has_<vendor>_sdk, and is whose SDK is looked for; default
	// "slipway".
	Vendor string
	// BuildView is a build as version 3 shows it.
	BuildView func(*distribution.Build) any
	// Fast hands tasks over right after the commit; nil leaves all to the relay.
	Fast *dispatch.Fast

	// MaxBytes bounds a build's file; default 4 GiB.
	MaxBytes int64
	// MaxSymbols bounds a symbols file; default 2 GiB. In an upload, a larger one
	// is left out with a warning.
	MaxSymbols int64
	// AtOnce is how many uploads this process receives at once; default 19. It
	// must be below the part buffers of the object store (20), see gate.
	AtOnce int
	// UnknownAtOnce and UnknownBytes bound the uploads whose key has not come
	// yet, the bytes as they arrive; default 16, which leaves three turns to known
	// senders, and 16 GiB: all of them with files of 1 GiB. The bytes are at
	// least those of the largest body.
	UnknownAtOnce int
	UnknownBytes  int64
	// UnknownEach is how many of them one remote address may have, and so which
	// part of the bytes; default three quarters, 12 of 16, and at least four: a
	// build farm behind one address sends many at once, and others still find a
	// place.
	UnknownEach int
	// UnknownRate is the least average rate of such an upload in bytes a second,
	// default 64 KiB, and UnknownGrace the time after which it counts, default
	// 30 s.
	UnknownRate  int64
	UnknownGrace time.Duration
	// Wait is how long an upload waits for its turn, or for bytes, before it
	// hears 429; default 10 s. A body must not wait longer than the router's grace
	// of 30 s.
	Wait time.Duration

	// Inspect, InspectSymbols and Letter default to those of storage/artifact.
	Inspect        func(ctx context.Context, in artifact.Input, platform string, generic bool) (*artifact.Package, error)
	InspectSymbols func(ctx context.Context, in artifact.Input) (*artifact.Symbols, error)
	Letter         func(name string) ([]byte, error)

	Log *slog.Logger     // nil: slog.Default
	Now func() time.Time // nil: time.Now
}

const (
	defaultMaxBytes      = 4 << 30 // decisions, part 3
	defaultMaxSymbols    = 2 << 30 // the dSYM of a large app is some hundred MiB
	defaultAtOnce        = 19
	defaultUnknownAtOnce = 16
	defaultUnknownBytes  = 16 << 30
	defaultUnknownRate   = 64 << 10
	defaultUnknownGrace  = 30 * time.Second
	leastUnknownEach     = 4
	defaultWait          = 10 * time.Second
	defaultVendor        = "slipway"
)

// Handlers receive builds and symbols.
type Handlers struct {
	cfg  Config
	gate *gate
}

// New makes the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.Auth == nil || cfg.DB == nil || cfg.Objects == nil || cfg.BuildView == nil {
		return nil, errors.New("upload: authenticator, database, object store and build view are required")
	}
	if cfg.Vendor == "" {
		cfg.Vendor = defaultVendor
	}
	for _, d := range []struct {
		value *int64
		std   int64
	}{{&cfg.MaxBytes, defaultMaxBytes}, {&cfg.MaxSymbols, defaultMaxSymbols}} {
		if *d.value <= 0 {
			*d.value = d.std
		}
	}
	if cfg.UnknownBytes <= 0 {
		cfg.UnknownBytes = max(defaultUnknownBytes, cfg.maxBody())
	}
	if cfg.UnknownBytes < cfg.maxBody() {
		return nil, errors.New("upload: the bytes without a key must allow for the largest body")
	}
	if cfg.AtOnce <= 0 {
		cfg.AtOnce = defaultAtOnce
	}
	if cfg.UnknownAtOnce <= 0 {
		cfg.UnknownAtOnce = min(defaultUnknownAtOnce, cfg.AtOnce)
	}
	if cfg.UnknownEach <= 0 {
		cfg.UnknownEach = max(leastUnknownEach, cfg.UnknownAtOnce*3/4)
	}
	cfg.UnknownEach = min(cfg.UnknownEach, cfg.UnknownAtOnce)
	if cfg.UnknownRate <= 0 {
		cfg.UnknownRate = defaultUnknownRate
	}
	if cfg.UnknownGrace <= 0 {
		cfg.UnknownGrace = defaultUnknownGrace
	}
	if cfg.Wait <= 0 {
		cfg.Wait = defaultWait
	}
	inspector := inspect.New(inspect.Config{})
	if cfg.Inspect == nil {
		cfg.Inspect = inspector.Package
	}
	if cfg.InspectSymbols == nil {
		cfg.InspectSymbols = inspector.Symbols
	}
	if cfg.Letter == nil {
		cfg.Letter = icon.Letter
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Handlers{cfg: cfg, gate: newGate(&cfg)}, nil
}

// maxBody bounds a whole body: the files, the texts and what is around them.
func (cfg *Config) maxBody() int64 { return cfg.MaxBytes + cfg.MaxSymbols + 16<<20 }

// perAddress is what one remote address may hold of the places and bytes without
// a key: always enough for the largest body.
func (cfg *Config) perAddress() share {
	bytes := cfg.UnknownBytes / int64(cfg.UnknownAtOnce) * int64(cfg.UnknownEach)
	return share{cfg.UnknownEach, max(bytes, cfg.maxBody())}
}

// Upload receives a build: POST /api/upload/.
func (h *Handlers) Upload(c *gin.Context) { h.build(c, respond.InterfaceLegacy) }

// V3 receives a build: POST /api/v3/builds/upload.
func (h *Handlers) V3(c *gin.Context) { h.build(c, respond.InterfaceV3) }

func (h *Handlers) build(c *gin.Context, of respond.Interface) {
	in := h.begin(c, of)
	defer in.end()
	done, err := in.upload()
	if err != nil {
		in.refuse(err)
		return
	}
	if of == respond.InterfaceV3 {
		respond.JSON(c, 201, h.answerV3(done))
		return
	}
	respond.JSON(c, 200, h.answer(done))
}

// Symbols receives a symbols file for builds that are there: POST /upload/dsym/.
func (h *Handlers) Symbols(c *gin.Context) {
	in := h.begin(c, respond.InterfaceLegacy)
	in.symbolsOnly = true
	defer in.end()
	ids, err := in.attach()
	if err != nil {
		in.refuse(err)
		return
	}
	respond.JSON(c, 200, symbolsAnswer{Status: "ok", Builds: ids})
}
