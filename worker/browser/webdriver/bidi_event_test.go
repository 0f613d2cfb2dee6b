package webdriver_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	hold, held, seen := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var once, last sync.Once
	off := b.On("a", func(params json.RawMessage) {
		once.Do(func() { close(held); <-hold })
		got = append(got, string(params))
		if string(params) == "4999" {
			_ = b.Command(context.Background(), "x", nil, nil) // handlers may
			last.Do(func() { close(seen) })
		}
	})
	var second atomic.Int32
	b.On("a", func(json.RawMessage) { second.Add(1) })
	require.NoError(t, b.Command(within(t), "one", nil, nil))
	<-held
	require.NoError(t, b.Command(within(t), "flood", nil, nil))
	require.EqualValues(t, 4999-1024, b.Dropped(), "the handler is slow")
	close(hold)
	<-seen
	require.EqualValues(t, 5000, int64(len(got))+b.Dropped())
	require.Equal(t, "4999", got[len(got)-1])
	require.Equal(t, "3976", got[1], "1024 wait, the oldest go")
	off()
	n := len(got)
	require.Eventually(t, func() bool { return int(second.Load()) == n }, 5*time.Second, time.Millisecond)
	require.NoError(t, b.Command(within(t), "flood", nil, nil))
	require.Eventually(t, func() bool { return int64(second.Load())+b.Dropped() == 9_999 }, 5*time.Second, time.Millisecond)
	require.Len(t, got, n, "off means off")
}

func TestBiDiEventsAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	b := dial(t, func(p *peer) {
		c, _ := p.next()
		for range 10 {
			p.send(`{"type":"event","method":"a","params":"%s"}`, strings.Repeat("x", 4<<20))
		}
		p.send(`{"type":"success","id":%d,"result":{}}`, c.ID)
		p.echo()
	})
	hold, done := make(chan struct{}), make(chan struct{}, 10)
	b.On("a", func(json.RawMessage) { <-hold; done <- struct{}{} })
	require.NoError(t, b.Command(within(t), "x", nil, nil))
	require.GreaterOrEqual(t, b.Dropped(), int64(5), "one is held and at most 16 MiB wait")
	close(hold)
	<-done
}
