package session

import (
	"context"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

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
	s := NewScreenshotter(context.Background(), NewSession(Config{}), nil)
	defer s.Close()
	c := &capture{}
	s.encode(c, data, nil)
	return c.Data
}
