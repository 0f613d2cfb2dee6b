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

// timeListRequests requests a page of a list repeatedly, on listConns connections
// at once, and returns the time of each response.
func timeListRequests(ctx context.Context, address string, authorize func(*http.Request)) ([]time.Duration, error) {
	var mu sync.Mutex
	var times []time.Duration
	var failed error
	var done sync.WaitGroup
	for range listConns {
		done.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for range listRequests / listConns {
				took, err := timeListRequest(ctx, client, address, authorize)
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

func timeListRequest(ctx context.Context, client *http.Client, address string, authorize func(*http.Request)) (time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, err
	}
	authorize(r)
	start := time.Now()
	response, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("list: %s", response.Status)
	}
	return time.Since(start), nil
}
