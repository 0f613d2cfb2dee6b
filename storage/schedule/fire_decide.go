package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/run"

	"github.com/slipway-qa/slipway/storage/authoring"

	"github.com/slipway-qa/slipway/storage"
)

// Bounds of what counts as too late for a fire.
const (
	// punctual is how late every fire may be; later ones catch up.
	punctual = time.Minute
	// tooLate is the most that any fire may be late.
	tooLate = time.Hour
	// unreadableWait is how long a schedule waits whose settings cannot be read.
	unreadableWait = time.Minute
)

// Reasons of fires that did not start.
const (
	reasonMissed   = "missed: nothing fired schedules at that time"
	reasonNoSuites = "the schedule has no test suites"
	reasonMaxRuns  = "the schedule has run maxRuns times"
)

// decide says what becomes of a schedule that is due: of the latest time that is,
// and of those before it. It sets NextRunAt to the first time after at, so that
// nothing missed is fired later.
func (f *firing) decide(at time.Time, loaded zones) {
	due := *f.NextRunAt
	f.NextRunAt = nil
	rule, err := ruleOf(&ScheduleSettings{Cron: f.Cron, Timezone: f.Timezone, StartAt: f.StartAt, EndAt: f.EndAt}, loaded)
	if err != nil {
		// It was right when it was stored: this machine does not know the time zone,
		// which another one may.
		f.fired = f.fire(due, TriggerCron, FireFailed, err.Error())
		again := at.Add(unreadableWait)
		f.NextRunAt = &again
		return
	}
	if next, ok := rule.next(at); ok {
		f.NextRunAt = &next
	}
	// Where a clock was set back or a zone has new rules, what was computed as due
	// need not be a time of the expression any more: it is one all the same.
	latest, ok := rule.latest(at)
	if !ok || latest.Before(due) {
		latest = due
	}
	if at.Sub(latest) >= max(punctual, min(rule.interval(latest), tooLate)) {
		f.missed = f.miss(rule, due, latest.Add(time.Nanosecond))
		return
	}
	trigger := TriggerCron
	if latest.After(due) {
		f.missed = f.miss(rule, due, latest)
	}
	if latest.After(due) || at.Sub(due) > punctual {
		trigger = TriggerCatchUp
	}
	// Where a suite runs for longer than the interval, skipped times share a record.
	if f.open != nil && f.missed == nil && trigger == TriggerCron && f.skipped != nil && f.skipped.Reason == run.Message(f.stillOpen()) {
		f.joins = &latest
		return
	}
	f.fired = f.begin(latest, trigger)
}

// Begin makes the record of a time that fires, and decides what starts.
func (f *firing) begin(at time.Time, trigger FireTrigger) *Fire {
	switch {
	case f.MaxRuns != nil && f.RunCount >= *f.MaxRuns:
		return f.fire(at, trigger, FireSkipped, reasonMaxRuns)
	case f.open != nil:
		return f.fire(at, trigger, FireSkipped, f.stillOpen())
	case len(f.suites) == 0:
		f.State, f.LastError, f.endReason = ScheduleDisabled, reasonNoSuites, reasonNoSuites
		return f.fire(at, trigger, FireFailed, reasonNoSuites)
	}
	if err := f.chooseSuites(); err != nil {
		return f.fire(at, trigger, FireFailed, err.Error())
	}
	return f.fire(at, trigger, FireStarted, f.notStarted())
}

// miss makes the record of missed times: those from due to before end.
func (f *firing) miss(r *rule, due, end time.Time) *Fire {
	missed := f.fire(due, TriggerCron, FireSkipped, reasonMissed)
	until := due
	for at, ok := due, true; ok && at.Before(end) && missed.Missed < MaxMissed; at, ok = r.next(at) {
		missed.Missed++
		until = at
	}
	if missed.Missed == MaxMissed {
		if last, ok := r.latest(end.Add(-time.Nanosecond)); ok && last.After(until) {
			until = last
		}
	}
	missed.MissedUntil = &until
	return missed
}

func (f *firing) fire(at time.Time, trigger FireTrigger, outcome FireOutcome, reason string) *Fire {
	return &Fire{ID: storage.NewID(), ScheduleID: f.ID, At: at, Trigger: trigger, Outcome: outcome, Reason: run.Message(reason),
		User: f.RunningUser, SuiteRuns: []run.SuiteRun{}}
}

func (f *firing) stillOpen() string {
	return "the former run is still under way: suite run " + f.open.String()
}

// chooseSuites takes the suites that can start; the error says why none can.
func (f *firing) chooseSuites() error {
	switch {
	case f.noUser:
		return ErrRunningUser
	case f.noTunnel:
		return fmt.Errorf("%w: %s", ErrNoTunnel, f.Tunnel)
	}
	for _, s := range f.suites {
		if s.Runnable > 0 {
			f.starts = append(f.starts, s)
		}
	}
	if len(f.starts) == 0 {
		return authoring.ErrNoJobs
	}
	return nil
}

// namedSuites is how many suites a reason names, each with the beginning of its
// name.
const (
	namedSuites = 10
	namedLength = 60
)

// notStarted names the suites that do not start; "" when all do.
func (f *firing) notStarted() string {
	var names []string
	for _, s := range f.suites {
		if s.Runnable == 0 {
			names = append(names, fmt.Sprintf("%q", storage.Cut(s.Name, namedLength)))
		}
	}
	if len(names) == 0 {
		return ""
	}
	more := ""
	if n := len(names) - namedSuites; n > 0 {
		names, more = names[:namedSuites], fmt.Sprintf(" and %d more", n)
	}
	return "not started: " + strings.Join(names, ", ") + more + ": no case has both steps and a target to run on"
}
