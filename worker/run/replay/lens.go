package replay

import (
	"context"
	"errors"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// devtools takes screenshots by DevTools commands in the BiDi connection of an own
// browser: 35 ms each, half of what BiDi's own takes, and half of its work for the
// browser. The own browsers have no port for a debugger.
type devtools struct {
	conn    *webdriver.BiDi
	session string // of DevTools, of one window
}

func openDevTools(ctx context.Context, s *webdriver.Session, window string) (lens, error) {
	conn, err := s.BiDi(ctx)
	if err != nil {
		return nil, err
	}
	var opened struct {
		Session string `json:"session"`
	}
	if err := conn.Command(ctx, "goog:cdp.getSession", map[string]string{"context": window}, &opened); err != nil {
		return nil, err
	}
	if opened.Session == "" {
		return nil, errors.New("a window without a DevTools session")
	}
	return &devtools{conn, opened.Session}, nil
}

func (d *devtools) picture(ctx context.Context) ([]byte, error) {
	var answer struct {
		Result struct {
			Data []byte `json:"data"`
		} `json:"result"`
	}
	err := d.conn.Command(ctx, "goog:cdp.sendCommand", map[string]any{"session": d.session, "method": "Page.captureScreenshot",
		"params": map[string]any{"format": "jpeg", "quality": quality, "optimizeForSpeed": true}}, &answer)
	return answer.Result.Data, err
}

func (d *devtools) alive() bool { return open(d.conn) }

// bidi takes screenshots over WebDriver BiDi.
type bidi struct {
	conn   *webdriver.BiDi
	window string
}

func openBiDi(ctx context.Context, s *webdriver.Session, window string) (lens, error) {
	conn, err := s.BiDi(ctx)
	if err != nil {
		return nil, err
	}
	return &bidi{conn, window}, nil
}

func (b *bidi) picture(ctx context.Context) ([]byte, error) { return b.conn.Screenshot(ctx, b.window) }

func (b *bidi) alive() bool { return open(b.conn) }

func open(conn *webdriver.BiDi) bool {
	select {
	case <-conn.Done():
		return false
	default:
		return true
	}
}
