package assertion

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
	"github.com/slipway-qa/slipway/worker/run/state"
)

// kept reads what an assertion on the cookies or the storage looks at; nil: it is not
// there.
func (x Check) kept(ctx context.Context, m *step.Matcher) (*Seen, error) {
	if m.Name == step.StorageIs {
		var got *string
		err := x.Execute(ctx,
			`try { return (arguments[0] === "local" ? localStorage : sessionStorage).getItem(arguments[1]); } catch { return null; }`,
			&got, m.Args.Area, m.Args.Key)
		if err != nil || got == nil {
			return nil, err
		}
		return &Seen{Text: got}, nil
	}
	conn, err := x.BiDi(ctx, "the matcher cookie")
	if err != nil {
		return nil, err
	}
	window, err := x.CurrentWindow(ctx)
	if err != nil {
		return nil, err
	}
	at, err := x.PageAddress(ctx)
	if err != nil {
		return nil, err
	}
	domain := ""
	if m.Args.Attributes != nil {
		domain = m.Args.Attributes.Domain
	}
	path := at.Path
	if path == "" {
		path = "/"
	}
	var found *state.Cookie
	err = x.Timed(ctx, func(ctx context.Context) (err error) {
		found, err = state.FindCookie(ctx, conn, window, m.Args.Name, at.Hostname(), path, domain)
		return err
	})
	if err != nil || found == nil {
		return nil, err
	}
	return &Seen{Text: &found.Value, Differs: found.Differs(m.Args.Attributes)}, nil
}

// assertKept waits until an assertion on the cookies or the storage is true.
func (x Check) assertKept(ctx context.Context, r *Rule, m *step.Matcher) error {
	for {
		got, err := x.kept(ctx, m)
		if err != nil {
			if err := x.Interrupted(ctx, err); err != nil {
				return err
			}
		} else if r.IsTrueFor(got) {
			return nil
		}
		if time.Now().After(x.Deadline) {
			return r.keptFailure(got)
		}
		x.Screenshotter.TakeDeferred(ctx, x.Execution)
		if err := session.Sleep(ctx, keptPoll); err != nil {
			return err
		}
	}
}

// keptPoll is how often the cookies or the storage are looked at.
const keptPoll = 50 * time.Millisecond
