package main

import (
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/webhookcall"
	"github.com/slipway-qa/slipway/worker"
	workwebhook "github.com/slipway-qa/slipway/worker/webhook"
)

// addWebhookWork adds the handlers of webhooks.
func addWebhookWork(s *services, handlers map[string]worker.Handler, pools []worker.Pool) error {
	maintenance, err := workwebhook.NewMaintenance(s.db, days(s.settings.WebhookDays))
	if err != nil {
		return err
	}
	handlers[tasks.WebhookDeliver.Name] = &workwebhook.Deliver{DB: s.db, Caller: webhookcall.NewSender(s.guard),
		Keys: s.keys, Slots: slotsOf(pools, tasks.Webhook),
		Notify: workwebhook.NewMail(s.letters(nil), link.New(s.settings.PublicURL)), Log: s.log}
	handlers[tasks.WebhookReplay.Name] = &workwebhook.Replay{DB: s.db}
	handlers[tasks.WebhookMaintenance.Name] = maintenance
	return nil
}

// slotsOf returns the number of slots that serve a queue.
func slotsOf(pools []worker.Pool, queue string) int {
	n := 0
	for _, pool := range pools {
		if pool.Queues[queue] > 0 {
			n += pool.Slots
		}
	}
	return n
}
