package abuse

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/people"
	"github.com/slipway-qa/slipway/cmd/bench/process"
)

const (
	floodWebhooks = 20
	floodCrashes  = 20 // a second, each for all of the attacker's webhooks
	floodTesters  = 10_000
	floodBuilds   = 20
	floodSyncs    = 20
	// arrival is how long a delivery or a mail of the victim may take to arrive.
	arrival = 10 * time.Second
)

// receiver is a server of this process. Requests below /slow are never answered; the
// others are, and counted by their path.
type receiver struct {
	server *http.Server
	base   string
	stop   chan struct{}

	mu        sync.Mutex
	seen      map[string]int
	passwords map[string]bool
	events    map[string]int // deliveries by webhook-id
}

func startReceiver() (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{base: "http://" + listener.Addr().String(), stop: make(chan struct{}), seen: map[string]int{},
		passwords: map[string]bool{}, events: map[string]int{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

func (r *receiver) close() {
	close(r.stop)
	_ = r.server.Close()
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.URL.Path == "/slow" {
		select {
		case <-r.stop:
		case <-request.Context().Done():
		}
		return
	}
	_, _ = io.Copy(io.Discard, request.Body)
	_, password, _ := request.BasicAuth()
	r.mu.Lock()
	r.seen[request.URL.Path]++
	r.passwords[password] = true
	if id := request.Header.Get("webhook-id"); id != "" {
		r.events[id]++
	}
	r.mu.Unlock()
}

// received returns the ids of the events of webhooks that have arrived, each once.
func (r *receiver) received() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.events))
}

// passwordSeen reports whether a request had the password (Basic).
func (r *receiver) passwordSeen(password string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.passwords[password]
}

func (r *receiver) count(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[path]
}

// until polls until done returns true or ctx ends.
func until(ctx context.Context, done func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, 2*probeTimeout)
	defer cancel()
	for {
		if ok, err := done(ctx); ok || err != nil {
			return err
		}
		if err := process.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// webhooks has the attacker's crashes delivered to receivers that never respond.
func (b *bench) webhooks(ctx context.Context) error {
	t, err := b.startTarget(ctx)
	if err != nil {
		return err
	}
	defer t.stop()
	r, err := startReceiver()
	if err != nil {
		return err
	}
	defer r.close()
	add := func(t *tenant, path, action string) error {
		return t.v3(ctx, http.MethodPost, "/webhooks", map[string]any{"name": "hook", "url": r.base + path, "actions": []string{action}}, nil)
	}
	for range floodWebhooks {
		if err := add(t.attacker, "/slow", "crash"); err != nil {
			return err
		}
	}
	if err := add(t.victim, "/victim", "upload"); err != nil {
		return err
	}
	client := probeClient()
	probes := append(t.victim.probes()[1:], probe{name: "webhook of an upload until it arrives", every: 500 * time.Millisecond,
		most: arrival, once: func(ctx context.Context) error {
			before := r.count("/victim")
			if err := t.victim.uploadApp(ctx, client); err != nil {
				return err
			}
			return until(ctx, func(context.Context) (bool, error) { return r.count("/victim") > before, nil })
		}})
	reports := measure.Samples(64, 4<<10)
	return b.compare(ctx, fmt.Sprintf("%d deliveries a second to receivers that never respond", floodWebhooks*floodCrashes),
		probes, func(ctx context.Context) error {
			for n := 0; process.Sleep(ctx, time.Second/floodCrashes) == nil; n++ {
				_ = t.attacker.send(ctx, client, http.MethodPost, "/post?format=json&token="+t.attacker.Token, "application/json",
					reports[n%len(reports)].With(uuid.New()))
			}
			return nil
		})
}

// mails has the attacker mail many testers about many builds.
func (b *bench) mails(ctx context.Context) error {
	sink, err := people.StartMailSink()
	if err != nil {
		return err
	}
	defer sink.Close()
	t, err := b.startTarget(ctx, "--smtp-url", "smtp://"+sink.Address+"?tls=none", "--mail-from", "qa@slipway.example")
	if err != nil {
		return err
	}
	defer t.stop()
	var people []string
	for n := range floodTesters {
		people = append(people, fmt.Sprintf("tester%d@attacker.example", n))
	}
	const mine = "tester@victim.example"
	for _, x := range []struct {
		*tenant
		people []string
	}{{t.attacker, people}, {t.victim, []string{mine}}} {
		if err := x.v3(ctx, http.MethodPost, "/groups", map[string]any{"name": "all"}, nil); err != nil {
			return err
		}
		if err := x.v3(ctx, http.MethodPost, "/testers", map[string]any{"emails": x.people, "groups": []string{"all"}}, nil); err != nil {
			return err
		}
	}
	client := probeClient()
	notify := func(ctx context.Context, t *tenant) error {
		return t.uploadApp(ctx, client, "groups", "all", "notify", "on")
	}
	probes := append(t.victim.probes()[1:], probe{name: "mail of an upload until it arrives", every: 500 * time.Millisecond,
		most: arrival, once: func(ctx context.Context) error {
			before := sink.CountFor(mine)
			if err := notify(ctx, t.victim); err != nil {
				return err
			}
			return until(ctx, func(context.Context) (bool, error) { return sink.CountFor(mine) > before, nil })
		}})
	return b.compare(ctx, fmt.Sprintf("%d builds announced to %d testers each", floodBuilds, floodTesters), probes,
		func(ctx context.Context) error {
			for range floodBuilds {
				if err := notify(ctx, t.attacker); err != nil && ctx.Err() == nil && !refusedWith(err) {
					return err
				}
			}
			<-ctx.Done()
			return nil
		})
}

// tarpit copies builds of two organizations to a storage that never responds: one
// organization has one copy at a time. The victim has a storage that does, and symbols that
// are to be read.
func (b *bench) tarpit(ctx context.Context) error {
	t, err := b.startTarget(ctx)
	if err != nil {
		return err
	}
	defer t.stop()
	r, err := startReceiver()
	if err != nil {
		return err
	}
	defer r.close()
	second, err := newTenant(ctx, t.product, b.program, append(os.Environ(), "SLIPWAY_DATABASE_URL="+t.product.Database), "second")
	if err != nil {
		return err
	}
	attackers := []*tenant{t.attacker, second}
	for _, x := range append(attackers, t.victim) {
		path := "/slow"
		if x == t.victim {
			path = "/victim"
		}
		if err := x.v3(ctx, http.MethodPut, "/settings/storage", map[string]any{"kind": "http", "endpoint": r.base + path,
			"access_key": "a", "secret": "s"}, nil); err != nil {
			return err
		}
	}
	client := probeClient()
	probes := append(t.victim.probes(),
		probe{name: "copy of a build until it has arrived", every: 500 * time.Millisecond, most: arrival, once: func(ctx context.Context) error {
			before := r.count("/victim")
			if err := t.victim.uploadApp(ctx, client, "sync_to_slipway", "on"); err != nil {
				return err
			}
			return until(ctx, func(context.Context) (bool, error) { return r.count("/victim") > before, nil })
		}},
		probe{name: "symbols until they are read", every: 500 * time.Millisecond, most: arrival,
			once: func(ctx context.Context) error { return t.victim.probeSymbols(ctx, client) }})
	return b.compare(ctx, fmt.Sprintf("%d copies of two organizations to a storage that never responds", floodSyncs),
		probes, func(ctx context.Context) error {
			group, posting := errgroup.WithContext(ctx)
			group.SetLimit(posters)
			for n := range floodSyncs {
				group.Go(func() error {
					return attackers[n%len(attackers)].uploadApp(posting, client, "sync_to_slipway", "on")
				})
			}
			if err := group.Wait(); err != nil && ctx.Err() == nil {
				return err
			}
			<-ctx.Done()
			return nil
		})
}

// probeSymbols uploads a mapping and waits until it is read.
func (t *tenant) probeSymbols(ctx context.Context, client *http.Client) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("format", "proguard")
	part, err := form.CreateFormFile("file", "mapping.txt")
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(part, "com.example.Checkout -> a.a:\n    int total%s -> a\n    1:5:void pay():10:14 -> b\n", uuid.NewString()[:8])
	if err := form.Close(); err != nil {
		return err
	}
	if err := t.send(ctx, client, http.MethodPost, "/api/v3/symbols", form.FormDataContentType(), body.Bytes()); err != nil {
		return err
	}
	return until(ctx, func(ctx context.Context) (bool, error) {
		var list struct{ Symbols []struct{ ID int64 } }
		err := t.v3(ctx, http.MethodGet, "/symbols?state=pending&per_page=1", nil, &list)
		return err == nil && len(list.Symbols) == 0, err
	})
}
