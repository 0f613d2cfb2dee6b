package schedule

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// plan is what people decide of a schedule, and what follows from it.
type plan struct {
	name      string
	settings  *Settings
	suites    []uuid.UUID
	state     State      // as it is stored
	next      *time.Time // while ENABLED
	runCount  int
	failures  int
	lastError string
	enabling  bool // somebody asks for it to fire
	// rule is set when the next time is to be computed again, from now.
	rule *rule
	now  time.Time // of the database
}

// count prepares to compute the next time again. The error is an *InvalidError
// of a member that cannot be read, or of an expression that never fires.
func (p *plan) count(ctx context.Context, q storage.Querier) error {
	if p.settings == nil {
		return nil
	}
	r, err := ruleOf(p.settings, zones{})
	if err != nil {
		return err
	}
	if p.now, err = databaseTime(ctx, q); err != nil {
		return err
	}
	if _, ok := r.expression.Next(p.now, r.zone); !ok {
		return storage.Invalid("settings.cron", "never fires within the next five years")
	}
	p.rule = r
	return nil
}

// databaseTime is the time now, not that of the transaction's begin: it may have
// waited for a lock since, while the schedule fired.
func databaseTime(ctx context.Context, q storage.Querier) (now time.Time, err error) {
	err = q.GetContext(ctx, &now, `select clock_timestamp()`)
	return now, storage.Wrap(err, "time of the database")
}

// settle brings the state and the next time in line with the rest. asked is
// ENABLED, DISABLED or "": then an enabled schedule that cannot run any more
// becomes DISABLED, and one that is not enabled stays so. The error is an
// *InvalidError of the member that keeps the schedule from being enabled as asked.
func (p *plan) settle(asked State) error {
	switch {
	case asked == Disabled, asked == "" && (p.settings == nil || len(p.suites) == 0):
		p.state, p.next = Disabled, nil
		return nil
	case asked == "" && p.state != Enabled:
		return nil
	}
	p.enabling = asked == Enabled
	next, err := p.upcoming()
	switch {
	case err == nil:
		p.state, p.next = Enabled, next
	case asked == Enabled:
		return err
	default:
		p.state, p.next = Disabled, nil
	}
	return nil
}

// upcoming is the next time of a schedule that can run. One that is not computed
// again stays, though it may be due by now: the firing is not lost.
func (p *plan) upcoming() (*time.Time, error) {
	switch {
	case p.settings == nil:
		return nil, storage.Invalid("settings", "is needed for a schedule to be enabled")
	case len(p.suites) == 0:
		return nil, storage.Invalid("testSuiteIds", "must name a test suite for a schedule to be enabled")
	case p.settings.MaxRuns != nil && p.runCount >= *p.settings.MaxRuns:
		return nil, storage.Invalid("settings.maxRuns", "all %d runs were made", *p.settings.MaxRuns)
	case p.rule == nil:
		return p.next, nil
	}
	next, ok := p.rule.next(p.now)
	switch start, end := p.settings.StartAt, p.settings.EndAt; {
	case ok && next.UTC().Year() <= lastYear:
		return &next, nil
	case end != nil && !end.After(p.now):
		return nil, storage.Invalid("settings.endDate", "has passed")
	case end != nil && start != nil && start.After(p.now):
		return nil, storage.Invalid("settings.endDate", "must leave a fire time after startDate")
	case end != nil:
		return nil, storage.Invalid("settings.endDate", "must leave a fire time")
	default:
		return nil, storage.Invalid("settings.startDate", "must leave a fire time within five years after it")
	}
}

// check looks whether the running user, the tunnel and the environment of the settings exist, where
// they are new or somebody asks for the schedule to fire. A change of something else
// is no time to refuse: the next firing says what is missing. Only an admin of the
// organization names another person.
func (p *plan) check(ctx context.Context, q storage.Querier, w account.Writer, was *Settings) error {
	s, organizationID := p.settings, w.OrganizationID
	if s == nil {
		return nil
	}
	changed := was == nil || s.RunningUser != was.RunningUser
	if p.enabling || changed {
		kind, err := runningUser(ctx, q, organizationID, s.RunningUser)
		if err != nil {
			return err
		}
		if changed && kind == account.Person && s.RunningUser != w.UserUUID && !w.Admin {
			return ErrOtherUser
		}
	}
	if s.Tunnel != "" && (p.enabling || was == nil || s.Tunnel != was.Tunnel) {
		if err := checkTunnel(ctx, q, organizationID, s.Tunnel); err != nil {
			return err
		}
	}
	if s.Environment != "" && (p.enabling || was == nil || s.Environment != was.Environment) {
		return checkEnvironment(ctx, q, organizationID, s.Environment)
	}
	return nil
}

// differences names the members in which plans differ, as in a body.
func (p *plan) differences(from *plan) []string {
	names := p.settings.differences(from.settings)
	if p.name != from.name {
		names = append(names, "name")
	}
	if !slices.Equal(p.suites, from.suites) {
		names = append(names, "testSuiteIds")
	}
	if p.state != from.state {
		names = append(names, "stateName")
	}
	if p.failures != from.failures || p.lastError != from.lastError {
		names = append(names, "failures")
	}
	return names
}
