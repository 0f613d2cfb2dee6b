package process

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// readyTimeout bounds one question: a program that accepts connections and does not
// respond is not ready.
const readyTimeout = 5 * time.Second

// Ready reports whether /readyz of a program at a base address returns 200.
func Ready(ctx context.Context, base string) bool {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// Sleep waits, or returns the error of a context that has ended.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Repeat calls round at an interval until stop is called, which returns the first
// error; an error ends the calls.
func Repeat(ctx context.Context, every time.Duration, round func(context.Context) error) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		for {
			if Sleep(ctx, every) != nil {
				done <- nil
				return
			}
			if err := round(ctx); err != nil && !errors.Is(err, context.Canceled) && ctx.Err() == nil {
				done <- err
				return
			}
		}
	}()
	return func() error {
		cancel()
		return <-done
	}
}
