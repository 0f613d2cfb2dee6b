package account

import (
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/setting"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"console_session":       sessionView{},
			"service_account":       serviceView{},
			"quota":                 quotaView{},
			"storage_connection":    storageView{},
			"account_member":        memberView{},
			"account_self":          selfView{},
			"account_key":           account.KeyRow{},
			"organization_settings": setting.Settings{},
		},
		Bodies: map[string]any{
			"POST /api/v3/me/keys":                    keyRequest{},
			"POST /api/v3/service-accounts":           serviceRequest{},
			"POST /api/v3/service-accounts/{id}/keys": keyRequest{},
			"PUT /api/v3/settings/storage":            storageRequest{},
			"PUT /api/v3/settings/organization":       setting.Change{},
		},
	}
}
