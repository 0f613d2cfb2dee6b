package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// hookName is the name of the webhook.
const hookName = "Demo: receiver"

// receiver takes what the server delivers, while the demo runs.
type receiver struct {
	listener net.Listener
	server   *http.Server
	taken    atomic.Int64
}

func openReceiver() (*receiver, error) {
	l, err := listen()
	if err != nil {
		return nil, err
	}
	r := &receiver{listener: l}
	r.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, q.Body, 1<<20))
		r.taken.Add(1)
		w.WriteHeader(http.StatusNoContent)
	})}
	go func() { _ = r.server.Serve(l) }()
	return r, nil
}

func (r *receiver) close() { _ = r.server.Close() }

func (r *receiver) url() string { return "http://" + r.listener.Addr().String() + "/hooks" }

// webhookID returns the webhook of the demo; 0: there is none.
func (c *client) webhookID(ctx context.Context) (int64, error) {
	var list struct {
		Webhooks []named `json:"webhooks"`
	}
	if err := c.get(ctx, "/api/v3/webhooks", url.Values{"per_page": {"100"}}, &list); err != nil {
		return 0, err
	}
	for _, w := range list.Webhooks {
		if w.Name == hookName {
			return w.ID, nil
		}
	}
	return 0, nil
}

// webhook registers the receiver before anything happens that it could hear of. One of an
// interrupted filling gets the address of this one.
func (f *filler) webhook(ctx context.Context) (string, error) {
	if !f.local {
		f.note("no webhook: its receiver is on this machine, where the server does not run")
		return "", nil
	}
	body := map[string]any{"name": hookName, "url": f.hooks.url(), "actions": []string{"upload", "feedback", "crash-group", "run"},
		"status": "active"}
	id, err := f.webhookID(ctx)
	if err != nil {
		return "", err
	}
	if id != 0 {
		err = f.call(ctx, http.MethodPut, fmt.Sprintf("/api/v3/webhooks/%d", id), body, nil)
	} else {
		err = f.call(ctx, http.MethodPost, "/api/v3/webhooks", body, nil)
	}
	if status(err) == http.StatusBadRequest {
		f.note("no webhook: the server calls no address of this machine (SLIPWAY_ALLOW_PRIVATE_ADDRESSES)")
		return "", nil
	}
	return "", err
}

// deliveries waits for what is on its way, then suspends the webhook: its receiver ends with
// this process.
func (f *filler) deliveries(ctx context.Context) (string, error) {
	id, err := f.webhookID(ctx)
	if err != nil || id == 0 {
		return "", err
	}
	const most = 2 * time.Minute
	waiting, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err = until(waiting, "the deliveries", func() (bool, error) {
		var list struct {
			Deliveries []struct {
				Status string `json:"status"`
			} `json:"deliveries"`
		}
		if err := f.get(waiting, fmt.Sprintf("/api/v3/webhooks/%d/deliveries", id), url.Values{"per_page": {"100"}}, &list); err != nil {
			return false, err
		}
		for _, d := range list.Deliveries {
			if d.Status == "pending" {
				return false, nil
			}
		}
		return len(list.Deliveries) > 0, nil
	})
	if err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
		return "", err
	}
	if err != nil {
		f.note("some deliveries of the webhook were still waiting after %s", most)
	}
	return fmt.Sprintf("%d were received; the webhook is suspended, since its receiver ends", f.hooks.taken.Load()),
		f.call(ctx, http.MethodPut, fmt.Sprintf("/api/v3/webhooks/%d", id), map[string]any{"status": "suspended"}, nil)
}
