package webdriver

import "context"

// PageSource returns the source of the current page; of a native app it is the tree of
// what its screen shows, as XML.
func PageSource(ctx context.Context, s *Session) (string, error) {
	var source string
	err := s.get(ctx, "/source", &source)
	return source, err
}
