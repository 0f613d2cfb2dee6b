package people

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/bench/schedule"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/webhook"
)

const (
	// The webhooks, of which each event is for those of its organization: 10,200
	// deliveries in all, 510 a second.
	webhookOrganizations = 3
	webhooksEach         = 100
	webhookRounds        = 34
	webhookRoundEvery    = 590 * time.Millisecond
	// webhookSlowest ends the waiting for healthy receivers.
	webhookSlowest = 60 * time.Second
	webhookTarget  = 2 * time.Second
)

// webhookReceivers is a server that stands for all receivers. What a path begins with
// says how it answers: good, bad (500), or hang, which never answers.
type webhookReceivers struct {
	http.Server
	base string
	stop chan struct{}

	mu       sync.Mutex
	waits    []time.Duration // of deliveries to good ones, from before the event's transaction
	seen     map[string]bool
	repeated int
}

func startWebhookReceivers() (*webhookReceivers, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &webhookReceivers{base: "http://" + listener.Addr().String(), stop: make(chan struct{}), seen: map[string]bool{}}
	r.Handler = http.HandlerFunc(r.receive)
	go func() { _ = r.Serve(listener) }()
	return r, nil
}

func (r *webhookReceivers) receive(w http.ResponseWriter, request *http.Request) {
	now := time.Now()
	var event struct {
		EmittedAt int64 `json:"emittedAt"` // Unix microseconds
	}
	if err := json.NewDecoder(request.Body).Decode(&event); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	switch {
	case strings.HasPrefix(request.URL.Path, "/bad/"):
		w.WriteHeader(http.StatusInternalServerError)
	case strings.HasPrefix(request.URL.Path, "/hang/"):
		select {
		case <-r.stop:
		case <-request.Context().Done():
		}
	default:
		r.mu.Lock()
		defer r.mu.Unlock()
		id := request.Header.Get("webhook-id")
		if r.seen[id] {
			r.repeated++
			return
		}
		r.seen[id] = true
		r.waits = append(r.waits, now.Sub(time.UnixMicro(event.EmittedAt)))
	}
}

func (r *webhookReceivers) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waits)
}

// measureWebhooks delivers events first to receivers that are all healthy, then to as many
// of which a third fails or hangs.
func measureWebhooks(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := process.Build(ctx, dir, "")
	if err != nil {
		return err
	}
	healthy, err := deliverWebhooks(ctx, binary, func(int) string { return "good" })
	if err != nil {
		return err
	}
	name := fmt.Sprintf("webhooks: %d deliveries to %d receivers at %.0f a second", webhookOrganizations*webhooksEach*webhookRounds,
		webhookOrganizations*webhooksEach, float64(webhookOrganizations*webhooksEach)/webhookRoundEvery.Seconds())
	measure.Row(name+", all healthy: p50, p99, most", healthy.text(), "", true)
	mixed, err := deliverWebhooks(ctx, binary, func(n int) string {
		return []string{"good", "good", "good", "good", "bad", "hang"}[n%6]
	})
	if err != nil {
		return err
	}
	p99 := quantileOf(mixed.waits, 0.99)
	measure.Row(name+", a sixth fails, a sixth hangs: p50, p99, most of the healthy", fmt.Sprintf("%s, %.1f times the p99 of all healthy",
		mixed.text(), p99.Seconds()/quantileOf(healthy.waits, 0.99).Seconds()), "p99 2s", p99 <= webhookTarget)
	measure.Row("of those to healthy receivers: missing, repeated", fmt.Sprintf("%d, %d", mixed.missing, mixed.repeated),
		"none", mixed.missing == 0 && mixed.repeated == 0)
	return nil
}

// webhookResult is what the healthy receivers saw.
type webhookResult struct {
	waits             []time.Duration // sorted
	missing, repeated int
}

func (r *webhookResult) text() string {
	return fmt.Sprintf("%s, %s, %s", measure.Round(quantileOf(r.waits, 0.5)), measure.Round(quantileOf(r.waits, 0.99)),
		measure.Round(quantileOf(r.waits, 1)))
}

// quantileOf returns a quantile of sorted durations; 0 of none.
func quantileOf(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// deliverWebhooks emits the events to receivers whose kind is by their number.
func deliverWebhooks(ctx context.Context, binary string, kind func(n int) string) (*webhookResult, error) {
	f, err := schedule.StartFleet(ctx, binary)
	if err != nil {
		return nil, err
	}
	defer f.Stop()
	f.Variables = append(f.Variables, "SLIPWAY_ALLOW_PRIVATE_ADDRESSES=true")
	if _, err := f.Ready(ctx, "scheduler", "worker"); err != nil {
		return nil, err
	}
	receivers, err := startWebhookReceivers()
	if err != nil {
		return nil, err
	}
	defer receivers.Close()
	defer close(receivers.stop)
	organizations, good, err := addWebhooks(ctx, f.DB, receivers.base, kind)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(webhookRoundEvery)
	defer tick.Stop()
	for range webhookRounds {
		for _, organization := range organizations {
			event := webhook.Event{OrganizationID: organization, Action: webhook.Upload, Data: map[string]any{"emittedAt": time.Now().UnixMicro()}}
			if err := f.DB.InTx(ctx, func(tx *storage.Tx) error { return webhook.Emit(ctx, tx, event) }); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
	want := good * webhookRounds
	for deadline := time.Now().Add(webhookSlowest); receivers.count() < want && time.Now().Before(deadline); {
		if err := process.Sleep(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
	receivers.mu.Lock()
	defer receivers.mu.Unlock()
	slices.Sort(receivers.waits)
	return &webhookResult{waits: slices.Clone(receivers.waits), missing: want - len(receivers.waits), repeated: receivers.repeated}, nil
}

// addWebhooks makes the organizations with their webhooks, and returns how many of these
// are healthy.
func addWebhooks(ctx context.Context, db *storage.DB, base string, kind func(n int) string) (organizations []int64, good int, err error) {
	sealed, err := seal.Seal(seal.Ring{[]byte(strings.Repeat("k", 32))}, seal.Webhook, "whsec_"+strings.Repeat("MDEy", 8))
	if err != nil {
		return nil, 0, err
	}
	n := 0
	for o := range webhookOrganizations {
		var id int64
		err := db.GetContext(ctx, &id, `insert into organizations (uuid, slug, name) values ($1, $2, $2) returning id`,
			uuid.New(), fmt.Sprintf("hooks-%d", o))
		if err != nil {
			return nil, 0, err
		}
		organizations = append(organizations, id)
		for range webhooksEach {
			name := kind(n)
			if name == "good" {
				good++
			}
			_, err := db.ExecContext(ctx,
				`insert into webhooks (organization_id, name, url, actions, status, secret) values ($1, $2, $3, '{upload}', 'active', $4)`,
				id, name, fmt.Sprintf("%s/%s/%d", base, name, n), sealed)
			if err != nil {
				return nil, 0, err
			}
			n++
		}
	}
	if good == 0 {
		err = errors.New("no healthy receiver")
	}
	return organizations, good, err
}
