// Package search finds what an organization has by a text that somebody typed: part of a
// name, a version, a mail address, an id.
//
// Each kind is looked for by one statement. Ids and their beginnings are looked up by their
// own indexes. Text is looked for by the indexes of trigrams where a kind has many rows, and
// among the newest rows where it has few. What is found by its id stands first, then the
// newest. A text of one or two characters has no trigram: it finds ids and beginnings only.
//
// A statement reads a bounded number of the rows that match a frequent text, so that of
// these the newest need not be all among the results. All statements end with the deadline
// of their context; then the search fails as a whole.
package search

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// Kind is what a result is.
type Kind string

// The kinds, in the order of the results.
const (
	CrashGroup Kind = "crash_group"
	Crash      Kind = "crash"
	Version    Kind = "version"
	App        Kind = "app"
	Build      Kind = "build"
	TestCase   Kind = "test_case"
	TestSuite  Kind = "test_suite"
	Schedule   Kind = "test_schedule"
	Tester     Kind = "tester"
	Task       Kind = "task"
	Webhook    Kind = "webhook"

	CrashComment Kind = "crash_comment"
	Symbol       Kind = "symbol"
	TestRun      Kind = "test_run"
	SuiteRun     Kind = "suite_run"
	TesterGroup  Kind = "tester_group"
	Team         Kind = "team"
	Device       Kind = "device"
)

// Kinds are all kinds, in their order.
func Kinds() []Kind {
	return []Kind{CrashGroup, Crash, Version, App, Build, TestCase, TestSuite, Schedule, Tester, Task, Webhook,
		CrashComment, Symbol, TestRun, SuiteRun, TesterGroup, Team, Device}
}

const (
	// MaxText is the most characters of a text: a title or an address that somebody copied.
	MaxText = 200
	// MaxResults is the most results of a kind: who looks for more has the list of the kind
	// with its filters.
	MaxResults = 50
	// MaxReach is how far the results of a kind can be paged through.
	MaxReach = 500
	// maxShown is the most characters of a title or a detail.
	maxShown = 300
)

// Query is what is looked for.
type Query struct {
	OrganizationID int64 // 0, of operators: tasks of all organizations, and nothing else
	Text           string
	Kinds          []Kind
	Limit          int // results of a kind, 1 to MaxResults
	Offset         int // results of a kind that are left out, less than MaxReach; Limit ends there
}

// Result is something that was found. ID is that of its own routes, of a version the
// version. Detail says more about it, and has the text where the title has not.
type Result struct {
	Kind           Kind   `db:"-"`
	ID             string `db:"id"`
	Title          string `db:"title"`
	Detail         string `db:"detail"`
	CrashProjectID *int64 `db:"crash_project_id"` // of a version; nil of all others
	// ParentID is what it belongs to, where its route names that: of a comment the crash
	// group, of a run the test case, of a suite run the suite; nil of all others.
	ParentID *string `db:"parent_id"`
	// UpdatedAt is when it was changed last; of what comes or happens by itself, as a crash, a
	// version, a symbol file or a run, when it was received, last seen, read, or ended or began.
	UpdatedAt time.Time `db:"updated_at"`
}

// Found are the results of a kind. More reports that there are others within MaxReach.
type Found struct {
	Kind    Kind
	Results []Result
	More    bool
}

// Find returns the kinds of which something was found. It refuses a text that is empty, or
// longer than MaxText.
func Find(ctx context.Context, q storage.Querier, f Query) ([]Found, error) {
	text, err := storage.Name("q", f.Text, MaxText)
	if err != nil {
		return nil, err
	}
	if f.Limit < 1 || f.Limit > MaxResults {
		return nil, storage.Invalid("limit", "must be 1 to %d", MaxResults)
	}
	if f.Offset < 0 || f.Offset >= MaxReach {
		return nil, storage.Invalid("page", "must be 1 or more, and lead to the first %d results of each kind", MaxReach)
	}
	f.Limit = min(f.Limit, MaxReach-f.Offset)
	list, t := []Found{}, parse(text)
	for _, kind := range Kinds() {
		if !slices.Contains(f.Kinds, kind) || f.OrganizationID == 0 && kind != Task {
			continue
		}
		s := newStatement(f.OrganizationID, t)
		s.offset = f.Offset
		query := s.of(kind, f.Limit+1)
		if query == "" {
			continue
		}
		found := Found{Kind: kind}
		if err := q.SelectContext(ctx, &found.Results, query, s.args...); err != nil {
			return nil, storage.Wrap(err, "search "+string(kind))
		}
		if len(found.Results) == 0 {
			continue
		}
		if len(found.Results) > f.Limit {
			found.Results, found.More = found.Results[:f.Limit], f.Offset+f.Limit < MaxReach
		}
		for i := range found.Results {
			r := &found.Results[i]
			r.Kind, r.Title, r.Detail = kind, excerpt(r.Title, text), excerpt(r.Detail, text)
		}
		list = append(list, found)
	}
	return list, nil
}

// excerpt cuts a text to the part around the first place of what was looked for.
func excerpt(text, part string) string {
	shown := []rune(text)
	if len(shown) <= maxShown {
		return text
	}
	begin := 0
	// Only where lower case keeps the length is a place in it one in the text.
	if lower := strings.ToLower(text); len(lower) == len(text) {
		if at := strings.Index(lower, strings.ToLower(part)); at >= 0 {
			begin = max(0, len([]rune(lower[:at]))-maxShown/3)
		}
	}
	begin = min(begin, len(shown)-maxShown)
	out := string(shown[begin : begin+maxShown])
	if begin > 0 {
		out = "…" + out
	}
	if begin+maxShown < len(shown) {
		out += "…"
	}
	return out
}
