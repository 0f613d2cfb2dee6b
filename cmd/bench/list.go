package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	listRequests = 4000
	listConns    = 2
)

// timePages asks for a page of a list again and again, on some connections at
// once, and gives how long each answer took.
func timePages(ctx context.Context, address string, authorize func(*http.Request)) ([]time.Duration, error) {
	var mu sync.Mutex
	var times []time.Duration
	var failed error
	var done sync.WaitGroup
	for range listConns {
		done.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for range listRequests / listConns {
				took, err := timePage(ctx, client, address, authorize)
				mu.Lock()
				times = append(times, took)
				if err != nil {
					failed = err
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	done.Wait()
	return times, failed
}

func timePage(ctx context.Context, client *http.Client, address string, authorize func(*http.Request)) (time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, err
	}
	authorize(r)
	start := time.Now()
	answer, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return 0, err
	}
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("list: %s", answer.Status)
	}
	return time.Since(start), nil
}
