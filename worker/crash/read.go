package crash

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbolication"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
)

// reader makes crashes of reports.
type reader struct {
	symbols symbolicate.Source // nil: nothing is symbolicated
	log     *slog.Logger
}

const formatJSON = "json"

// parsed is a report that was read as far as it says itself.
type parsed struct {
	crash  crash.Crash
	report *report.Report // nil: there is nothing more to read
	doc    []byte
	// libraries are those that its crash project names.
	libraries []string
}

// parse reads one entry of a batch. It never fails: a report that cannot be read becomes a
// failed crash.
func (r *reader) parse(b *received.Batch, entry int) (p parsed) {
	p.crash = entryCrash(b, entry)
	defer func() {
		if v := recover(); v != nil {
			p = parsed{crash: failedCrash(p.crash, fmt.Errorf("reading the report broke: %v", v))}
		}
	}()
	doc, err := b.Document(entry)
	if err != nil {
		return parsed{crash: failedCrash(p.crash, err)}
	}
	read, err := report.Parse(doc)
	if err != nil {
		return parsed{crash: failedCrash(p.crash, fmt.Errorf("read the report: %w", err))}
	}
	fillColumns(&p.crash, read)
	if p.crash.Format == formatJSON {
		p.report, p.doc, p.libraries = read, doc, b.Libraries[p.crash.ProjectID]
		return p
	}
	p.crash.State = crash.Stored
	if r.symbols != nil {
		p.crash.Symbols = &crash.Symbolication{State: crash.SymbolsPending}
	}
	return p
}

// grouped returns the crash of a report with what symbols made of it. One whose symbols cannot
// be looked up is to be read again.
func (r *reader) grouped(ctx context.Context, p *parsed, found *symbolicate.Result, lookErr error) (c crash.Crash) {
	c = p.crash
	defer func() {
		if v := recover(); v != nil {
			c = failedCrash(p.crash, fmt.Errorf("reading the report broke: %v", v))
		}
	}()
	if lookErr != nil {
		r.log.WarnContext(ctx, "symbols cannot be looked up now", "crash_id", c.ID, "error", lookErr)
		c.Symbols, found = &crash.Symbolication{State: crash.SymbolsPending}, nil
	}
	r.group(&c, p.report, found, p.libraries)
	return c
}

// entryCrash is what is known of an entry without its report.
func entryCrash(b *received.Batch, entry int) crash.Crash {
	e := b.Entries[entry]
	id := b.ID
	id[15] = byte(entry)
	c := crash.Crash{ID: id, ProjectID: e.ProjectID, ConflictOf: e.ConflictOf, Format: e.Format, Sent: e.Sent,
		OccurredAt: b.ReceivedAt, ReceivedAt: b.ReceivedAt, Duplicates: 1, Attributes: "{}"}
	if c.Format == "" {
		c.Format = formatJSON
	}
	return c
}

// group computes the key of a crash from its report, as symbols made it, where its crash project
// names libraries.
func (r *reader) group(c *crash.Crash, p *report.Report, found *symbolicate.Result, libraries []string) {
	if found != nil {
		c.Symbols = symbolsOf(found)
		p = found.Report
		if len(p.Classifiers) > 0 {
			c.Classifier = clean(p.Classifiers[0], maxText)
		}
	}
	f := fingerprint.NewLibraries(libraries).Compute(p)
	if found != nil {
		f.Bind(found.Lacking)
	}
	algorithm := fingerprint.Version
	if f.Given {
		algorithm = 0 // the client chose the key
	}
	c.State = crash.Processed
	c.StackKey = f.StackKey[:crash.StackKeySize]
	c.Group = &crash.Grouping{Key: f.Key, Algorithm: algorithm, Title: clean(f.Title, maxText),
		Culprit: clean(f.Culprit, maxText), Classifier: clean(f.Classifier, maxText)}
	c.Explanation = f.Explanation.AppendJSON(make([]byte, 0, 4<<10))
	c.Group.Explanation = c.Explanation
	c.Group.Places = placesOf(p)
	if f.Given { // then nothing explains the stack
		c.Group.Functions = functionsOf(p)
	}
}

// functionsOf are the functions of the stack that led to the crash, innermost first.
func functionsOf(p *report.Report) (names []string) {
	thread := p.FaultThread()
	if thread == nil {
		return nil
	}
	for i := range thread.Frames[:min(len(thread.Frames), maxFunctions)] {
		names = append(names, clean(thread.Frames[i].Function, maxFunction))
	}
	return names
}

// maxPlaces bounds the paths and modules of a stack that are looked at for an owner.
const maxPlaces = 64

// placesOf are the distinct paths and modules of the stack that led to the crash, innermost
// first. A script's or an assembly's function says its module.
func placesOf(p *report.Report) (places []string) {
	thread := p.FaultThread()
	if thread == nil {
		return nil
	}
	for i := range thread.Frames[:min(len(thread.Frames), maxFunctions)] {
		f := &thread.Frames[i]
		for _, place := range []string{f.Path, f.Library, f.Function} {
			if place != "" && len(places) < maxPlaces && (len(places) == 0 || places[len(places)-1] != place) {
				places = append(places, place)
			}
		}
	}
	return places
}

// What is kept of a stack whose key the client chose: as much as an explanation has of others.
const (
	maxFunctions = 128
	maxFunction  = 256
)

// symbolsOf is what is stored of a result; nil when there was nothing to look for. While an
// index is not at hand the result is not kept: the task that reads the crash again has all.
func symbolsOf(found *symbolicate.Result) *crash.Symbolication {
	switch found.State {
	case crash.SymbolsNone:
		return nil
	case crash.SymbolsPending:
		return &crash.Symbolication{State: crash.SymbolsPending}
	}
	return &crash.Symbolication{State: found.State, Missing: len(found.Document.Missing),
		Frames: found.Document.AppendJSON(make([]byte, 0, 4<<10)), Needs: found.Needs}
}

// appliedReport returns a report with the frames that are stored for it, and what its key is
// bound to.
func appliedReport(p *report.Report, stored *crash.Symbolication) (*report.Report, func(int) string) {
	if stored == nil {
		return p, nil
	}
	d, err := symbolication.Decode(stored.Frames)
	if err != nil {
		return p, nil
	}
	lacking := d.Lacking(p.FaultThread())
	return d.Apply(p), func(frame int) string { return lacking[frame] }
}
