package pace

import (
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	// settleBytes and settleTime bound what is read of a refused body before the answer:
	// the rest of a small one, so that its connection can be used again.
	settleBytes = 256 << 10
	settleTime  = 100 * time.Millisecond
)

// Settle is for right before a failure is written. What is left of the body is read if
// that is little and there already; otherwise the connection ends with the answer, which
// net/http then writes at once instead of waiting for the rest of the body.
func Settle(c *gin.Context) {
	b, ok := c.Value(contextKey).(*Body)
	if !ok || c.Request.Body == http.NoBody || b.ended() || c.Writer.Written() {
		return
	}
	// A sender that waits for leave to send is not given it, and what is long is left.
	if c.Request.Header.Get("Expect") != "" && b.n == 0 || c.Request.ContentLength-b.n > settleBytes || !b.drain() {
		c.Header("Connection", "close")
	}
}

func (b *Body) ended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}

// drain reads a little more, and reports whether that was the end.
func (b *Body) drain() bool {
	if b.err != nil {
		return b.err == io.EOF
	}
	b.FreeAll()
	end := time.Now().Add(settleTime)
	b.rules, b.end = b.rules[:0], end
	b.arm(time.Now())
	buf := make([]byte, 8<<10)
	for n := 0; n < settleBytes && time.Now().Before(end); {
		m, err := b.src.Read(buf)
		if n += m; err != nil {
			if b.err = err; err == io.EOF {
				b.finish()
			}
			return err == io.EOF
		}
	}
	return false
}
