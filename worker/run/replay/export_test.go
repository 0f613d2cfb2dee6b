package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// Debug sends a DevTools command to a window, beside the session. Its response is
// waited for a second at most: the command may be the end of the page.
func Debug(s *webdriver.Session, window, method string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	source, err := openDevToolsSource(ctx, s, window)
	if err != nil {
		return err
	}
	d := source.(*devToolsSource)
	return d.conn.Command(ctx, "goog:cdp.sendCommand", map[string]string{"session": d.session, "method": method}, nil)
}

// Screenshot takes one of a window by DevTools commands.
func Screenshot(ctx context.Context, s *webdriver.Session, window string) ([]byte, error) {
	source, err := openDevToolsSource(ctx, s, window)
	if err != nil {
		return nil, err
	}
	return source.request(ctx)()
}

// Encode returns what is kept of a screenshot.
func Encode(data []byte) []byte {
	t := newTestExecution(context.Background(), Config{})
	defer t.screenshotter.close()
	c := &capture{}
	t.screenshotter.encode(c, data, nil)
	return c.Data
}

// Probe runs a script in the current page, after all page scripts that selectors
// need.
func Probe(ctx context.Context, s *webdriver.Session, body string, out any, args ...any) error {
	return s.Execute(ctx, script("dom", "select", "css", "text", "name", "role", "element", "fingerprint", "locate")+body, out, args...)
}

// Scripts returns the page scripts as they are sent.
func Scripts() []string {
	list := []string{snapshotScript, refScript, healScript, dragScript, maskScript, observeScript.plain, observeScript.full}
	for _, kinds := range []map[string]pageScript{actScripts, actFingerprintScripts, actDriftScripts} {
		for _, p := range kinds {
			list = append(list, p.plain, p.full)
		}
	}
	return list
}
