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
	err := devTools(ctx, s, "Page.captureScreenshot", params, &result)
	return result.Data, err
}

// devTools sends a command of the DevTools protocol, which chromedriver passes on.
func devTools(ctx context.Context, s *Session, command string, params map[string]any, result any) error {
	return s.post(ctx, "/goog/cdp/execute", map[string]any{"cmd": command, "params": params}, result)
}

// DevTools sends a command of the DevTools protocol to the current window and reads its
// result into out (nil: it is dropped). A remote end that is not chromedriver knows no
// such command.
func (s *Session) DevTools(ctx context.Context, command string, params map[string]any, out any) error {
	return devTools(ctx, s, command, params, out)
}
