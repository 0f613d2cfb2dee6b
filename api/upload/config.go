package upload

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/inspection"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/icon"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
	quotas "github.com/slipway-qa/slipway/storage/quota"
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
	// Quotas bound what the organization stores; nil: nothing does.
	Quotas *quotas.Quotas
	// Queue inserts tasks; nil leaves their delivery to the relay.
	Queue *dispatch.Enqueuer

	// MaxBytes bounds a build's file; default 4 GiB.
	MaxBytes int64
	// MaxSymbols bounds a symbols file; default 2 GiB. In an upload, a larger one
	// is left out with a warning.
	MaxSymbols int64
	// LeastPart is the least size of the parts of a file that comes in parts; default 16 MiB.
	LeastPart int64
	// Slots is the number of uploads that this process receives at once; default
	// 19. Headroom, default 3, are further ones for organizations that have none while
	// others fill the slots. Both together must be below the part buffers of the object
	// store (40), of which attachments and symbols of crashes take 17; see rooms.
	Slots, Headroom int
	// UnauthenticatedBytes bounds the bytes of uploads whose key has not come yet, as they
	// arrive; default 16 GiB. They are at least those of the largest body, by half
	// more where several addresses are to send such bodies.
	UnauthenticatedBytes int64
	// UnauthenticatedRate is the least average rate of such an upload in bytes a
	// second, default 64 KiB, and UnauthenticatedGrace the time after which it
	// counts, default 30 s.
	UnauthenticatedRate  int64
	UnauthenticatedGrace time.Duration
	// AdmissionWait is how long an upload waits for a slot, or for bytes, before it
	// is refused with 429; default 10 s.
	AdmissionWait time.Duration

	// Inspect and InspectSymbols read what was uploaded (package inspection); they
	// are required. Letter defaults to that of storage/artifact.
	Inspect        func(context.Context, inspection.File) (*artifact.Package, error)
	InspectSymbols func(context.Context, inspection.File) (*artifact.Symbols, error)
	Letter         func(name string) ([]byte, error)

	Log *slog.Logger     // nil: slog.Default
	Now func() time.Time // nil: time.Now
}

const (
	defaultVendor     = "slipway"
	defaultMaxBytes   = 4 << 30 // an app with all its assets is 1 to 2 GiB
	defaultMaxSymbols = 2 << 30 // the dSYM of a large app is some hundred MiB
	defaultSlots      = 19
	defaultHeadroom   = 3

	defaultUnauthenticatedBytes = 16 << 30
	defaultUnauthenticatedRate  = 64 << 10
	defaultUnauthenticatedGrace = 30 * time.Second
	defaultAdmissionWait        = 10 * time.Second
)

// setDefaults fills in what is not set; a limit below 1 is one that is not set.
func (cfg *Config) setDefaults() {
	cfg.Vendor = cmp.Or(cfg.Vendor, defaultVendor)
	cfg.MaxBytes = positive(cfg.MaxBytes, defaultMaxBytes)
	cfg.MaxSymbols = positive(cfg.MaxSymbols, defaultMaxSymbols)
	cfg.Slots = positive(cfg.Slots, defaultSlots)
	cfg.Headroom = positive(cfg.Headroom, defaultHeadroom)
	cfg.UnauthenticatedBytes = positive(cfg.UnauthenticatedBytes, max(defaultUnauthenticatedBytes, cfg.maxBody()*3/2))
	cfg.UnauthenticatedRate = positive(cfg.UnauthenticatedRate, defaultUnauthenticatedRate)
	cfg.UnauthenticatedGrace = positive(cfg.UnauthenticatedGrace, defaultUnauthenticatedGrace)
	cfg.AdmissionWait = positive(cfg.AdmissionWait, defaultAdmissionWait)
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
