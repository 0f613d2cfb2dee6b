package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// Dozens of cases wait for it.
func init() { grace = 500 * time.Millisecond }

// Debug sends a DevTools command to a window, beside the session. Its answer is not
// waited for longer than a moment: the command may be the end of the page.
func Debug(s *webdriver.Session, window, method string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	l, err := openDevTools(ctx, s, window)
	if err != nil {
		return err
	}
	d := l.(*devtools)
	return d.conn.Command(ctx, "goog:cdp.sendCommand", map[string]string{"session": d.session, "method": method}, nil)
}

// Develop gives what is kept of a capture.
func Develop(data []byte) []byte {
	p := newPlayer(context.Background(), Config{})
	defer p.camera.close()
	r := &roll{}
	p.camera.develop(r, data, nil)
	return r.Data
}
