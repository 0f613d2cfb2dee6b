package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
)

// When a time is too late to fire.
const (
	// punctual is how late every time may fire; what is later is a catch-up.
	punctual = time.Minute
	// immediate is how late it fires ordinarily: what is later, and was due before the
	// process that fires it had started, waited for a restart.
	immediate = 2 * time.Second
	// tooLate is the most that any time may be late.
	tooLate = time.Hour
	// unreadableRetry is when a schedule is tried again whose settings cannot be read.
	unreadableRetry = time.Minute
)

// Reasons of firings that started nothing.
const (
	reasonMissed   = "missed: nothing fired schedules at that time"
	reasonNoSuites = "the schedule has no test suites"
	reasonMaxRuns  = "the schedule has run maxRuns times"
)

// decide decides what becomes of a schedule that is due: of the latest time that is,
// and of those before it. It sets NextRunAt to the first time after at, so that
// nothing missed is fired later.
func (s *claimedSchedule) decide(step DueStep, loaded zones) {
	at := step.At
	due := *s.NextRunAt
	s.NextRunAt = nil
	rule, err := ruleOf(&Settings{Cron: s.Cron, Timezone: s.Timezone, StartAt: s.StartAt, EndAt: s.EndAt}, loaded)
	if err != nil {
		// It was right when it was stored: this machine does not know the time zone,
		// which another one may.
		s.firing = s.newFiring(due, TriggerCron, FiringFailed, err.Error())
		retry := at.Add(unreadableRetry)
		s.NextRunAt = &retry
		return
	}
	if next, ok := rule.next(at); ok {
		s.NextRunAt = &next
	}
	// Where a clock was set back or a zone has new rules, what was computed as due
	// need not be a time of the expression any more: it fires all the same.
	latest, ok := rule.latest(at)
	if !ok || latest.Before(due) {
		latest = due
	}
	if at.Sub(latest) >= max(punctual, min(rule.interval(latest), tooLate)) {
		s.missed = s.newMissed(rule, due, latest.Add(time.Nanosecond))
		return
	}
	trigger := TriggerCron
	if latest.After(due) {
		s.missed = s.newMissed(rule, due, latest)
	}
	if latest.After(due) || step.isCatchUp(due) {
		trigger = TriggerCatchUp
	}
	if s.missed == nil && trigger == TriggerCron && s.openRun != nil && s.skipped != nil && s.skipped.Reason == run.Message(s.runIsOpen()) {
		s.coalesced = &latest
		return
	}
	s.firing = s.fireAt(latest, trigger)
}

// isCatchUp reports whether a time fires so late that the service must have been down.
func (step DueStep) isCatchUp(due time.Time) bool {
	late := step.At.Sub(due)
	return late > punctual || late > immediate && due.Before(step.Started)
}

// fireAt returns the record of a time that fires, and decides what starts.
func (s *claimedSchedule) fireAt(at time.Time, trigger FiringTrigger) *Firing {
	switch {
	case s.MaxRuns != nil && s.RunCount >= *s.MaxRuns:
		return s.newFiring(at, trigger, FiringSkipped, reasonMaxRuns)
	case s.openRun != nil:
		return s.newFiring(at, trigger, FiringSkipped, s.runIsOpen())
	case len(s.suites) == 0:
		s.State, s.LastError, s.endReason = Disabled, reasonNoSuites, reasonNoSuites
		return s.newFiring(at, trigger, FiringFailed, reasonNoSuites)
	}
	if err := s.chooseSuites(); err != nil {
		return s.newFiring(at, trigger, FiringFailed, err.Error())
	}
	return s.newFiring(at, trigger, FiringStarted, s.notStarted())
}

// newMissed returns the record of missed times: those from due to before end.
func (s *claimedSchedule) newMissed(r *rule, due, end time.Time) *Firing {
	missed := s.newFiring(due, TriggerCron, FiringSkipped, reasonMissed)
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

func (s *claimedSchedule) newFiring(at time.Time, trigger FiringTrigger, outcome FiringOutcome, reason string) *Firing {
	return &Firing{ID: storage.NewID(), ScheduleID: s.ID, At: at, Trigger: trigger, Outcome: outcome, Reason: run.Message(reason),
		User: s.RunningUser, SuiteRuns: []run.SuiteRun{}}
}

// runIsOpen is the reason of a time that is skipped for an open run. It names the
// run, so that skipped times are coalesced for as long as the same run is open.
func (s *claimedSchedule) runIsOpen() string {
	return "the former run is still under way: suite run " + s.openRun.String()
}

// chooseSuites selects the suites that can start; the error says why none can.
func (s *claimedSchedule) chooseSuites() error {
	switch {
	case s.noUser:
		return ErrRunningUser
	case s.noTunnel:
		return fmt.Errorf("%w: %s", ErrNoTunnel, s.Tunnel)
	}
	if s.noEnvironment {
		return fmt.Errorf("%w: %s", ErrNoEnvironment, s.Environment)
	}
	for _, suite := range s.suites {
		if suite.Runnable > 0 {
			s.starting = append(s.starting, suite)
		}
	}
	if len(s.starting) == 0 {
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
func (s *claimedSchedule) notStarted() string {
	var names []string
	for _, suite := range s.suites {
		if suite.Runnable == 0 {
			names = append(names, fmt.Sprintf("%q", storage.Cut(suite.Name, namedLength)))
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
