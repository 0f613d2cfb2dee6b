package generation

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/next/model"
	next "github.com/slipway-qa/slipway/worker/generation/next/plan"
)

// next is whom the planner asks where it is not sure; nil without a model.
func (q *asked) next(d *draft) func(context.Context, next.Question) (next.Answer, error) {
	if q == nil {
		return nil
	}
	if d.agent == nil {
		d.agent = model.NewAgent(model.AgentConfig{Client: q.Client, Budget: q.budget, Recorder: q.recorder, Redact: q.job.Redactor})
	}
	return d.agent.Ask
}
