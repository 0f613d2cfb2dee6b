package abuse

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/process"
)

// trickle is a number of connections that send a request slowly and never end it. One
// that is closed or answered is opened again.
type trickle struct {
	address string
	conns   int
	// sources is the number of addresses that the connections come from.
	sources int
	// head is sent at once, then piece every pause.
	head  func(number int) string
	piece []byte
	pause time.Duration

	opened   atomic.Int64
	mu       sync.Mutex
	statuses map[string]int // responses
}

// again is the pause before a connection is opened again, so that the attack is not one
// on the sending machine.
const again = 250 * time.Millisecond

// dials is how many connections are opened at once.
const dials = 64

// run holds the connections until ctx ends.
func (t *trickle) run(ctx context.Context) error {
	t.statuses = map[string]int{}
	places := make(chan struct{}, dials)
	var done sync.WaitGroup
	for n := range t.conns {
		done.Go(func() {
			for ctx.Err() == nil {
				t.connection(ctx, n, places)
				if process.Sleep(ctx, again) != nil {
					return
				}
			}
		})
	}
	done.Wait()
	return nil
}

func (t *trickle) connection(ctx context.Context, number int, places chan struct{}) {
	select {
	case places <- struct{}{}:
	case <-ctx.Done():
		return
	}
	conn, err := from(1+number%t.sources).DialContext(ctx, "tcp", t.address)
	<-places
	if err != nil {
		return
	}
	defer conn.Close()
	t.opened.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	go func() {
		defer cancel()
		t.read(conn)
	}()
	if _, err := conn.Write([]byte(t.head(number))); err != nil {
		return
	}
	for process.Sleep(ctx, t.pause) == nil {
		if _, err := conn.Write(t.piece); err != nil {
			return
		}
	}
}

// read waits for the response or the end of the connection.
func (t *trickle) read(conn net.Conn) {
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return
	}
	_ = response.Body.Close()
	t.mu.Lock()
	t.statuses[response.Status]++
	t.mu.Unlock()
}

// uploadHead returns the beginning of an upload of 1 GiB. header is one more line, or "".
func uploadHead(host, header string) string {
	return "POST /api/upload HTTP/1.1\r\nHost: " + host + "\r\n" + header +
		"Content-Type: multipart/form-data; boundary=slow\r\nContent-Length: 1073741824\r\n\r\n" +
		"--slow\r\nContent-Disposition: form-data; name=\"file\"; filename=\"shop.ipa\"\r\n\r\nPK\x03\x04"
}

// slowPiece every slowPause is a rate of 8 KiB a second.
const (
	slowPiece = 8 << 10
	slowPause = time.Second
)

// uploadsSlow sends many slow uploads with one key.
func (b *bench) uploadsSlow(ctx context.Context) error {
	t, err := b.startTarget(ctx)
	if err != nil {
		return err
	}
	defer t.stop()
	host := strings.TrimPrefix(t.product.Base, "http://")
	slow := &trickle{address: host, conns: 190, sources: 1, piece: make([]byte, slowPiece), pause: slowPause,
		head: func(int) string { return uploadHead(host, "X-API-Key: "+t.attacker.APIKey+"\r\n") }}
	return b.compare(ctx, "190 slow uploads with one key", t.victim.probes(), slow.run)
}

// uploadsAnonymous sends many slow uploads whose key never comes, from 20 addresses.
func (b *bench) uploadsAnonymous(ctx context.Context) error {
	t, err := b.startTarget(ctx)
	if err != nil {
		return err
	}
	defer t.stop()
	host := strings.TrimPrefix(t.product.Base, "http://")
	slow := &trickle{address: host, conns: 160, sources: 20, piece: make([]byte, slowPiece), pause: slowPause,
		head: func(int) string { return uploadHead(host, "") }}
	return b.compare(ctx, "160 slow uploads without a key", t.victim.probes(), slow.run)
}
