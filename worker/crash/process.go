// Package crash processes crash reports: it reads the batches that the receiver
// stored, finds the group of each report, and counts. It also removes reports: by
// an attribute (purge.go), by age (retention.go) and with their build (build.go), moves
// those of a group that was split (split.go), and finds the keys that old groups have
// under new rules (rekey.go).
//
// A claim is up to 1,024 batches of one organization, and is worked off in parts (part.go).
// The documents of a part are parsed and fingerprinted outside of any transaction; then one
// transaction ends the ledger rows of the part and writes crashes, groups, counts and
// explanations, so that every report is counted exactly once, whichever process is killed in
// between.
//
// A report that PostgreSQL refuses must not fail the others: the write is halved
// inside savepoints until the bad report stands alone, and that one is stored as
// failed with its reason. Its bytes stay readable. Likewise the reports of a batch
// whose bytes are broken fail alone. The task succeeds in both cases, with
// the number of the failed ones as its result.
//
// Crashes are symbolicated before they are grouped, where the indexes of their symbols are at
// hand (read.go). Where one must be fetched first, and for dumps, the crash is stored as it
// is, with a task that reads it again (symbolicate.go); and crashes that lack a symbol file
// are read again when it arrives (resymbolicate.go).
package crash

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
)

// Observer counts processed reports by state, for metrics.
type Observer interface {
	CrashesProcessed(state string, n int)
}

// Process is the handler of crash:process.
type Process struct {
	Store    *crash.Store
	Observer Observer  // may be nil
	Throttle *Throttle // nil: never throttled
	// Duplicates bounds the occurrences that one report may stand for; 0 means
	// DefaultDuplicates.
	Duplicates int
	// Symbols finds the indexes that are at hand, and never waits for one; nil: no crash is
	// symbolicated.
	Symbols symbolicate.Source
	Log     *slog.Logger
	// PartTime is how long the reading of one part may take, about; 0 means partTime.
	PartTime time.Duration

	cost atomic.Int64 // of a report of the last part, in nanoseconds
}

// ClaimWeight lets claims be large while nobody waits for the receiver.
func (p *Process) ClaimWeight(most int) int { return p.Throttle.claimWeight(most) }

// ProcessResult is the result of a task whose batch has reports that failed;
// others have none.
type ProcessResult struct {
	Processed int `json:"processed"` // or stored
	Failed    int `json:"failed"`
}

// recordResults writes into the tasks of a part how many reports of their batches failed.
func recordResults(ctx context.Context, tx *storage.Tx, part []batchTask, crashes []crash.Crash) error {
	counts := map[uuid.UUID]*ProcessResult{}
	for i := range crashes {
		batch, _ := received.SplitID(crashes[i].ID)
		r := counts[batch]
		if r == nil {
			r = &ProcessResult{}
			counts[batch] = r
		}
		if crashes[i].State == crash.Failed {
			r.Failed++
		} else {
			r.Processed++
		}
	}
	var tokens []ledger.Token
	var results []any
	for i := range part {
		if r := counts[part[i].batch]; r != nil && r.Failed > 0 {
			tokens, results = append(tokens, part[i].task.Token()), append(results, r)
		}
	}
	return ledger.Results(ctx, tx, tokens, results)
}

func (p *Process) observe(crashes []crash.Crash) {
	if p.Observer == nil {
		return
	}
	byState := map[crash.State]int{}
	for i := range crashes {
		byState[crashes[i].State]++
	}
	for state, n := range byState {
		p.Observer.CrashesProcessed(string(state), n)
	}
}

// record stores the crashes, and halves them where the database refuses some.
func (p *Process) record(ctx context.Context, tx *storage.Tx, organization int64, crashes []crash.Crash) error {
	if len(crashes) == 0 {
		return nil
	}
	err := tx.Savepoint(ctx, func() error { return p.Store.Record(ctx, tx, organization, crashes) })
	if err == nil || !storage.IsData(err) {
		return err
	}
	if len(crashes) > 1 {
		half := len(crashes) / 2
		if err := p.record(ctx, tx, organization, crashes[:half]); err != nil {
			return err
		}
		return p.record(ctx, tx, organization, crashes[half:])
	}
	p.Log.WarnContext(ctx, "crash report cannot be stored", "crash_id", crashes[0].ID, "error", err)
	crashes[0] = failedCrash(crashes[0], errors.New("the database refused the report's facts"))
	return p.Store.Record(ctx, tx, organization, crashes)
}

// failedCrash returns a crash with only what cannot be refused, and the reason.
func failedCrash(c crash.Crash, why error) crash.Crash {
	return crash.Crash{
		ID: c.ID, ProjectID: c.ProjectID, UUID: c.UUID, ConflictOf: c.ConflictOf, Format: c.Format,
		State: crash.Failed, Error: clean(why.Error(), maxText),
		OccurredAt: c.ReceivedAt, ReceivedAt: c.ReceivedAt, Duplicates: 1, Attributes: "{}",
	}
}

// Attributes in which clients send the version of the application and the host,
// in the order of preference. Crashpad and Breakpad send ver; Electron, which sends
// its own version as ver, that of the application as _version; Mozilla's forks of
// Breakpad send Version.
var (
	versionAttributes = []string{"application.version", "version", "application_version", "app.version", "_version",
		"app_version", "appVersion", "app-version", "application-version", "product_version", "Version", "release",
		"CFBundleShortVersionString", "BreakpadVersion", "ver"}
	codeAttributes = []string{"application.version_code", "version_code", "versionCode", "application.build", "build_number",
		"app-package-version-code", "CFBundleVersion"}
	hostAttributes = []string{"hostname", "host", "device.model", "uname.nodename"}
)

// fillColumns sets what has a column of its own.
func fillColumns(c *crash.Crash, r *report.Report) {
	c.UUID = uuid.UUID(r.UUID)
	c.OccurredAt = occurredAt(r.Timestamp, c.Sent, c.ReceivedAt)
	c.Lang, c.Agent = clean(r.Lang, maxShort), clean(r.Agent, maxShort)
	if len(r.Classifiers) > 0 {
		c.Classifier = clean(r.Classifiers[0], maxText)
	}
	c.Message = clean(r.Attribute("error.message"), maxText)
	c.Version = clean(firstAttribute(r, versionAttributes), maxShort)
	c.Host = clean(firstAttribute(r, hostAttributes), maxShort)
	c.Build = crash.BuildRef{ID: clean(r.Attribute("build_id"), maxShort), Version: c.Version,
		VersionCode: clean(firstAttribute(r, codeAttributes), maxShort)}
	c.Duplicates = duplicates(r)
	c.Session, c.User = clean(r.Attribute("application.session"), maxShort), clean(r.Attribute("guid"), maxShort)
	c.Affected = crash.AffectedUser(r.Attribute)
	c.Notice, c.Severity = r.Attribute("error.type") == "Message", severityOf(r)
	c.Attributes = attributes(r)
}

func firstAttribute(r *report.Report, names []string) string {
	for _, n := range names {
		if v := r.Attribute(n); v != "" {
			return v
		}
	}
	return ""
}

// occurredAt is when a crash was: a clock that was wrong when the report was sent, by days
// perhaps, was as wrong when it crashed.
func occurredAt(seconds, sent int64, received time.Time) time.Time {
	drift := int64(crash.ClockDrift(sent, received) / time.Second)
	if (drift > 0) == (seconds+drift > seconds) { // it does not overflow
		seconds += drift
	}
	return clampTime(seconds, received)
}

// clampTime bounds a client's time to a year before its receipt and an hour after
// it, so that a wrong clock does not distort when a group was first and last seen.
func clampTime(seconds int64, received time.Time) time.Time {
	first, last := received.AddDate(-1, 0, 0), received.Add(time.Hour)
	if seconds < first.Unix() {
		return first
	}
	if seconds > last.Unix() {
		return last
	}
	return time.Unix(seconds, 0).UTC()
}

const (
	maxShort = 255  // versions, hosts, languages
	maxText  = 2000 // titles and messages; the document has the whole
)

// clean returns a text that a column can store: valid UTF-8, no NUL, bounded.
func clean(s string, most int) string {
	if len(s) > most {
		s = s[:most]
	}
	s = strings.ToValidUTF8(s, "")
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return s
}
