package tasks

import (
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// The kinds of symbols. Handlers register them in Kinds as they come.
var (
	// SymbolIndex reads an uploaded symbol file into indexes. A GiB of debug information
	// takes a minute or two, in a child process with bounds of its own. The same file is
	// read once at a time.
	SymbolIndex = Kind{
		Name: "symbol:index", Queue: Default, Timeout: 30 * time.Minute,
		MaxAttempts: 5, Backoff: 5 * time.Second, MaxBackoff: 5 * time.Minute, KeyLimit: 1,
	}
	// SymbolMaintenance makes indexes of an older version anew, and removes what no row names.
	SymbolMaintenance = maintenance("symbol:maintenance", 10*time.Minute, 30*time.Minute)
	// CrashSymbolicate reads the crashes of a batch for which symbols were not at hand when they
	// were processed, and dumps. Claims merge, as those of crash:process; the queue is another one,
	// so that a symbol file that is slow to fetch holds up no other report.
	CrashSymbolicate = Kind{
		Name: "crash:symbolicate", Queue: Default, Timeout: 5 * time.Minute,
		MaxAttempts: 8, Backoff: 2 * time.Second, MaxBackoff: 5 * time.Minute,
	}
	// CrashResymbolicate symbolicates the crashes that lacked a symbol file, newest first, in
	// steps. One runs at a time in an organization.
	CrashResymbolicate = Kind{
		Name: "crash:resymbolicate", Queue: Bulk, Timeout: time.Hour,
		MaxAttempts: 10, Backoff: 5 * time.Second, MaxBackoff: 10 * time.Minute, KeyLimit: 1,
	}
)

// SymbolPayload names an upload of symbols.
type SymbolPayload struct {
	SymbolID int64 `json:"symbol_id"`
}

// Validate refuses a payload without symbols.
func (p SymbolPayload) Validate() error {
	if p.SymbolID <= 0 {
		return errors.New("symbol_id is missing")
	}
	return nil
}

// CrashSymbolicatePayload names a batch of reports, and the entries of it that are meant.
type CrashSymbolicatePayload struct {
	BatchID uuid.UUID `json:"batch_id"`
	Entries []int     `json:"entries"`
	// Again: the crashes were put off before, and are not once more.
	Again bool `json:"again,omitempty"`
}

// Validate refuses a payload without a batch or entries.
func (p CrashSymbolicatePayload) Validate() error {
	if p.BatchID == uuid.Nil || len(p.Entries) == 0 {
		return errors.New("batch_id or entries are missing")
	}
	return nil
}

// NewSymbolIndex returns the task; sha256 is that of the uploaded file.
func NewSymbolIndex(organization int64, requestID string, id int64, sha256 string) *ledger.NewTask {
	t := SymbolIndex.new(organization, requestID, SymbolPayload{SymbolID: id})
	t.ConcurrencyKey = "symbol:index:" + strconv.FormatInt(organization, 10) + ":" + sha256
	return t
}

// NewCrashSymbolicate returns the task; again says that the crashes were put off before.
func NewCrashSymbolicate(organization int64, requestID string, batch uuid.UUID, entries []int, again bool) *ledger.NewTask {
	return CrashSymbolicate.new(organization, requestID, CrashSymbolicatePayload{BatchID: batch, Entries: entries, Again: again})
}

// NewCrashResymbolicate returns the task; the symbols are those that arrived.
func NewCrashResymbolicate(organization int64, requestID string, id int64) *ledger.NewTask {
	t := CrashResymbolicate.new(organization, requestID, SymbolPayload{SymbolID: id})
	t.ConcurrencyKey = "crash:resymbolicate:" + organizationKey(organization)
	return t
}
