package setting

import "time"

// processSettings are those of how a process begins and ends to serve, and of when it counts
// as dead.
type processSettings struct {
	ReadyCapabilities []string       `env:"SLIPWAY_READY_CAPABILITIES" help:"Capabilities without which /readyz responds 503, such as crash_intake,uploads; default: only when the process is capable of nothing. /readyz lists those of a process."`
	StopDelay         *time.Duration `env:"SLIPWAY_STOP_DELAY" help:"Time for which a stopping api still serves, with 503 at /readyz, so that balancers take it out before it refuses connections: longer than two of their probes. Default: 5s; slipway up, which no other process replaces: 0."`
	RescueAfter       time.Duration  `env:"SLIPWAY_RESCUE_AFTER" default:"6s" help:"Time without a heartbeat after which a worker counts as dead, and its tasks are given to others; workers send one three times as often. Set it for workers and schedulers alike: a scheduler with a shorter time than the workers' takes tasks away at which they work, which are then done again."`
}

const (
	// maxStopDelay bounds the delay: a balancer that needs longer than this does not probe.
	maxStopDelay = 5 * time.Minute
	// minRescueAfter is a second: within it a heartbeat is late on a machine that is merely
	// busy.
	minRescueAfter = time.Second
	// maxRescueAfter bounds the rescue: a task that waits for longer is late, whatever its
	// worker died of.
	maxRescueAfter = 10 * time.Minute
)

// StopDelayOr returns the setting, or else the default of the command.
func (s *processSettings) StopDelayOr(otherwise time.Duration) time.Duration {
	if s.StopDelay != nil {
		return *s.StopDelay
	}
	return otherwise
}
