package session

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// devToolsSource takes screenshots by DevTools commands in the BiDi connection of a
// managed browser: 35 ms each, half of what BiDi's command takes, and half of its
// work for the browser. The managed browsers have no port for a debugger.
type devToolsSource struct {
	conn    *webdriver.BiDi
	session string // of DevTools, of one window
}

func openDevToolsSource(ctx context.Context, s *webdriver.Session, window string) (screenshotSource, error) {
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
	return &devToolsSource{conn, opened.Session}, nil
}

// request sends the command before it returns: the next step's must come after it.
func (d *devToolsSource) request(ctx context.Context) func() ([]byte, error) {
	began := time.Now()
	sent, err := d.send(ctx)
	return func() ([]byte, error) {
		for {
			if err != nil {
				return nil, err
			}
			data, refused := d.result(ctx, sent)
			// While a page replaces the former one the browser has none to capture.
			if !webdriver.Is(refused, webdriver.ErrUnknown) || time.Since(began) > screenshotWait {
				return data, refused
			}
			if err := Sleep(ctx, RetryPause); err != nil {
				return nil, err
			}
			sent, err = d.send(ctx)
		}
	}
}

func (d *devToolsSource) send(ctx context.Context) (*webdriver.SentCommand, error) {
	return d.conn.Send(ctx, "goog:cdp.sendCommand", map[string]any{"session": d.session, "method": "Page.captureScreenshot",
		"params": map[string]any{"format": "jpeg", "quality": jpegQuality, "optimizeForSpeed": true}})
}

func (d *devToolsSource) result(ctx context.Context, sent *webdriver.SentCommand) ([]byte, error) {
	var response struct {
		Result struct {
			Data []byte `json:"data"`
		} `json:"result"`
	}
	err := sent.Result(ctx, &response)
	return response.Result.Data, err
}

func (d *devToolsSource) alive() bool { return isOpen(d.conn) }

// biDiSource takes screenshots over WebDriver BiDi.
type biDiSource struct {
	conn   *webdriver.BiDi
	window string
}

func openBiDiSource(ctx context.Context, s *webdriver.Session, window string) (screenshotSource, error) {
	conn, err := s.BiDi(ctx)
	if err != nil {
		return nil, err
	}
	return &biDiSource{conn, window}, nil
}

func (b *biDiSource) request(ctx context.Context) func() ([]byte, error) {
	return func() ([]byte, error) { return b.conn.Screenshot(ctx, b.window) }
}

func (b *biDiSource) alive() bool { return isOpen(b.conn) }

func isOpen(conn *webdriver.BiDi) bool {
	select {
	case <-conn.Done():
		return false
	default:
		return true
	}
}
