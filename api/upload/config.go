package upload

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/icon"
	"github.com/slipway-qa/slipway/storage/artifact/inspect"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/link"
)

// SymbolStore stores symbol files with their tasks; api/symbol's Store is the one.
type SymbolStore interface {
	Add(ctx context.Context, n symbolfile.New) (*symbolfile.Stored, error)
	Insert(ctx context.Context, tx *storage.Tx, n symbolfile.New) (*symbolfile.Stored, error)
}

// Config is what the handlers work with. Auth, DB, Objects, BuildView, Symbols and
// SymbolView are required.
type Config struct {
	Auth    *auth.Authenticator
	DB      *storage.DB
	Objects object.Store
	Links   link.Links
	// Vendor is whose SDK is looked for, and the vendor of has_<vendor>_sdk; default
	// "slipway".
	Vendor string
	// BuildView returns a build as version 3 shows it.
	BuildView func(*distribution.Build) any
	Symbols   SymbolStore
	// SymbolView returns symbols as version 3 shows them.
	SymbolView func(*symbolfile.Upload) any
	// Queue inserts tasks; nil leaves their delivery to the relay.
	Queue *dispatch.Enqueuer

	// MaxBytes bounds a build's file; default 4 GiB.
	MaxBytes int64
	// MaxSymbols bounds a symbols file; default 2 GiB. In an upload, a larger one
	// is left out with a warning.
	MaxSymbols int64
	// Slots is the number of uploads that this process receives at once; default
	// 19. It must be below the part buffers of the object store (20), see
	// admission.
	Slots int
	// UnauthenticatedSlots and UnauthenticatedBytes bound the uploads whose key has
	// not come yet, the bytes as they arrive; default 16, which leaves three slots
	// to authenticated senders, and 16 GiB: all of them with files of 1 GiB. The
	// bytes are at least those of the largest body.
	UnauthenticatedSlots int
	UnauthenticatedBytes int64
	// UnauthenticatedPerAddress is how many of these slots one remote address may
	// have, and so which part of the bytes; default three quarters, 12 of 16, and
	// at least four: a build farm behind one address sends many at once, and
	// others are still admitted.
	UnauthenticatedPerAddress int
	// UnauthenticatedRate is the least average rate of such an upload in bytes a
	// second, default 64 KiB, and UnauthenticatedGrace the time after which it
	// counts, default 30 s.
	UnauthenticatedRate  int64
	UnauthenticatedGrace time.Duration
	// AdmissionWait is how long an upload waits for a slot, or for bytes, before it
	// is refused with 429; default 10 s. A body must not wait longer than the
	// router's grace period of 30 s.
	AdmissionWait time.Duration

	// Inspect, InspectSymbols and Letter default to those of storage/artifact.
	Inspect        func(ctx context.Context, in artifact.Input, platform string, generic bool) (*artifact.Package, error)
	InspectSymbols func(ctx context.Context, in artifact.Input) (*artifact.Symbols, error)
	Letter         func(name string) ([]byte, error)

	Log *slog.Logger     // nil: slog.Default
	Now func() time.Time // nil: time.Now
}

const (
	defaultVendor     = "slipway"
	defaultMaxBytes   = 4 << 30 // an app with all its assets is 1 to 2 GiB
	defaultMaxSymbols = 2 << 30 // the dSYM of a large app is some hundred MiB
	defaultSlots      = 19

	defaultUnauthenticatedSlots    = 16
	leastUnauthenticatedPerAddress = 4
	defaultUnauthenticatedBytes    = 16 << 30
	defaultUnauthenticatedRate     = 64 << 10
	defaultUnauthenticatedGrace    = 30 * time.Second
	defaultAdmissionWait           = 10 * time.Second
)

// setDefaults fills in what is not set; a limit below 1 is one that is not set.
func (cfg *Config) setDefaults() {
	cfg.Vendor = cmp.Or(cfg.Vendor, defaultVendor)
	cfg.MaxBytes = positive(cfg.MaxBytes, defaultMaxBytes)
	cfg.MaxSymbols = positive(cfg.MaxSymbols, defaultMaxSymbols)
	cfg.Slots = positive(cfg.Slots, defaultSlots)
	cfg.UnauthenticatedSlots = positive(cfg.UnauthenticatedSlots, min(defaultUnauthenticatedSlots, cfg.Slots))
	cfg.UnauthenticatedPerAddress = positive(cfg.UnauthenticatedPerAddress,
		max(leastUnauthenticatedPerAddress, cfg.UnauthenticatedSlots*3/4))
	cfg.UnauthenticatedPerAddress = min(cfg.UnauthenticatedPerAddress, cfg.UnauthenticatedSlots)
	cfg.UnauthenticatedBytes = positive(cfg.UnauthenticatedBytes, max(defaultUnauthenticatedBytes, cfg.maxBody()))
	cfg.UnauthenticatedRate = positive(cfg.UnauthenticatedRate, defaultUnauthenticatedRate)
	cfg.UnauthenticatedGrace = positive(cfg.UnauthenticatedGrace, defaultUnauthenticatedGrace)
	cfg.AdmissionWait = positive(cfg.AdmissionWait, defaultAdmissionWait)
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
}

// positive returns value, or otherwise when value is not above 0.
func positive[N int | int64 | time.Duration](value, otherwise N) N {
	if value > 0 {
		return value
	}
	return otherwise
}

// maxBody bounds a whole body: the files, the texts and what is around them.
func (cfg *Config) maxBody() int64 { return cfg.MaxBytes + cfg.MaxSymbols + 16<<20 }

// perAddress is what the uploads without a key of one remote address may reserve:
// always enough for the largest body.
func (cfg *Config) perAddress() quota {
	bytes := cfg.UnauthenticatedBytes / int64(cfg.UnauthenticatedSlots) * int64(cfg.UnauthenticatedPerAddress)
	return quota{cfg.UnauthenticatedPerAddress, max(bytes, cfg.maxBody())}
}
