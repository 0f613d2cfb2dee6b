package webhook

import (
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"webhook":                 view{},
			"webhook_delivery":        deliveryView{},
			"webhook_attempt":         attemptView{},
			"webhook_delivery_detail": detailView{},
			"webhook1":                view1{},
		},
		Bodies: map[string]any{
			"POST /api/v3/webhooks":             request{},
			"PUT /api/v3/webhooks/{id}":         request{},
			"POST /api/v3/webhooks/{id}/secret": rotation{},
			"POST /api/v3/webhooks/{id}/replay": replayRequest{},
			"POST /api/1/webhook":               request1{},
			"POST /api/1/webhook/{id}":          request1{},
			"POST /api/1/webhhook":              request1{},
			"POST /api/1/webhhook/{id}":         request1{},
			"POST /api/1/webhooks":              request1{},
			"POST /api/1/webhooks/{id}":         request1{},
		},
		Words: []any{[]webhook.DeliveryStatus{webhook.Pending, webhook.Delivered, webhook.Failed},
			[]webhook.Status{webhook.Active, webhook.Suspended}, append(webhook.Actions(), webhook.Test)},
	}
}
