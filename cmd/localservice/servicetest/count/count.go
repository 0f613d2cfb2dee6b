// Package count counts what a use case asks of its services: statements of SQL, commands
// of Redis and requests to the object store. A test states how many are enough; a query
// that became a loop is then seen by its number, on any machine and without a clock.
//
//	var counter count.Counter
//	db, err := storage.Open(storage.Config{URL: url, WrapConnector: counter.Connector})
//	asked := counter.During(func() { ... the use case ... })
//	require.LessOrEqual(t, len(asked.SQL), 7, asked)
//
// All that arrives between the begin and the end of During counts, whoever sent it: a
// test lets nothing else run meanwhile, and gives what runs by itself a pool that does
// not count. "begin" and "commit" count as statements, for each is a round trip; what
// prepares a new connection does not.
package count

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Counter counts while During runs. Its zero value can be used.
type Counter struct {
	mu    sync.Mutex
	on    bool
	asked Asked
}

// Asked is what a use case asked, in the order of time.
type Asked struct {
	SQL     []string // statements, with single spaces
	Redis   []string // names of commands
	Objects []string // methods and what they are of: "PUT object", "HEAD bucket"
}

// During runs a use case and returns what it asked. One use case is counted at a time.
func (c *Counter) During(useCase func()) Asked {
	c.mu.Lock()
	c.on, c.asked = true, Asked{}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.on = false
	}()
	useCase()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

func (c *Counter) add(list func(*Asked) *[]string, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.on {
		l := list(&c.asked)
		*l = append(*l, text)
	}
}

// String lists the statements, commands and requests, those that are alike in one line,
// the most frequent first.
func (a Asked) String() string {
	var b strings.Builder
	for _, part := range []struct {
		name string
		list []string
	}{{"statements", a.SQL}, {"Redis commands", a.Redis}, {"object requests", a.Objects}} {
		fmt.Fprintf(&b, "%d %s\n", len(part.list), part.name)
		for _, l := range alike(part.list) {
			fmt.Fprintf(&b, "%6d  %s\n", l.n, l.text)
		}
	}
	return b.String()
}

type line struct {
	text string
	n    int
}

// alike returns the different texts with their number, the most frequent first, else in
// the order of time.
func alike(list []string) (lines []line) {
	at := map[string]int{}
	for _, text := range list {
		i, known := at[text]
		if !known {
			i = len(lines)
			at[text], lines = i, append(lines, line{text: text})
		}
		lines[i].n++
	}
	slices.SortStableFunc(lines, func(a, b line) int { return b.n - a.n })
	return lines
}
