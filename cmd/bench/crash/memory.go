package crash

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
)

// measureMemory sends at the sustained rate and compares the memory in the second
// and the last fifth of the time.
func (b *bench) measureMemory(ctx context.Context) error {
	rate, err := b.steady(ctx)
	if err != nil {
		return err
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	type point struct {
		at    time.Duration
		bytes int64
	}
	points := make(chan []point, 1)
	start := time.Now()
	go func() {
		var all []point
		for watch.Err() == nil {
			if n, err := process.TreeMemory(b.product.Cmd.Process.Pid); err == nil {
				all = append(all, point{time.Since(start), n})
			}
			select {
			case <-watch.Done():
			case <-time.After(2 * time.Second):
			}
		}
		points <- all
	}()
	o, err := measure.Send(ctx, b.submit(b.Memory, rate))
	if err != nil {
		return err
	}
	cancel()
	all := <-points
	median := func(from, to time.Duration) int64 {
		var part []int64
		for _, p := range all {
			if p.at >= from && p.at < to {
				part = append(part, p.bytes)
			}
		}
		if len(part) == 0 {
			return 0
		}
		slices.Sort(part)
		return part[len(part)/2]
	}
	fifth := b.Memory / 5
	var trail []string
	for i := range 5 {
		trail = append(trail, fmt.Sprintf("%d", median(time.Duration(i)*fifth, time.Duration(i+1)*fifth)>>20))
	}
	early, late := median(fifth, 2*fifth), median(4*fifth, 5*fifth)
	growth := float64(late) / float64(max(early, 1))
	b.row(fmt.Sprintf("memory of the process tree by fifths of %s at %.0f/s, MiB", b.Memory, o.PerSecond()),
		strings.Join(trail, ", "), nil, "last/second below 1.1", growth < 1.1)
	return nil
}
