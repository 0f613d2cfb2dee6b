package setting

// Connections to the database that a process keeps apart from its pool, so that neither
// readiness nor heartbeats wait behind work. SLIPWAY_DATABASE_CONNS counts them.
const (
	ProbeConns     = 2
	HeartbeatConns = 4
	// listenConns hears of what was deleted.
	listenConns   = 1
	ReservedConns = ProbeConns + HeartbeatConns + listenConns
)
