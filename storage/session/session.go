// Package session keeps what the SDK of an app sends: sessions with their events,
// feedback with screenshots, and the tokens that apps send them by.
//
// A session is one use of an app. It belongs to the app of its token, to the build
// that it names, if there is one, and to the tester whose address it has, if there
// is one. The SDK chooses a uuid for each session and for each feedback and numbers
// its batches of events: whatever is sent again counts once. Events may come in any
// order, and for a day after the end (EventGrace).
//
// Starts and batches come at a high rate, so they are stored many at a time: Start
// and AddEvents take those of many requests, Record says what became of each. A
// transaction of many locks builds first and then sessions, each in the order of
// their ids. The counts of a session are in its row, and are exact; beyond its bounds
// (Bounds) events are counted and not stored. The counts of a build are raised by
// the transaction that stores a session or feedback, once for all of its members.
//
// Times of devices are clamped (ClampTime): clocks of phones stand in 1970 and in
// 2100. What orders sessions is when they arrived.
//
// Maintenance ends sessions after silence, removes those beyond their age, and the
// oldest events of an app or organization that has more than its bound. The IP
// address of a session goes with the session.
package session

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"github.com/slipway-qa/slipway/storage"
)

// Store has the compressor of events.
type Store struct {
	db  *storage.DB
	enc *zstd.Encoder
	dec *zstd.Decoder
	// bounds are those of one session.
	bounds Bounds
}

// Bounds limits one session. Fields of zero mean the default.
type Bounds struct {
	Events  int64 // stored events
	Bytes   int64 // of their JSON
	Batches int   // rows; one that is dropped whole is a row as well
}

// DefaultBounds returns the published bounds: an hour of a chatty log.
func DefaultBounds() Bounds { return Bounds{Events: 10_000, Bytes: 10 << 20, Batches: 10_000} }

// MaxBatch bounds the JSON of a batch of events, in bytes.
const MaxBatch = 1 << 20

// New returns a store on the database.
func New(db *storage.DB, bounds Bounds) (*Store, error) {
	std := DefaultBounds()
	if bounds.Events <= 0 {
		bounds.Events = std.Events
	}
	if bounds.Bytes <= 0 {
		bounds.Bytes = std.Bytes
	}
	if bounds.Batches <= 0 {
		bounds.Batches = std.Batches
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithZeroFrames(true))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	// A batch is stored with times that were left out, and its line separators (U+2028) are
	// escaped: it becomes longer than it came.
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(8*MaxBatch), zstd.WithDecoderConcurrency(0))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return &Store{db: db, enc: enc, dec: dec, bounds: bounds}, nil
}

// DB returns the database that the store works on.
func (s *Store) DB() *storage.DB { return s.db }

// Device is what an SDK says of the device. All texts may be empty.
type Device struct {
	Model     string `db:"device_model" json:"model"`
	OS        string `db:"os" json:"os"`
	OSVersion string `db:"os_version" json:"os_version"`
	Locale    string `db:"locale" json:"locale"`
}

// Name is the device as lists show it: "Pixel 8, Android 15".
func (d Device) Name() string {
	system := strings.TrimSpace(d.OS + " " + d.OSVersion)
	if d.Model == "" || system == "" {
		return d.Model + system
	}
	return d.Model + ", " + system
}

// Identity is what an app says of its user.
type Identity struct {
	Email         string // the tester's
	CorrelationID string
	Attributes    [Attributes]string // attr1 to attr5
}

// Attributes is how many attributes a session has.
const Attributes = 5

const (
	// maxPast and maxAhead bound a device's time around the time of arrival: SDKs keep
	// sessions for some days while a device is offline, and clocks are an hour wrong
	// where summer time was missed.
	maxPast  = 30 * 24 * time.Hour
	maxAhead = time.Hour
	// MaxDuration bounds the length of a session.
	MaxDuration = 7 * 24 * time.Hour
	// EventGrace is how long after its end a session takes events.
	EventGrace = 24 * time.Hour
)

// ClampTime returns the time of a device within bounds; without one, the time of
// arrival.
func ClampTime(at, arrived time.Time) time.Time {
	switch {
	case at.IsZero():
		return arrived
	case at.Before(arrived.Add(-maxPast)):
		return arrived.Add(-maxPast)
	case at.After(arrived.Add(maxAhead)):
		return arrived.Add(maxAhead)
	}
	return at
}

// clampDuration bounds a length.
func clampDuration(d time.Duration) time.Duration { return min(max(d, 0), MaxDuration) }

// Session is one use of an app.
type Session struct {
	ID             int64
	OrganizationID int64
	ProjectID      int64
	BuildID        int64 // 0: none that is known
	UserID         int64 // 0: nobody who is known
	ClientID       uuid.UUID
	Identity       Identity
	Version        string
	VersionCode    string
	Device         Device
	AppState       string
	IPAddress      string
	StartedAt      time.Time // as the device said, within bounds
	ReceivedAt     time.Time
	LastAt         time.Time  // when something of it arrived last
	EndedAt        *time.Time // when the end arrived, or silence became one
	EndedBy        string     // "app", "silence"; "" while it goes on
	Duration       time.Duration
	Crashed        bool
	Events         int64 // stored
	Dropped        int64 // beyond the bounds of the session: counted only
	EventBytes     int64
	// Trimmed: events were removed since, because the app had more than its bound.
	Trimmed bool
}

func isNotFound(err error) bool { return errors.Is(err, storage.ErrNotFound) }
