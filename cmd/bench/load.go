package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

// load is traffic of one kind against one server.
type load struct {
	target   *url.URL // path and query included
	samples  []sample
	conns    int
	duration time.Duration
	// rate in requests a second for all connections; 0: as fast as responses
	// arrive. With a rate, the time of a response counts from when the request
	// was due, so that a stall of the server shows in every request that waited.
	rate float64
	// render returns the requests of a connection; nil: samples are posted to target.
	render func(number int) []*request
}

// outcome is the result of the traffic.
type outcome struct {
	accepted int
	refused  map[int]int // by status
	took     time.Duration
	times    []time.Duration // sorted
}

func (o *outcome) perSecond() float64 { return float64(o.accepted) / o.took.Seconds() }

// quantile returns a quantile of the response times; 0 if there are none.
func (o *outcome) quantile(q float64) time.Duration {
	if len(o.times) == 0 {
		return 0
	}
	return o.times[min(int(q*float64(len(o.times))), len(o.times)-1)]
}

// run sends until the duration is over. The generator writes bytes to connections
// without an HTTP library: it shares the machine with the server.
func (l *load) run(ctx context.Context) (*outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, l.duration+30*time.Second)
	defer cancel()
	start := time.Now()
	end := start.Add(l.duration)
	parts := make([]outcome, l.conns)
	errs := make([]error, l.conns)
	var wg sync.WaitGroup
	for i := range l.conns {
		wg.Go(func() { parts[i], errs[i] = l.connection(ctx, i, start, end) })
	}
	wg.Wait()
	sum := &outcome{refused: map[int]int{}, took: time.Since(start)}
	for i := range parts {
		sum.accepted += parts[i].accepted
		sum.times = append(sum.times, parts[i].times...)
		for status, n := range parts[i].refused {
			sum.refused[status] += n
		}
	}
	slices.Sort(sum.times)
	return sum, errors.Join(errs...)
}

func (l *load) connection(ctx context.Context, number int, start, end time.Time) (outcome, error) {
	o := outcome{refused: map[int]int{}}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.target.Host)
	if err != nil {
		return o, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	render := l.render
	if render == nil {
		render = l.requests
	}
	requests := render(number)
	answers := bufio.NewReaderSize(conn, 64<<10)
	gap := time.Duration(0)
	due := start
	if l.rate > 0 {
		gap = time.Duration(float64(l.conns) / l.rate * float64(time.Second))
		due = start.Add(gap * time.Duration(number) / time.Duration(l.conns))
	}
	for i := 0; ; i++ {
		began := time.Now()
		if gap > 0 {
			if wait := time.Until(due); wait > 0 {
				time.Sleep(wait)
			}
			began = due
			due = due.Add(gap)
		}
		if !began.Before(end) {
			return o, nil
		}
		request := requests[i%len(requests)]
		request.renew()
		if _, err := conn.Write(request.bytes); err != nil {
			return o, fmt.Errorf("send: %w", err)
		}
		status, err := readResponse(answers)
		if err != nil {
			return o, fmt.Errorf("response: %w", err)
		}
		o.times = append(o.times, time.Since(began))
		if status == 200 {
			o.accepted++
		} else {
			o.refused[status]++
		}
	}
}

// request is a request ready to send.
type request struct {
	bytes []byte
	uuid  []byte // part of bytes
	fresh [16]byte

	number []byte // in place of a uuid: part of bytes, of numberLength digits
	next   int64
}

// numberLength digits hold numbers from firstNumber on.
const (
	numberLength = 10
	firstNumber  = 1_000_000_000
)

// requests renders some of the samples for one connection.
func (l *load) requests(number int) []*request {
	const each = 32
	out := make([]*request, 0, each)
	for i := range each {
		s := l.samples[(number*each+i)%len(l.samples)]
		head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
			l.target.RequestURI(), l.target.Host, len(s.body))
		r := &request{bytes: append([]byte(head), s.body...)}
		r.uuid = r.bytes[len(head)+s.uuid:][:len(placeholder)]
		_, _ = rand.Read(r.fresh[:])
		out = append(out, r)
	}
	return out
}

// renew writes the next number, or uuid: a random number that is counted up, which costs
// nothing and never repeats.
func (r *request) renew() {
	if r.number != nil {
		strconv.AppendInt(r.number[:0], firstNumber+r.next, 10)
		r.next++
		return
	}
	for i := 5; i >= 0; i-- {
		r.fresh[i]++
		if r.fresh[i] != 0 {
			break
		}
	}
	b := r.fresh
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	hex.Encode(r.uuid[0:8], b[0:4])
	hex.Encode(r.uuid[9:13], b[4:6])
	hex.Encode(r.uuid[14:18], b[6:8])
	hex.Encode(r.uuid[19:23], b[8:10])
	hex.Encode(r.uuid[24:36], b[10:16])
}

// readResponse reads an HTTP/1.1 response with a Content-Length and returns its status.
func readResponse(r *bufio.Reader) (int, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 12 {
		return 0, fmt.Errorf("status line %q", line)
	}
	status, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return 0, fmt.Errorf("status line %q", line)
	}
	length := -1
	for {
		line, err = r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		const name = "content-length:"
		if len(line) > len(name) && bytes.EqualFold(line[:len(name)], []byte(name)) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(name):]))); err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return 0, errors.New("response without a length")
	}
	_, err = io.CopyN(io.Discard, r, int64(length))
	return status, err
}
