package client

import (
	"errors"
	"io"
	"sync"
	"time"
)

// stallAfter is how long a body may stand still before the request is given up and sent again:
// a connection that is lost without a word would hold it for a quarter of an hour.
const stallAfter = time.Minute

// errStalled is the cause of a request that stood still.
var errStalled = errors.New("nothing could be sent for a minute")

// counter is a body that reports what of it was read, takes that back when the request is sent
// again, and gives up a request that stands still.
type counter struct {
	io.ReadCloser
	count func(n int64)
	read  int64

	mu    sync.Mutex
	timer *time.Timer
}

// newCounter returns a body of body. stall is called when nothing was read for stallAfter
// before the end; count (nil: nobody) hears of bytes.
func newCounter(body io.ReadCloser, count func(int64), stall func()) *counter {
	return &counter{ReadCloser: body, count: count, timer: time.AfterFunc(stallAfter, stall)}
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Reset(stallAfter)
	}
	if err != nil {
		c.still()
	}
	c.read += int64(n)
	if n > 0 && c.count != nil {
		c.count(int64(n))
	}
	return n, err
}

// Close ends the watch.
func (c *counter) Close() error {
	c.mu.Lock()
	c.still()
	c.mu.Unlock()
	return c.ReadCloser.Close()
}

func (c *counter) still() {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// takeBack uncounts what was read, and returns it: it has to be sent again.
func (c *counter) takeBack() (read int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count != nil && c.read > 0 {
		c.count(-c.read)
	}
	read, c.read, c.count = c.read, 0, nil
	return read
}
