package egress

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/slipway-qa/slipway/tasks/outbound"
)

// troubles are the last connections that failed.
type troubles struct {
	mu   sync.Mutex
	ring [128]trouble
	next int
}

type trouble struct {
	at         time.Time
	host, text string
}

// add stores what went wrong and returns it in words that name no address.
func (t *troubles) add(host string, err error) string {
	text := "the server cannot be reached"
	var forbidden *outbound.ForbiddenError
	var lookup *net.DNSError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &forbidden):
		text = forbidden.Error()
	case errors.As(err, &lookup):
		text = "the server cannot be reached: " + lookup.Err
	case errors.Is(err, syscall.ECONNREFUSED):
		text = "the server cannot be reached: connection refused"
	case errors.Is(err, syscall.ECONNRESET):
		text = "the server cannot be reached: connection reset"
	case errors.As(err, &untrusted):
		text = "the certificate of the server is not trusted"
	case isTimeout(err):
		text = "the server cannot be reached: timeout"
	}
	if strings.HasPrefix(err.Error(), "the tunnel: ") {
		text = "through the tunnel, " + text
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ring[t.next%len(t.ring)] = trouble{time.Now(), strings.ToLower(host), text}
	t.next++
	return text
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// Trouble returns what last went wrong with a host since a time, in words for
// people; ok is false when nothing did. The proxy keeps the last 128 failures.
func (p *Proxy) Trouble(host string, since time.Time) (text string, ok bool) {
	host = strings.ToLower(host)
	t := &p.troubles
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range len(t.ring) {
		entry := t.ring[(t.next+2*len(t.ring)-1-i)%len(t.ring)]
		if entry.host == host && !entry.at.Before(since) && !entry.at.IsZero() {
			return entry.text, true
		}
	}
	return "", false
}
