package regression

// Names of benches, for --only.
const (
	Crash4KB  = "crash-4KB"
	Crash60KB = "crash-60KB"
	Symbols   = "symbols"
	Upload    = "upload"
	Runs      = "run"
	Schedule  = "schedule"
	Claims    = "claims"
)

// Bounds are what must hold before a change of a hot path lands. The table in
// docs/performance.md has the same figures; a test compares the two. Reached is what was
// measured last, and the only value here that a measurement changes.
func Bounds() []Bound {
	return []Bound{
		{Figure: "4KB burst", Bench: Crash4KB, What: "burst of 4 KB over one INSERT a request", Reached: 1.83, Wanted: 2.4},
		{Figure: "4KB drain", Bench: Crash4KB, What: "drain of 4 KB over their burst", Reached: 1.25, Wanted: 1},
		{Figure: "4KB backlog", Bench: Crash4KB, What: "drain of a backlog of single commits over the burst", Reached: 0.88, Wanted: 0.8},
		{Figure: "4KB oldest", Bench: Crash4KB, What: "oldest waiting report at 0.4 of the burst", Reached: 0.69,
			Wanted: 1, Ceiling: true, Unit: " s"},
		{Figure: "4KB tail", Bench: Crash4KB, What: "p99 over p50 at half of the burst", Reached: 3.2, Wanted: 3, Ceiling: true},
		{Figure: "node drain", Bench: Crash4KB, What: "drain of Node reports over their burst", Reached: 0.36, Wanted: 0.6},
		{Figure: "native drain", Bench: Crash4KB, What: "drain of native reports over their burst", Reached: 0.62, Wanted: 0.6},
		{Figure: "minidump drain", Bench: Crash4KB, What: "drain of minidumps over their burst", Reached: 0.33, Wanted: 0.1},
		{Figure: "60KB burst", Bench: Crash60KB, What: "burst of 60 KB over one INSERT a request", Reached: 4.41, Wanted: 5.5},
		{Figure: "60KB drain", Bench: Crash60KB, What: "drain of 60 KB over their burst", Reached: 1.30, Wanted: 1},
		{Figure: "mapped", Bench: Crash4KB, What: "drain with source maps over the burst", Reached: 0.59, Wanted: 0.6},
		{Figure: "process", Bench: Symbols, What: "crashes processed with a mapping over those without", Reached: 0.62},
		{Figure: "upload", Bench: Upload, What: "upload over PutObject", Reached: 0.81, Wanted: 0.8},
		{Figure: "flow", Bench: Runs, What: "time of a flow over Playwright's", Reached: 0.49, Wanted: 0.5, Ceiling: true},
		{Figure: "cases", Bench: Runs, What: "cases a second of a suite run over Playwright's", Reached: 1.72, Wanted: 1.5},
		{Figure: "schedule", Bench: Schedule, What: "firings a second over their rows alone", Reached: 0.21},
		{Figure: "claims", Bench: Claims, What: "tasks claimed and finished over two updates each", Reached: 0.7, Wanted: 0.7},
	}
}
