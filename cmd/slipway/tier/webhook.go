package tier

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
func addWebhookWork(s *Services, handlers map[string]worker.Handler, pools []worker.Pool) error {
	maintenance, err := workwebhook.NewMaintenance(s.DB, days(s.Settings.WebhookDays))
	if err != nil {
		return err
	}
	links := link.New(s.Settings.PublicURL)
	handlers[tasks.WebhookDeliver.Name] = &workwebhook.Deliver{DB: s.DB, Caller: webhookcall.NewSender(s.guard),
		Keys: s.keys, Slots: slotsOf(pools, tasks.Webhook), Notify: workwebhook.NewMail(s.letters(nil), links), Links: links, Log: s.Log}
	handlers[tasks.WebhookReplay.Name] = &workwebhook.Replay{DB: s.DB}
	handlers[tasks.WebhookMaintenance.Name] = maintenance
	handlers[tasks.CommitStatus.Name] = &workcommitstatus.Send{DB: s.DB, Caller: statuscall.NewSender(s.guard), Keys: s.keys,
		Links: links, Log: s.Log}
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
