package measure

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/process"
)

// Reading is a list that is measured; %d stands for the number of the request, so that
// not the same rows are read each time.
type Reading struct {
	Name, Path string
	Target     time.Duration
}

const (
	listRequests = 4000
	// ListConns is how many connections TimeListRequests uses.
	ListConns = 2
)

// TimeListRequests requests a page of a list repeatedly, on ListConns connections
// at once, and returns the time of each response.
func TimeListRequests(ctx context.Context, address string, authorize func(*http.Request)) ([]time.Duration, error) {
	var mu sync.Mutex
	var times []time.Duration
	var failed error
	var done sync.WaitGroup
	for range ListConns {
		done.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for range listRequests / ListConns {
				took, err := TimeListRequest(ctx, client, address, authorize)
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

// TimeListRequest requests a page of a list once and returns the time until its last byte.
func TimeListRequest(ctx context.Context, client *http.Client, address string, authorize func(*http.Request)) (time.Duration, error) {
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

// List requests a list again and again on one connection. %d in its path is a
// number of two digits, another one each time, so that no cache answers; a target of 0
// is none.
func List(ctx context.Context, p *process.Product, list Reading, requests int) error {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var times []time.Duration
	for n := range requests {
		address := p.Base + strings.ReplaceAll(list.Path, "%d", strconv.Itoa(n%90+10))
		took, err := TimeListRequest(ctx, client, address, func(r *http.Request) { r.Header.Set("X-API-Key", p.APIKey) })
		if err != nil {
			return fmt.Errorf("%s: %w", list.Name, err)
		}
		times = append(times, took)
	}
	slices.Sort(times)
	o := &Outcome{Times: times}
	p99, target := o.Quantile(0.99), ""
	if list.Target > 0 {
		target = "p99 " + Round(list.Target)
	}
	Row(list.Name, "p50 "+Round(o.Quantile(0.5))+", p99 "+Round(p99), target, list.Target == 0 || p99 <= list.Target)
	return nil
}
