package gate

import (
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/gate"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"gate":           gateView{},
			"gate_condition": resultView{},
			"gate_evidence":  evidenceView{},
			"gate_override":  overrideView{},
			"gate_change":    changeView{},
			"gate_policy":    policyView{},
			"gate_rule":      gate.Condition{},
			"gate_suite":     gate.SuiteToRun{},
		},
		Bodies: map[string]any{
			"PUT /api/v3/projects/{id}/gate-policy":  gate.Policy{},
			"POST /api/v3/builds/{id}/gate/override": overrideRequest{},
		},
		Words: []any{
			[]gate.State{gate.Pass, gate.Fail, gate.Unknown},
			gate.Types(),
			[]gate.Cause{gate.ByConditions, gate.ByPolicy, gate.ByOverride, gate.ByOverrideGone},
			[]gate.EvidenceKind{gate.OfSuiteRun, gate.OfCrashGroup, gate.OfFeedback, gate.OfBuild, gate.OfInstalls, gate.OfSymbols, gate.OfVersion},
		},
	}
}
