package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Gate is whether a build may go out.
type Gate struct {
	State       string      `json:"state"`  // pass, fail or unknown
	Reason      string      `json:"reason"` // why there are no conditions
	Conditions  []Condition `json:"conditions"`
	EvaluatedAt *time.Time  `json:"evaluated_at"`
	// Overridden is what a person decided in place of the conditions; nil: nobody.
	Overridden *Override `json:"overridden"`
	// Pending: something happened since the conditions were looked at.
	Pending bool   `json:"pending"`
	URL     string `json:"url"`
}

// Condition is a condition of a gate, as it stands for a build.
type Condition struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	State    string `json:"state"`
	Wanted   string `json:"wanted"`
	Measured string `json:"measured"`
	Reason   string `json:"reason"`
	URL      string `json:"url"` // the evidence
}

// Override is what a person decided, and why.
type Override struct {
	State  string    `json:"state"`
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
}

// Reasons of a gate that no waiting decides.
const (
	NoPolicy   = "no policy"
	NotCovered = "the policy does not cover the channel of this build"
)

// Decided reports whether there is nothing to wait for: the gate passes or fails by all that
// has happened, or somebody decided.
func (g *Gate) Decided() bool {
	return g.Overridden != nil || (g.State == "pass" || g.State == "fail") && !g.Pending
}

// Gate returns the gate of a build as it stands.
func (c *Client) Gate(ctx context.Context, build string) (*Gate, error) {
	var out struct {
		Gate Gate `json:"gate"`
	}
	err := c.Get(ctx, Path("api", "v3", "builds", build, "gate"), nil, &out)
	return &out.Gate, err
}

// AwaitGate waits until the gate of a build is decided. One request is open at a time. A gate
// without a policy is never decided, and not waited for. With an error, the gate is as it
// was seen last; see (nil: nobody) is called with each answer.
func (c *Client) AwaitGate(ctx context.Context, build string, see func(*Gate)) (*Gate, error) {
	last := &Gate{State: "unknown"}
	var out struct {
		Gate *Gate `json:"gate"`
	}
	err := c.poll(ctx, Path("api", "v3", "builds", build, "gate"), &out, func() bool {
		if out.Gate != nil {
			last, out.Gate = out.Gate, nil // the next answer is read into a new one
		}
		if see != nil {
			see(last)
		}
		return last.Decided() || last.Reason == NoPolicy || last.Reason == NotCovered
	})
	return last, err
}

// GatePolicy returns the policy of an app as JSON; nil when it has none.
func (c *Client) GatePolicy(ctx context.Context, app int64) (json.RawMessage, error) {
	var out struct {
		Policy json.RawMessage `json:"gate_policy"`
	}
	err := c.Get(ctx, policyPath(app), nil, &out)
	if Is(err, Missing) {
		return nil, nil
	}
	return out.Policy, err
}

// SetGatePolicy stores the policy of an app, and returns it as the server has it.
func (c *Client) SetGatePolicy(ctx context.Context, app int64, policy any) (json.RawMessage, error) {
	var out struct {
		Policy json.RawMessage `json:"gate_policy"`
	}
	err := c.JSON(ctx, Request{Method: http.MethodPut, Path: policyPath(app), Repeatable: true}, policy, &out)
	return out.Policy, err
}

func policyPath(app int64) string {
	return Path("api", "v3", "projects", strconv.FormatInt(app, 10), "gate-policy")
}
