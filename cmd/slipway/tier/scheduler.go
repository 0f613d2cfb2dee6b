package tier

import (
	"github.com/slipway-qa/slipway/scheduler"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// startScheduler starts the loops of the ledger and what fires periodic work.
func (s *Services) startScheduler() (*scheduler.Scheduler, error) {
	sched := scheduler.New(scheduler.Config{Redis: s.Redis, Ledger: ledger.New(s.heartbeats), Relay: s.relay, Log: s.Log,
		RescueAfter: s.Settings.RescueAfter})
	return sched, sched.Start()
}
