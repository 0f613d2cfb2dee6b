package abuse

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
)

const (
	trickleTokens = 50
	trickleConns  = 15_000
	// trickleSources keeps the connections of one source below the number of ports.
	trickleSources = 20
)

// crashTrickle opens connections with 50 tokens of the attacker, each of which begins a
// report and goes on byte by byte. What comes first is a byte, and in a second round 2 KiB:
// a receiver that waits for a first part before it reserves memory has seen one.
func (b *bench) crashTrickle(ctx context.Context) error {
	for _, first := range []int{1, 2 << 10} {
		if err := b.crashTrickleFrom(ctx, first); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) crashTrickleFrom(ctx context.Context, first int) error {
	t, err := b.startTarget(ctx)
	if err != nil {
		return err
	}
	defer t.stop()
	tokens := make([]string, trickleTokens)
	for i := range tokens {
		var made struct{ Secret string }
		if err := t.attacker.v3(ctx, http.MethodPost, fmt.Sprintf("/crash-projects/%d/tokens", t.attacker.crashProject),
			map[string]any{}, &made); err != nil {
			return err
		}
		tokens[i] = made.Secret
	}
	host := strings.TrimPrefix(t.product.Base, "http://")
	begun := `{"a":"` + strings.Repeat("a", first)
	slow := &trickle{address: host, conns: trickleConns, sources: trickleSources, piece: []byte("a"), pause: 5 * time.Second,
		head: func(n int) string {
			return fmt.Sprintf("POST /post?format=json&token=%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
				"Content-Length: 65536\r\n\r\n%s",
				tokens[n%len(tokens)], host, begun[:first])
		}}
	return b.compare(ctx, fmt.Sprintf("%d connections with %d crash tokens, %d bytes each and then one every 5 s",
		trickleConns, trickleTokens, first),
		t.victim.probes(), slow.run)
}

const (
	bogusConns = 64
	bogusRate  = 5000 // requests a second
)

// bogusTokens sends reports with tokens that nobody has, and counts what the log holds of
// them.
func (b *bench) bogusTokens(ctx context.Context) error {
	t, err := b.startTarget(ctx, "--log-level", "info")
	if err != nil {
		return err
	}
	defer t.stop()
	host := strings.TrimPrefix(t.product.Base, "http://")
	flood := &bogus{host: host, statuses: map[int]int{}}
	log := filepath.Join(t.product.Dir, "log")
	before, err := os.Stat(log)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := b.compare(ctx, fmt.Sprintf("%d reports a second with tokens that nobody has", bogusRate), t.victim.probes(),
		flood.run); err != nil {
		return err
	}
	after, err := os.Stat(log)
	if err != nil {
		return err
	}
	// The probes' own lines are among the bytes: some KB a second.
	written := after.Size() - before.Size()
	b.row("", fmt.Sprintf("log of %s", time.Since(began).Round(time.Second)), "",
		fmt.Sprintf("%.1f MB, %d bytes a request; statuses %v", float64(written)/1e6, written/max(1, flood.sent.Load()), flood.statuses),
		"10 bytes a request", written < 10*flood.sent.Load())
	return nil
}

// bogus sends requests with random tokens on some connections.
type bogus struct {
	host string
	sent atomic.Int64

	mu       sync.Mutex
	statuses map[int]int
}

func (f *bogus) run(ctx context.Context) error {
	var done sync.WaitGroup
	for n := range bogusConns {
		done.Go(func() {
			for ctx.Err() == nil {
				f.connection(ctx, n)
				if process.Sleep(ctx, again) != nil {
					return
				}
			}
		})
	}
	done.Wait()
	return nil
}

// connection sends until the server ends the connection.
func (f *bogus) connection(ctx context.Context, number int) {
	conn, err := from(1).DialContext(ctx, "tcp", f.host)
	if err != nil {
		return
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	answers := bufio.NewReader(conn)
	pace := time.NewTicker(time.Second * bogusConns / bogusRate)
	defer pace.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pace.C:
		}
		token := strings.ReplaceAll(uuid.NewString()+uuid.NewString(), "-", "")
		if _, err := fmt.Fprintf(conn, "POST /post?format=json&token=%s HTTP/1.1\r\nHost: %s\r\nContent-Length: 2\r\n\r\n{}",
			token, f.host); err != nil {
			return
		}
		status, err := measure.ReadResponse(answers)
		if err != nil {
			return
		}
		f.sent.Add(1)
		f.mu.Lock()
		f.statuses[status]++
		f.mu.Unlock()
	}
}

// searchConns is how many searches the attacker has at once.
const searchConns = 100

// searches lets the attacker, which has many crashes, search among them again and again.
func (b *bench) searches(ctx context.Context) error {
	t, err := b.startTarget(ctx)
	if err != nil {
		return err
	}
	defer t.stop()
	owner := *t.product // the organization of the first start, whose project is the first
	attacker := &tenant{Product: owner}
	if err := fillSearched(ctx, t.product.Database); err != nil {
		return err
	}
	day := func(ago int) string { return time.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }
	paths := []string{"/crash-groups?search=ch", "/crash-groups?sort=count&from=" + day(40) + "T06:00&to=" + day(1) + "T18:00",
		"/crash-groups?attribute.customer=acme&attribute.os=Linux", "/crash-attributes", "/crash-groups?attribute.cpu.count=8"}
	return b.compare(ctx, fmt.Sprintf("%d searches at once among %d crashes", searchConns, searchedCrashes), t.victim.probes(),
		func(ctx context.Context) error {
			var done sync.WaitGroup
			for n := range searchConns {
				done.Go(func() {
					for i := n; ctx.Err() == nil; i++ {
						err := attacker.v3(ctx, http.MethodGet, paths[i%len(paths)], nil, nil)
						var refused *statusError
						if err != nil && !errors.As(err, &refused) {
							_ = process.Sleep(ctx, again)
						}
					}
				})
			}
			done.Wait()
			return nil
		})
}
