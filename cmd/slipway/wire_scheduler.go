package main

import (
	"github.com/slipway-qa/slipway/scheduler"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// startScheduler starts the loops of the ledger and what fires periodic work.
func (s *services) startScheduler() (*scheduler.Scheduler, error) {
	sched := scheduler.New(scheduler.Config{Redis: s.redis, Ledger: ledger.New(s.heartbeats), Relay: s.relay, Log: s.log,
		RescueAfter: s.settings.RescueAfter})
	return sched, sched.Start()
}
