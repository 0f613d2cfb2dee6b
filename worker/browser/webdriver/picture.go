package webdriver

import "context"

// Picture returns a lossless screenshot (PNG) of what a window shows, or of its whole
// document, which may be far larger: the caller knows its size.
func (b *BiDi) Picture(ctx context.Context, handle string, document bool) ([]byte, error) {
	origin := "viewport"
	if document {
		origin = "document"
	}
	var result struct {
		Data []byte `json:"data"` // Base64 in JSON
	}
	err := b.Command(ctx, "browsingContext.captureScreenshot", map[string]any{"context": handle, "origin": origin}, &result)
	return result.Data, err
}
