package crash

import (
	"context"
	"errors"
	"log/slog"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
)

// looks looks the symbols of many reports up together. Each report says at once what it looks
// for; then all that is not known is asked for in a few statements, and the reports go on: a
// file that was found may lead to others. So the statements do not grow with the reports.
type looks struct {
	part    *symbolicate.Part // nil: nothing is symbolicated
	log     *slog.Logger
	waiting []look
}

// look is a report with what is done once its symbols are looked up.
type look struct {
	in   symbolicate.Input
	done func(*symbolicate.Result, error)
}

// maxRounds bounds how often is asked for the same reports: the names of scripts, a script, its
// map, and the sources of that are four.
const maxRounds = 6

var errRounds = errors.New("its symbol files lead to ever others")

// look begins to look for the symbols of some reports of an organization.
func (r *reader) look(ctx context.Context, organization int64) (*looks, error) {
	l := &looks{log: r.log}
	if r.symbols == nil {
		return l, nil
	}
	session, err := r.symbols.Begin(ctx, organization)
	if err != nil {
		return nil, err
	}
	l.part = symbolicate.NewPart(session)
	return l, nil
}

// refresh goes on with the reports of another part of the claim: what came meanwhile is found.
func (l *looks) refresh(ctx context.Context) error {
	if l.part == nil {
		return nil
	}
	return l.part.Refresh(ctx)
}

// add looks for the symbols of a report; done is called with what was found, nil when nothing
// was to be looked for, now or before end returns.
func (l *looks) add(ctx context.Context, organization int64, c *crash.Crash, p *report.Report, doc []byte,
	done func(*symbolicate.Result, error)) {
	if l.part == nil {
		done(nil, nil)
		return
	}
	l.read(ctx, look{symbolicate.Input{Place: symbolicate.Place{OrganizationID: organization, ProjectID: c.ProjectID},
		Report: p, Document: doc, Build: c.Build, Dump: c.Format != formatJSON}, done})
	if l.part.Full() {
		l.end(ctx)
		l.part.Forget()
	}
}

// read reads a report as far as answers are known.
func (l *looks) read(ctx context.Context, one look) {
	found, err := l.tried(ctx, one.in)
	if errors.Is(err, symbolicate.ErrUnasked) {
		l.waiting = append(l.waiting, one)
		return
	}
	one.done(found, err)
}

// tried keeps a panic inside its report, which is grouped as it came.
func (l *looks) tried(ctx context.Context, in symbolicate.Input) (found *symbolicate.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			l.log.ErrorContext(ctx, "symbolicating broke", "uuid", in.Report.UUID, "panic", v)
			found, err = nil, nil
		}
	}()
	return l.part.Read(ctx, in)
}

// end asks until all reports that were added are done.
func (l *looks) end(ctx context.Context) {
	for round := 0; len(l.waiting) > 0; round++ {
		err := errRounds
		if round < maxRounds {
			err = l.part.Ask(ctx)
		}
		list := l.waiting
		l.waiting = nil
		for _, one := range list {
			if err != nil {
				one.done(nil, err)
				continue
			}
			l.read(ctx, one)
		}
	}
	if l.part != nil {
		l.part.Renew()
	}
}
