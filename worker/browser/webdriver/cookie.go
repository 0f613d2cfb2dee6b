package webdriver

import "context"

// Cookie is a cookie of the current page.
type Cookie struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Path     string `json:"path,omitempty"`
	Domain   string `json:"domain,omitempty"`
	Secure   bool   `json:"secure,omitempty"`
	HTTPOnly bool   `json:"httpOnly,omitempty"`
	Expiry   int64  `json:"expiry,omitempty"` // seconds
	SameSite string `json:"sameSite,omitempty"`
}

// Cookies gives the cookies of the current page.
func (s *Session) Cookies(ctx context.Context) ([]Cookie, error) {
	var all []Cookie
	err := s.get(ctx, "/cookie", &all)
	return all, err
}

// Cookie gives a cookie of the current page by name; ErrNoSuchCookie when there is
// none.
func (s *Session) Cookie(ctx context.Context, name string) (Cookie, error) {
	var c Cookie
	if name == "" {
		return c, &Error{Code: ErrInvalidArgument, Message: "a cookie without name"}
	}
	err := s.get(ctx, "/cookie/"+part(name), &c)
	return c, err
}

// AddCookie sets a cookie.
func (s *Session) AddCookie(ctx context.Context, c Cookie) error {
	return s.post(ctx, "/cookie", map[string]any{"cookie": c}, nil)
}

// DeleteCookie removes a cookie by name, if there is one.
func (s *Session) DeleteCookie(ctx context.Context, name string) error {
	if name == "" { // the path would be that of all cookies
		return &Error{Code: ErrInvalidArgument, Message: "a cookie without name"}
	}
	return s.delete(ctx, "/cookie/"+part(name), nil)
}

// DeleteCookies removes all cookies of the current page.
func (s *Session) DeleteCookies(ctx context.Context) error { return s.delete(ctx, "/cookie", nil) }
