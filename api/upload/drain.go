package upload

import (
	"net/http"
	"time"

	"github.com/slipway-qa/slipway/api/respond"
)

// refuse answers with the error, after it gave the sender a chance to read the
// answer.
func (in *reception) refuse(err error) {
	in.pass.leave()
	in.drain(drainBytes, drainTime)
	respond.Error(in.c, in.of, explain(err))
}

const (
	// drainBytes and drainTime are what is still read of a refused body: many
	// clients look for the answer only once they have sent everything, and one
	// that is cut off earlier shows its user a broken connection.
	drainBytes = 64 << 20
	drainTime  = 5 * time.Second
	// drainSeen is for a body whose build is there already: its sender must not
	// take a broken connection for a failure. The router's deadline ends it too.
	drainSeen = 2 * time.Hour
)

func (in *reception) drain(most int64, long time.Duration) {
	r := in.c.Request
	if r.Body == nil || in.body == nil && r.Header.Get("Expect") != "" {
		return // it waits for leave to send
	}
	if in.body != nil && in.body.err != nil {
		return
	}
	control := http.NewResponseController(in.c.Writer)
	buf := make([]byte, 64<<10)
	end := time.Now().Add(long)
	for n := int64(0); n < most && time.Now().Before(end); {
		if long < drainSeen {
			// Writers without a connection, such as tests', refuse.
			_ = control.SetReadDeadline(end)
		}
		m, err := r.Body.Read(buf)
		if n += int64(m); err != nil {
			return
		}
	}
}
