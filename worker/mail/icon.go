package mail

import (
	"context"
	"io"
	"sync"

	"github.com/slipway-qa/slipway/storage/object"
)

// Icons reads icons of apps from the object store for mails that show them, and keeps
// the last ones: the thousands of mails of a notification show the same.
type Icons struct {
	objects object.Store

	mu     sync.Mutex
	byKey  map[string][]byte
	oldest []string
}

const (
	// maxIcon bounds an icon in bytes: stored ones have 256 pixels a side.
	maxIcon = 256 << 10
	// keptIcons bounds the memory that they take to 8 MiB.
	keptIcons = 32
)

// NewIcons returns an Icons.
func NewIcons(objects object.Store) *Icons {
	return &Icons{objects: objects, byKey: map[string][]byte{}}
}

// PNG returns an icon; nil when it cannot be read, is too large, or is gone.
func (s *Icons) PNG(ctx context.Context, key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if png, ok := s.byKey[key]; ok {
		return png
	}
	png, ok := s.read(ctx, key)
	if !ok {
		return nil // perhaps the next mail finds it
	}
	if len(s.oldest) == keptIcons {
		delete(s.byKey, s.oldest[0])
		s.oldest = s.oldest[1:]
	}
	s.byKey[key], s.oldest = png, append(s.oldest, key)
	return png
}

func (s *Icons) read(ctx context.Context, key string) ([]byte, bool) {
	body, _, err := s.objects.Open(ctx, key, 0, -1)
	if err != nil {
		return nil, false
	}
	defer body.Close()
	png, err := io.ReadAll(io.LimitReader(body, maxIcon+1))
	if err != nil {
		return nil, false
	}
	if len(png) > maxIcon {
		return nil, true
	}
	return png, true
}
