package webdriver_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBiDiEvents(t *testing.T) {
	t.Parallel()
	b := dial(t, func(p *peer) {
		for {
			c, ok := p.next()
			if !ok {
				return
			}
			if c.Method == "one" {
				p.send(`{"type":"event","method":"a","params":0}`)
			}
			if c.Method == "flood" {
				for i := 1; i < 5000; i++ {
					p.send(`{"type":"event","method":"a","params":%d}`, i)
				}
				p.send(`{"type":"event","method":"nobody's","params":{}}`)
			}
			p.send(`{"type":"success","id":%d,"result":{}}`, c.ID)
		}
	})
	var got []string
	blocked, handling, last := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var first, end sync.Once
	unsubscribe := b.On("a", func(params json.RawMessage) {
		first.Do(func() { close(handling); <-blocked })
		got = append(got, string(params))
		if string(params) == "4999" {
			_ = b.Command(context.Background(), "x", nil, nil) // handlers may
			end.Do(func() { close(last) })
		}
	})
	var second atomic.Int32
	ends := make(chan struct{}, 2)
	b.On("a", func(params json.RawMessage) {
		second.Add(1)
		if string(params) == "4999" {
			ends <- struct{}{}
		}
	})
	require.NoError(t, b.Command(within(t), "one", nil, nil))
	<-handling
	require.NoError(t, b.Command(within(t), "flood", nil, nil))
	close(blocked)
	<-last
	require.Len(t, got, 1025, "the handler is slow: one was handled and 1024 waited")
	require.Equal(t, "4999", got[len(got)-1])
	require.Equal(t, "3976", got[1], "1024 wait, the oldest go")
	unsubscribe()
	<-ends
	require.EqualValues(t, 1025, second.Load())
	require.NoError(t, b.Command(within(t), "flood", nil, nil))
	<-ends
	require.Len(t, got, 1025, "no event after unsubscribe")
}

// Who settles goes on behind the handlers of what came before, also when that is much.
func TestBiDiSettles(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3000} {
		b := dial(t, func(p *peer) {
			for {
				c, ok := p.next()
				if !ok {
					return
				}
				for i := range n {
					p.send(`{"type":"event","method":"a","params":%d}`, i+1)
				}
				p.send(`{"type":"success","id":%d,"result":{}}`, c.ID)
			}
		})
		handling, release := make(chan struct{}), make(chan struct{})
		var first sync.Once
		last := 0
		b.On("a", func(params json.RawMessage) {
			first.Do(func() { close(handling); <-release })
			_ = json.Unmarshal(params, &last)
		})
		settled := make(chan error, 1)
		go func() { settled <- b.Settle(within(t)) }()
		<-handling
		select {
		case err := <-settled:
			t.Error("an event is being handled", err)
		default:
		}
		close(release)
		require.NoError(t, <-settled)
		require.Equal(t, n, last)
		b.Close()
		require.Error(t, b.Settle(within(t)))
	}
}

func TestBiDiEventsAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	b := dial(t, func(p *peer) {
		c, _ := p.next()
		for range 10 {
			p.send(`{"type":"event","method":"a","params":"%s"}`, strings.Repeat("x", 4<<20))
		}
		p.send(`{"type":"event","method":"end","params":{}}`)
		p.send(`{"type":"success","id":%d,"result":{}}`, c.ID)
		p.echo()
	})
	blocked, end := make(chan struct{}), make(chan struct{})
	handled := 0
	b.On("a", func(json.RawMessage) { <-blocked; handled++ })
	b.On("end", func(json.RawMessage) { close(end) })
	require.NoError(t, b.Command(within(t), "x", nil, nil))
	close(blocked)
	<-end
	require.LessOrEqual(t, handled, 5, "one is handled and at most 16 MiB wait")
}
