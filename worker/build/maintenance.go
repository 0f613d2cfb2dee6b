package build

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/visitor"
	"github.com/slipway-qa/slipway/storage/idempotency"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/worker"
)

// Step is one thing that ends by itself and is then to be marked or forgotten.
type Step struct {
	// Name stands in the task's result; unique.
	Name string
	// Run does so for at most limit rows and gives their number.
	Run func(ctx context.Context, limit int) (int64, error)
}

// Maintenance is the handler of build:maintenance: it runs each step until less is left
// than one call does. The task's result are the numbers by name. A step that
// fails does not keep the others from running.
type Maintenance struct {
	steps []Step
}

const (
	// maintenanceStep rows are dealt with by one statement.
	maintenanceStep = 1000
	// DefaultKeepMail is how long mail can be read by operators.
	DefaultKeepMail = 30 * 24 * time.Hour
)

// NewMaintenance returns the handler of builds, keys, sign-in sessions and mail, and of
// the further steps.
func NewMaintenance(db *storage.DB, keepMail time.Duration, further ...Step) (*Maintenance, error) {
	if keepMail <= 0 {
		return nil, errors.New("build maintenance: the age of mail must be above zero")
	}
	u := &Maintenance{steps: append([]Step{
		{"builds_expired", func(ctx context.Context, limit int) (int64, error) {
			return distribution.ExpireBuilds(ctx, db, time.Now(), limit)
		}},
		{"idempotency_keys", func(ctx context.Context, limit int) (int64, error) {
			return idempotency.Forget(ctx, db, time.Now().Add(-idempotency.Age), limit)
		}},
		{"sessions", func(ctx context.Context, limit int) (int64, error) {
			return visitor.ForgetSessions(ctx, db, time.Now(), limit)
		}},
		{"mails", func(ctx context.Context, limit int) (int64, error) {
			return mail.Prune(ctx, db, time.Now().Add(-keepMail), limit)
		}},
	}, further...)}
	names := map[string]bool{}
	for _, s := range u.steps {
		if s.Name == "" || s.Run == nil || names[s.Name] {
			return nil, fmt.Errorf("build maintenance: step %q needs a name of its own and something to run", s.Name)
		}
		names[s.Name] = true
	}
	return u, nil
}

// Handle runs the steps.
func (u *Maintenance) Handle(ctx context.Context, claim *worker.Claim) error {
	sum := map[string]int64{}
	var failed []error
	for _, s := range u.steps {
		for n := int64(maintenanceStep); n >= maintenanceStep; sum[s.Name] += n {
			var err error
			if n, err = s.Run(ctx, maintenanceStep); err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", s.Name, err))
				break
			}
		}
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return claim.Finish(ctx, sum, nil)
}
