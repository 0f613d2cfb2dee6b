package mail

import (
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"mail_template":    templateView{},
			"mail_settings":    settingsView{},
			"mail_suppression": suppressionView{},
			"mail_placeholder": mailtemplate.Placeholder{},
		},
		Bodies: map[string]any{
			"PUT /api/v3/settings/mail-templates/{kind}":          templateRequest{},
			"POST /api/v3/settings/mail-templates/{kind}/preview": templateRequest{},
			"PUT /api/v3/settings/mail":                           settingsRequest{},
		},
	}
}
