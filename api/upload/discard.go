package upload

import (
	"net/http"
	"time"
)

const (
	// discardBytes and discardTime bound what is still read of a refused body: many
	// clients look for the response only once they have sent everything, and one
	// that is cut off earlier shows its user a broken connection.
	discardBytes = 64 << 20
	discardTime  = 5 * time.Second
	// discardRepeated is the time for a body whose build is there already: its
	// sender must not take a broken connection for a failure. The router's deadline
	// ends it too.
	discardRepeated = 2 * time.Hour
)

// discardBody reads the rest of the body, so that the sender reads the response.
func (r *receiver) discardBody(limit int64, timeout time.Duration) {
	request := r.c.Request
	if request.Body == nil || r.body == nil && request.Header.Get("Expect") != "" {
		return // the sender waits for leave to send
	}
	if r.body != nil && r.body.err != nil {
		return
	}
	control := http.NewResponseController(r.c.Writer)
	buf := make([]byte, 64<<10)
	end := time.Now().Add(timeout)
	for n := int64(0); n < limit && time.Now().Before(end); {
		if timeout < discardRepeated {
			// Writers without a connection, such as those of tests, refuse.
			_ = control.SetReadDeadline(end)
		}
		m, err := request.Body.Read(buf)
		if n += int64(m); err != nil {
			return
		}
	}
}
