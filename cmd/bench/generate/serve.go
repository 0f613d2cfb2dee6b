package generate

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/generation"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// folderServer serves a folder on an address of this machine.
type folderServer struct {
	server *http.Server
	base   string
}

func serveFolder(dir string) (*folderServer, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &folderServer{server: &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: 10 * time.Second},
		base: "http://" + listener.Addr().String()}
	go func() { _ = f.server.Serve(listener) }()
	return f, nil
}

func (f *folderServer) close() { _ = f.server.Close() }

// job returns what an author needs for one test, without a judge.
func (b *bench) job(intent, address string) generation.Job {
	return generation.Job{Intent: intent, TestURL: address, MaxSteps: 100, Now: time.Now,
		Lookup: func(step.Reference) (string, bool, bool) { return "", false, false },
		Acquire: func(ctx context.Context) (*browser.Lease, error) {
			return b.engine.Pool.Acquire(ctx,
				browser.Request{Target: capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}})
		},
		Release: func(ctx context.Context, lease *browser.Lease, broken bool) { lease.Release(ctx, broken) },
		Capture: func(context.Context, replay.Artifact) string { return "" }}
}
