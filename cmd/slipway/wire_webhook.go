package main

import (
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/statuscall"
	"github.com/slipway-qa/slipway/tasks/webhookcall"
	"github.com/slipway-qa/slipway/worker"
	workcommitstatus "github.com/slipway-qa/slipway/worker/commitstatus"
	workwebhook "github.com/slipway-qa/slipway/worker/webhook"
)

// addWebhookWork adds the handlers of what goes out to others: webhooks, and statuses of
// commits.
func addWebhookWork(s *services, handlers map[string]worker.Handler, pools []worker.Pool) error {
	maintenance, err := workwebhook.NewMaintenance(s.db, days(s.settings.WebhookDays))
	if err != nil {
		return err
	}
	links := link.New(s.settings.PublicURL)
	handlers[tasks.WebhookDeliver.Name] = &workwebhook.Deliver{DB: s.db, Caller: webhookcall.NewSender(s.guard),
		Keys: s.keys, Slots: slotsOf(pools, tasks.Webhook), Notify: workwebhook.NewMail(s.letters(nil), links), Links: links, Log: s.log}
	handlers[tasks.WebhookReplay.Name] = &workwebhook.Replay{DB: s.db}
	handlers[tasks.WebhookMaintenance.Name] = maintenance
	handlers[tasks.CommitStatus.Name] = &workcommitstatus.Send{DB: s.db, Caller: statuscall.NewSender(s.guard), Keys: s.keys,
		Links: links, Log: s.log}
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
