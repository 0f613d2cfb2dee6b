package webdriver

import "context"

// Screenshot returns a screenshot (PNG) of what the current window shows.
func (s *Session) Screenshot(ctx context.Context) ([]byte, error) {
	var png []byte // Base64 in JSON
	err := s.get(ctx, "/screenshot", &png)
	return png, err
}

// JPEGScreenshot returns a screenshot (JPEG, quality of 100) of what the current
// window shows, where the remote end is chromedriver: the fastest way to one.
func (s *Session) JPEGScreenshot(ctx context.Context, quality int) ([]byte, error) {
	var result struct {
		Data []byte `json:"data"`
	}
	params := map[string]any{"format": "jpeg", "quality": quality, "optimizeForSpeed": true}
	body := map[string]any{"cmd": "Page.captureScreenshot", "params": params}
	err := s.post(ctx, "/goog/cdp/execute", body, &result)
	return result.Data, err
}
