package capability

// Resolver works out what the run of a case executes on: the capabilities of each
// target as the driver gets them, and the one tunnel that they share. Runs of single
// cases, of suites and of schedules all take it.
type Resolver struct {
	Vendor  string  // names the options of Effective
	Case    string  // name of the case
	Build   string  // name of the build
	Primary *Target // of the case; nil when it has none
}

// Resolved is what a run executes on.
type Resolved struct {
	Targets []Target // with effective capabilities
	Tunnel  string   // "": none
	// At is the index of the target that names the tunnel; when Conflict is true, of
	// one that names another than the targets before it.
	At       int
	Conflict bool
}

// Resolve returns targets and tunnel of a run. tunnel is the run's own: nil leaves it
// to the targets, which must not name different ones; "" is none, whatever the targets
// name.
func (r Resolver) Resolve(targets []Target, tunnel *string) Resolved {
	switch {
	case tunnel == nil:
		name, at, ok := SharedTunnel(r.effective(targets, ""), r.Vendor)
		return Resolved{Targets: r.effective(targets, name), Tunnel: name, At: at, Conflict: !ok}
	case *tunnel == "":
		out := r.effective(targets, "")
		for i := range out {
			out[i].Capabilities = WithoutTunnel(out[i].Capabilities, r.Vendor)
		}
		return Resolved{Targets: out}
	}
	return Resolved{Targets: r.effective(targets, *tunnel), Tunnel: *tunnel}
}

func (r Resolver) effective(targets []Target, tunnel string) []Target {
	out := make([]Target, len(targets))
	for i, t := range targets {
		out[i] = Target{IsRDC: t.IsRDC, Capabilities: Effective(r.Primary, t, r.Vendor, r.Case, r.Build, tunnel)}
	}
	return out
}
