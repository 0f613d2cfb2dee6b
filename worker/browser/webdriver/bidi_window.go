package webdriver

import (
	"context"
	"errors"
)

// CreateUserContext creates an isolated context in the browser: its windows share
// cookies, storage and cache with no others.
func (b *BiDi) CreateUserContext(ctx context.Context) (id string, err error) {
	var result struct {
		UserContext string `json:"userContext"`
	}
	if err := b.Command(ctx, "browser.createUserContext", nil, &result); err != nil {
		return "", err
	}
	if result.UserContext == "" {
		return "", &TransportError{Err: errors.New("a user context without id")}
	}
	return result.UserContext, nil
}

// RemoveUserContext closes all windows of a context, without a chance for their
// pages to object, and deletes its data.
func (b *BiDi) RemoveUserContext(ctx context.Context, id string) error {
	return b.Command(ctx, "browser.removeUserContext", map[string]string{"userContext": id}, nil)
}

// CreateWindow opens a "tab" or "window" in a user context ("": the default one).
// The handle is that of the session's SwitchWindow.
func (b *BiDi) CreateWindow(ctx context.Context, kind, userContext string) (handle string, err error) {
	params := map[string]string{"type": kind}
	if userContext != "" {
		params["userContext"] = userContext
	}
	var result struct {
		Context string `json:"context"`
	}
	if err := b.Command(ctx, "browsingContext.create", params, &result); err != nil {
		return "", err
	}
	if result.Context == "" {
		return "", &TransportError{Err: errors.New("a window without handle")}
	}
	return result.Context, nil
}

// CloseWindow closes a window, without a chance for its page to object.
func (b *BiDi) CloseWindow(ctx context.Context, handle string) error {
	return b.Command(ctx, "browsingContext.close", map[string]string{"context": handle}, nil)
}

// SetViewport sets the size of what a window shows, in CSS pixels, whatever the size
// of the window is.
func (b *BiDi) SetViewport(ctx context.Context, handle string, width, height int) error {
	return b.Command(ctx, "browsingContext.setViewport", map[string]any{
		"context": handle, "viewport": map[string]int{"width": width, "height": height}}, nil)
}

// jpegQuality is where text of pages stays clean at a third of a PNG's size.
const jpegQuality = 0.8

// Screenshot returns a screenshot of what a window shows: JPEG, or PNG from a remote
// end that has no other.
func (b *BiDi) Screenshot(ctx context.Context, handle string) ([]byte, error) {
	var result struct {
		Data []byte `json:"data"` // Base64 in JSON
	}
	params := map[string]any{"context": handle}
	b.mu.Lock()
	jpeg := !b.noJPEG
	b.mu.Unlock()
	if jpeg {
		params["format"] = map[string]any{"type": "image/jpeg", "quality": jpegQuality}
		err := b.Command(ctx, "browsingContext.captureScreenshot", params, &result)
		if !Is(err, ErrInvalidArgument, ErrUnsupported) {
			return result.Data, err
		}
		delete(params, "format")
	}
	if err := b.Command(ctx, "browsingContext.captureScreenshot", params, &result); err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.noJPEG = b.noJPEG || jpeg // PNG worked where JPEG did not
	b.mu.Unlock()
	return result.Data, nil
}
