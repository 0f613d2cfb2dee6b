package client

import (
	"context"
	"net/http"
)

// Credential says who calls.
type Credential interface {
	// Sign adds what shows it to a request.
	Sign(ctx context.Context, r *http.Request) error
}

// Key is an API key: of a person or a service account.
type Key string

// Sign sets the header X-API-Key.
func (k Key) Sign(_ context.Context, r *http.Request) error {
	r.Header.Set("X-API-Key", string(k))
	return nil
}

// String hides the key from logs.
func (Key) String() string { return "an API key" }

// GoString hides the key from logs.
func (k Key) GoString() string { return k.String() }
