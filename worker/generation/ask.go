package generation

import (
	"context"

	"github.com/slipway-qa/slipway/worker/generation/model"
	"github.com/slipway-qa/slipway/worker/generation/plan"
)

// ModelConfig is which model is asked, and when.
type ModelConfig struct {
	Client *model.Client
	// Always asks it for every clause, with what the planner understood as a draft;
	// otherwise it does what the planner does not understand.
	Always bool
	// Limit bounds one generation; zero members are no limit.
	Limit model.Amount
	// Budget is that of an organization's day; nil: none.
	Budget func(organization int64) model.Budget
}

// asked is what a model is asked during one generation, in all of its drafts.
type asked struct {
	*ModelConfig
	job      Job
	budget   model.Budget
	recorder *model.Recorder
}

// newAsked returns nil when there is no model.
func (a *author) newAsked(j Job) *asked {
	if a.Model == nil || a.Model.Client == nil {
		return nil
	}
	var next model.Budget
	if a.Model.Budget != nil {
		next = a.Model.Budget(j.Organization)
	}
	return &asked{ModelConfig: a.Model, job: j, budget: model.NewTaskBudget(a.Model.Limit, next), recorder: model.NewRecorder(j.Redactor)}
}

func (q *asked) usage() *ModelUsage {
	if q == nil {
		return nil
	}
	return q.recorder.Usage()
}

func (q *asked) always() bool { return q != nil && q.Always }

// of is whom the planner asks where it is not sure; nil without a model.
func (q *asked) of(d *draft) func(context.Context, plan.Question) (plan.Answer, error) {
	if q == nil {
		return nil
	}
	if d.agent == nil {
		d.agent = model.NewAgent(model.AgentConfig{Client: q.Client, Budget: q.budget, Recorder: q.recorder, Redact: q.job.Redactor})
	}
	return d.agent.Ask
}
