// Package evidence gathers what a test saw, for the next run that fails: the endpoints that its pages
// requested, what each page showed, and how long the steps took. It asks nothing of the browser: it
// reads what the trace records, so a test without a trace has no pages and no requests here.
//
// All is bounded, as pages are hostile, and secrets are replaced in all texts.
package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/reason"
	"github.com/slipway-qa/slipway/worker/run/traffic"
)

const (
	// MaxLines bounds the page of a step, in lines.
	MaxLines = 150
	// maxTable bounds the lines of all pages together: pages of one site share most of theirs.
	maxTable = 2000
)

// Recorder records the pages of one test. Its methods may be called concurrently; those of the nil
// Recorder do nothing.
type Recorder struct {
	mu     sync.Mutex
	lines  []string
	at     map[string]int // in lines
	met    map[int][]int  // pages right before steps did something, by the step
	after  map[int][]int
	opened []int // the page before all steps
}

// New returns a recorder.
func New() *Recorder {
	return &Recorder{at: map[string]int{}, met: map[int][]int{}, after: map[int][]int{}}
}

// Met is the page right before a step did something.
func (r *Recorder) Met(step int, lines []string) {
	if r == nil || step < 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.met[step] = r.places(lines)
}

// Left is the page after a step; a negative step is the opening of the test's address.
func (r *Recorder) Left(step int, lines []string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if step < 0 {
		r.opened = r.places(lines)
		return
	}
	r.after[step] = r.places(lines)
}

func (r *Recorder) places(lines []string) []int {
	places := make([]int, 0, min(len(lines), MaxLines))
	for _, line := range lines[:min(len(lines), MaxLines)] {
		at, ok := r.at[line]
		if !ok {
			if len(r.lines) >= maxTable {
				continue
			}
			at = len(r.lines)
			r.at[line], r.lines = at, append(r.lines, line)
		}
		places = append(places, at)
	}
	return places
}

// Digest is what is gathered.
type Digest = failure.Digest

// Test is what a digest is made of.
type Test struct {
	Steps   []step.Step
	Records []playback.Record
	TookMS  int64
	Host    string // of the address that is tested; "" for none
	// Network is false where the requests are not known; else Entries are they, in the order of sending.
	Network bool
	Entries []traffic.Entry
	Console []string // its errors
	Redact  func(string) string
}

// Digest returns what the test saw. A step that failed is looked at with the page after it, and so
// is one that only looks; another with the page that it met, which is that after the step before it
// where it is not known better.
func (r *Recorder) Digest(t Test) *failure.Digest {
	d := &failure.Digest{Steps: fingerprint(t.Steps), Host: t.Redact(t.Host), TookMS: t.TookMS, Network: t.Network}
	if t.Network {
		d.Requests = endpoints(&t)
	}
	for _, line := range t.Console {
		form := reason.ConsoleForm(t.Redact(line))
		if len(d.Console) < failure.MaxConsole && !slices.Contains(d.Console, form) {
			d.Console = append(d.Console, form)
		}
	}
	for i := range t.Records {
		record := &t.Records[i]
		if record.Status == playback.Skipped {
			continue
		}
		d.Played = append(d.Played, failure.Played{ID: record.StepID, TookMS: record.TookMS, Page: r.page(i, record)})
	}
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, line := range r.lines {
			d.Lines = append(d.Lines, t.Redact(line))
		}
	}
	return d
}

func (r *Recorder) page(i int, record *playback.Record) []int {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if record.Status == playback.Failed || step.Inner(&record.Tool).Type == step.Assert {
		if page, ok := r.after[i]; ok {
			return page
		}
	}
	if page, ok := r.met[i]; ok {
		return page
	}
	for k := i - 1; k >= 0; k-- {
		if page, ok := r.after[k]; ok {
			return page
		}
	}
	return r.opened
}

// endpoints returns what was requested, each endpoint once with its last answer, in the order of
// the last requests. Where there are too many the oldest that were answered well are left out.
func endpoints(t *Test) []failure.Seen {
	list := []failure.Seen{}
	at := map[failure.Seen]int{} // by the endpoint
	for i := range t.Entries {
		e := &t.Entries[i]
		if !e.Done && e.Status == 0 {
			continue
		}
		u, err := url.Parse(e.URL)
		if err != nil || u.Host == "" {
			continue
		}
		one := failure.Seen{Method: storage.Cut(e.Method, 20), Host: storage.Cut(t.Redact(strings.ToLower(u.Host)), 200),
			Path: t.Redact(reason.PathPattern(u.EscapedPath())), Own: t.Host != "" && strings.EqualFold(u.Host, t.Host)}
		if k, ok := at[one]; ok {
			list[k].Method = "" // its place is the last one
		}
		at[one] = len(list)
		one.Status, one.Failure = e.Status, storage.Cut(t.Redact(e.Failure), 100)
		list = append(list, one)
	}
	list = slices.DeleteFunc(list, func(s failure.Seen) bool { return s.Method == "" })
	drop := len(list) - failure.MaxSeen
	list = slices.DeleteFunc(list, func(s failure.Seen) bool {
		if drop > 0 && !s.Failed() {
			drop--
			return true
		}
		return false
	})
	return list[max(0, len(list)-failure.MaxSeen):]
}

// fingerprint is the digest of what the steps do: without their ids, their results, and what runs
// have learnt of their elements.
func fingerprint(steps []step.Step) string {
	hash := sha256.New()
	for i := range steps {
		s := &steps[i]
		tool := bare(s.Tool)
		var when *step.Condition
		if s.When != nil {
			kept := *s.When
			kept.Selector = step.WithoutFingerprints(kept.Selector)
			when = &kept
		}
		doc, err := json.Marshal([]any{tool, s.Optional, s.TimeoutMS, when})
		if err != nil {
			return ""
		}
		_, _ = hash.Write(doc) // it never fails
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

func bare(t step.Tool) step.Tool {
	t.Args.Selector, t.Args.Target = step.WithoutFingerprints(t.Args.Selector), step.WithoutFingerprints(t.Args.Target)
	if t.Args.Tool != nil {
		inner := bare(*t.Args.Tool)
		t.Args.Tool = &inner
	}
	return t
}
