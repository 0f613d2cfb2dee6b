package count

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// greetings are the commands that prepare a new connection.
var greetings = []string{"hello", "auth", "select", "client", "readonly"}

// Hook returns a hook for clients of Redis. Each command of a pipeline counts.
func (c *Counter) Hook() redis.Hook { return hook{c} }

type hook struct{ counter *Counter }

func (h hook) command(cmd redis.Cmder) {
	if !slices.Contains(greetings, cmd.Name()) {
		h.counter.add(func(a *Asked) *[]string { return &a.Redis }, cmd.Name())
	}
}

// DialHook implements redis.Hook.
func (h hook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook implements redis.Hook.
func (h hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.command(cmd)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (h hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			h.command(cmd)
		}
		return next(ctx, cmds)
	}
}

// Transport returns what carries requests to an S3 service, counted. The addresses of
// buckets are paths: http://host:port/bucket/object.
func (c *Counter) Transport(next http.RoundTripper) http.RoundTripper { return transport{next, c} }

type transport struct {
	next    http.RoundTripper
	counter *Counter
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	of := "bucket"
	if _, object, _ := strings.Cut(strings.Trim(req.URL.Path, "/"), "/"); object != "" {
		of = "object"
	}
	t.counter.add(func(a *Asked) *[]string { return &a.Objects }, req.Method+" "+of)
	return t.next.RoundTrip(req)
}
