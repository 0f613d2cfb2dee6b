package replay

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage/run"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

const (
	// scriptGrace is how long a page may take for a script that is to end at once:
	// drivers wait much longer for a page that blocks its thread.
	scriptGrace = 5 * time.Second
	// maxAnswer bounds what a script gives; what it is, is the page's to decide.
	maxAnswer = 8 << 20
)

// execute runs a script in the page, for no longer than what is left of the step
// and a grace, and reads its answer into out (nil: it is dropped).
func (p *player) execute(ctx context.Context, script string, out any, args ...any) error {
	var answer json.RawMessage
	left := max(time.Until(p.deadline), 0)
	err := p.limited(ctx, left+scriptGrace, func(ctx context.Context) error {
		return p.s.Execute(ctx, script, &answer, args...)
	})
	switch {
	case err != nil:
		return err
	case len(answer) > maxAnswer:
		return stepf("the page gave an answer of more than %d MiB", maxAnswer>>20)
	case out == nil:
		return nil
	}
	if json.Unmarshal(answer, out) != nil { // the page has replaced what the script uses
		return &webdriver.Error{Code: webdriver.ErrJavaScript, Message: "the script returned an answer of another shape"}
	}
	return nil
}

// limited runs a command that a page can hold up. A driver whose page does not
// answer in time is still busy with it, so the session is of no use any more.
func (p *player) limited(ctx context.Context, most time.Duration, f func(context.Context) error) error {
	inner, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err := f(inner)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return &failure{run.CodeStepFailed, "the page does not respond", true}
	}
	return err
}

// led bounds a command that may lead to another page.
func (p *player) led(ctx context.Context, f func(context.Context) error) error {
	return p.limited(ctx, p.PageTimeout+scriptGrace, f)
}
