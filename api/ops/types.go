package ops

import (
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/mail"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"ops_mail":             mailView{},
			"ops_mail_whole":       wholeMailView{},
			"readiness":            report{},
			"operate_organization": organizationView{},
			"operate_webhook":      webhookView{},
			"operate_quantiles":    quantileView{},
			"operate_load":         loadView{},
		},
		Words: []any{[]mail.State{mail.Queued, mail.Sent, mail.Kept, mail.Failed, mail.Suppressed, mail.Bounced}},
	}
}
