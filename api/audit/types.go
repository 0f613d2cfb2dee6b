package audit

import (
	"github.com/slipway-qa/slipway/api/route"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"audit_entry":  entry3{},
			"audit_entry2": entry2{},
			"audit_entry1": entry1{},
			"site_account": site1{},
		},
		Bodies: map[string]any{
			"POST /api/1/site":  siteRequest{},
			"POST /api/1/sites": siteRequest{},
		},
	}
}
