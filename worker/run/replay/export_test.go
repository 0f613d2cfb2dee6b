package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

// Debug sends a DevTools command to a window, beside the session. Its response is
// waited for a second at most: the command may be the end of the page.
func Debug(s *webdriver.Session, window, method string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := s.BiDi(ctx)
	if err != nil {
		return err
	}
	var opened struct {
		Session string `json:"session"`
	}
	if err := conn.Command(ctx, "goog:cdp.getSession", map[string]string{"context": window}, &opened); err != nil {
		return err
	}
	return conn.Command(ctx, "goog:cdp.sendCommand", map[string]string{"session": opened.Session, "method": method}, nil)
}

// Probe runs a script in the current page, after all page scripts that selectors
// need.
func Probe(ctx context.Context, s *webdriver.Session, body string, out any, args ...any) error {
	return s.Execute(ctx, page.Source("dom", "select", "css", "text", "name", "role", "element", "fingerprint", "locate")+body, out, args...)
}

// Scripts returns the page scripts as they are sent.
func Scripts() []string {
	list := []string{snapshotScript, refScript, page.HealScript, page.DragScript, page.MaskScript}
	both := func(p page.Script) {
		list = append(list, p.Of(nil, page.Selector{Type: step.CSS}), p.Of(nil, page.Selector{Type: step.ByRole}))
	}
	both(page.ObserveScript)
	for _, kinds := range []map[string]page.Script{page.ActScripts, page.ActFingerprintScripts, page.ActDriftScripts} {
		for _, p := range kinds {
			both(p)
		}
	}
	return list
}
