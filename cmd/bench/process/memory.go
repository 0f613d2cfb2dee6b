package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Readers returns the service and its child processes that read files.
func Readers(root int) ([]int, error) {
	tree, err := Tree(root)
	if err != nil {
		return nil, err
	}
	found := []int{root}
	for _, pid := range tree[1:] {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && bytes.Contains(line, []byte("parse-files")) {
			found = append(found, pid)
		}
	}
	return found, nil
}

// ResidentMemory returns the resident memory of the service and its readers that is not
// shared with files.
func ResidentMemory(root int) int64 {
	all, _ := Readers(root)
	var sum int64
	for _, pid := range all {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		sum += statusBytes(status, "RssAnon:")
	}
	return sum
}

func statusBytes(status []byte, name string) int64 {
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10
		}
	}
	return 0
}

// SampleMemory watches the memory of the service and its readers; stop returns how much more
// than at the start it was at most.
func SampleMemory(root int) (stop func() int64) {
	before := ResidentMemory(root)
	var peak int64
	done := make(chan struct{})
	var end sync.WaitGroup
	end.Go(func() {
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for {
			peak = max(peak, ResidentMemory(root)-before)
			select {
			case <-done:
				return
			case <-ticker.C:
			}
		}
	})
	return func() int64 {
		close(done)
		end.Wait()
		return peak
	}
}

// TreeMemory returns the memory of a process and all its descendants in bytes, as
// proportional set size (PSS): a shared page counts in parts.
func TreeMemory(root int) (int64, error) {
	tree, err := Tree(root)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, pid := range tree {
		rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(rollup)) {
			if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
				kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				sum += kb << 10
			}
		}
	}
	return sum, nil
}
