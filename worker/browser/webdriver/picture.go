package webdriver

import "context"

// Screenshot is a picture (PNG) of what the current window shows.
func (s *Session) Screenshot(ctx context.Context) ([]byte, error) {
	var png []byte // Base64 in JSON
	err := s.get(ctx, "/screenshot", &png)
	return png, err
}

// ElementScreenshot is a picture (PNG) of an element.
func (s *Session) ElementScreenshot(ctx context.Context, e Element) ([]byte, error) {
	var png []byte
	err := s.get(ctx, "/element/"+part(string(e))+"/screenshot", &png)
	return png, err
}

// JPEGScreenshot is a picture (JPEG, quality of 100) of what the current window
// shows, where the remote end is chromedriver: the fastest way to one.
func (s *Session) JPEGScreenshot(ctx context.Context, quality int) ([]byte, error) {
	var result struct {
		Data []byte `json:"data"`
	}
	params := map[string]any{"format": "jpeg", "quality": quality, "optimizeForSpeed": true}
	err := s.CDP(ctx, "Page.captureScreenshot", params, &result)
	return result.Data, err
}

// PrintOptions say how a page is printed; lengths are centimetres, and what is
// zero is as the remote end has it: Letter, upright, margins of 1 cm.
type PrintOptions struct {
	Landscape     bool
	Background    bool // print colours and pictures of the background
	Scale         float64
	Width, Height float64
	Pages         []string // "1", "3-5"; all when empty
}

// Print gives the current page as PDF.
func (s *Session) Print(ctx context.Context, o PrintOptions) ([]byte, error) {
	body := map[string]any{"background": o.Background}
	if o.Landscape {
		body["orientation"] = "landscape"
	}
	if o.Scale != 0 {
		body["scale"] = o.Scale
	}
	size := map[string]float64{}
	if o.Width != 0 {
		size["width"] = o.Width
	}
	if o.Height != 0 {
		size["height"] = o.Height
	}
	if len(size) > 0 {
		body["page"] = size
	}
	if len(o.Pages) > 0 {
		body["pageRanges"] = o.Pages
	}
	var pdf []byte
	err := s.post(ctx, "/print", body, &pdf)
	return pdf, err
}
