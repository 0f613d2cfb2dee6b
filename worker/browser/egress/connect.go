package egress

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// serveConnect connects the browser with the server that it names, until one of the
// two connections ends.
func (p *Proxy) serveConnect(w http.ResponseWriter, r *http.Request) {
	if _, port, err := net.SplitHostPort(r.Host); err != nil || port == "" {
		http.Error(w, "CONNECT needs host:port.", http.StatusBadRequest)
		return
	}
	server, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	defer server.Close()
	browser, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer browser.Close()
	_ = browser.SetDeadline(time.Time{})
	if _, err := browser.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		return
	}
	// What the browser sent without waiting for the response.
	if n := early.Reader.Buffered(); n > 0 {
		head, _ := early.Reader.Peek(n)
		if _, err := server.Write(head); err != nil {
			return
		}
	}
	p.copyBothWays(browser, server)
}

// copyBothWays copies until both ends have sent all, one fails, or neither has sent
// anything for the idle timeout.
func (p *Proxy) copyBothWays(a, b net.Conn) {
	var both sync.WaitGroup
	copyOrClose := func(to, from net.Conn) {
		if err := p.copyOneWay(to, from); err != nil {
			a.Close()
			b.Close()
		}
	}
	both.Go(func() { copyOrClose(a, b) })
	copyOrClose(b, a)
	both.Wait()
}

func (p *Proxy) copyOneWay(to, from net.Conn) error {
	buffer := p.buffers.Get()
	defer p.buffers.Put(buffer)
	for {
		// What goes the other way keeps this way alive: the deadlines of both
		// connections move with each piece.
		limit := time.Now().Add(idleTimeout)
		_ = from.SetDeadline(limit)
		_ = to.SetDeadline(limit)
		n, err := from.Read(buffer)
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			half, ok := to.(interface{ CloseWrite() error })
			if !ok {
				return err
			}
			return half.CloseWrite()
		}
		if err != nil {
			return err
		}
	}
}

// buffers is the memory for the copying of bodies.
type buffers struct{ free sync.Pool }

const bufferSize = 32 << 10

// Get returns a buffer, which belongs to the caller until Put.
func (b *buffers) Get() []byte {
	if buffer, ok := b.free.Get().(*[bufferSize]byte); ok {
		return buffer[:]
	}
	return make([]byte, bufferSize)
}

// Put takes a buffer back.
func (b *buffers) Put(buffer []byte) { b.free.Put((*[bufferSize]byte)(buffer)) }
