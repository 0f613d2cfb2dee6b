package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/state"
)

// kept reads what an assertion on the cookies or the storage looks at; nil: it is not
// there.
func (x *stepExecution) kept(ctx context.Context, m *step.Matcher) (*seen, error) {
	if m.Name == step.StorageIs {
		var got *string
		err := x.execute(ctx, `try { return (arguments[0] === "local" ? localStorage : sessionStorage).getItem(arguments[1]); } catch { return null; }`,
			&got, m.Args.Area, m.Args.Key)
		if err != nil || got == nil {
			return nil, err
		}
		return &seen{Text: got}, nil
	}
	conn, err := x.bidi(ctx, "the matcher cookie")
	if err != nil {
		return nil, err
	}
	window, err := x.currentWindow(ctx)
	if err != nil {
		return nil, err
	}
	at, err := x.pageAddress(ctx)
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
	err = stateStep{x}.timed(ctx, func(ctx context.Context) (err error) {
		found, err = state.FindCookie(ctx, conn, window, m.Args.Name, at.Hostname(), path, domain)
		return err
	})
	if err != nil || found == nil {
		return nil, err
	}
	return &seen{Text: &found.Value, Differs: found.Differs(m.Args.Attributes)}, nil
}

// assertKept waits until an assertion on the cookies or the storage is true.
func (x *stepExecution) assertKept(ctx context.Context, r *rule, m *step.Matcher) error {
	for {
		got, err := x.kept(ctx, m)
		if err != nil {
			if err := x.interrupted(ctx, err); err != nil {
				return err
			}
		} else if r.isTrueFor(got) {
			return nil
		}
		if time.Now().After(x.deadline) {
			return r.keptFailure(got)
		}
		x.screenshotter.takeDeferred(ctx, x)
		if err := sleep(ctx, keptPoll); err != nil {
			return err
		}
	}
}

// keptPoll is how often the cookies or the storage are looked at.
const keptPoll = 50 * time.Millisecond
