package measure

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

	"github.com/slipway-qa/slipway/cmd/bench/progress"
)

// Send runs a load and fails when a request was refused.
func Send(ctx context.Context, l *Load) (*Outcome, error) {
	defer progress.Waits(ctx, fmt.Sprintf("%s of requests on %d connections", l.Duration, l.Conns))()
	o, err := l.run(ctx)
	if err != nil {
		return nil, err
	}
	if len(o.refused) > 0 {
		return nil, fmt.Errorf("refused: %v", o.refused)
	}
	return o, nil
}

// Load is traffic of one kind against one server.
type Load struct {
	Target   *url.URL // path and query included
	Samples  []Sample
	Conns    int
	Duration time.Duration
	// Rate in requests a second for all connections; 0: as fast as responses
	// arrive. With a rate, the time of a response counts from when the request
	// was due, so that a stall of the server shows in every request that waited.
	Rate float64
	// Render returns the requests of a connection; nil: samples are posted to target.
	Render func(number int) []*Request
}

// Outcome is the result of the traffic.
type Outcome struct {
	Accepted int
	refused  map[int]int // by status
	took     time.Duration
	Times    []time.Duration // sorted
}

// PerSecond is how many requests were accepted in a second.
func (o *Outcome) PerSecond() float64 { return float64(o.Accepted) / o.took.Seconds() }

// Quantile returns a quantile of the response times; 0 if there are none.
func (o *Outcome) Quantile(q float64) time.Duration {
	if len(o.Times) == 0 {
		return 0
	}
	return o.Times[min(int(q*float64(len(o.Times))), len(o.Times)-1)]
}

// run sends until the duration is over. The generator writes bytes to connections
// without an HTTP library: it shares the machine with the server.
func (l *Load) run(ctx context.Context) (*Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, l.Duration+30*time.Second)
	defer cancel()
	start := time.Now()
	end := start.Add(l.Duration)
	parts := make([]Outcome, l.Conns)
	errs := make([]error, l.Conns)
	var wg sync.WaitGroup
	for i := range l.Conns {
		wg.Go(func() { parts[i], errs[i] = l.connection(ctx, i, start, end) })
	}
	wg.Wait()
	sum := &Outcome{refused: map[int]int{}, took: time.Since(start)}
	for i := range parts {
		sum.Accepted += parts[i].Accepted
		sum.Times = append(sum.Times, parts[i].Times...)
		for status, n := range parts[i].refused {
			sum.refused[status] += n
		}
	}
	slices.Sort(sum.Times)
	return sum, errors.Join(errs...)
}

func (l *Load) connection(ctx context.Context, number int, start, end time.Time) (Outcome, error) {
	o := Outcome{refused: map[int]int{}}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.Target.Host)
	if err != nil {
		return o, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	render := l.Render
	if render == nil {
		render = l.requests
	}
	requests := render(number)
	answers := bufio.NewReaderSize(conn, 64<<10)
	gap := time.Duration(0)
	due := start
	if l.Rate > 0 {
		gap = time.Duration(float64(l.Conns) / l.Rate * float64(time.Second))
		due = start.Add(gap * time.Duration(number) / time.Duration(l.Conns))
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
		request.Renew()
		if _, err := conn.Write(request.Bytes); err != nil {
			return o, fmt.Errorf("send: %w", err)
		}
		status, err := ReadResponse(answers)
		if err != nil {
			return o, fmt.Errorf("response: %w", err)
		}
		o.Times = append(o.Times, time.Since(began))
		if status == 200 {
			o.Accepted++
		} else {
			o.refused[status]++
		}
	}
}

// Request is a request ready to send.
type Request struct {
	Bytes []byte
	uuid  []byte // part of bytes
	fresh [16]byte

	Number []byte // in place of a uuid: part of bytes, of NumberLength digits
	next   int64
}

// NumberLength digits hold numbers from firstNumber on.
const (
	NumberLength = 10
	firstNumber  = 1_000_000_000
)

// requests renders some of the samples for one connection.
func (l *Load) requests(number int) []*Request {
	const each = 32
	out := make([]*Request, 0, each)
	for i := range each {
		s := l.Samples[(number*each+i)%len(l.Samples)]
		head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
			l.Target.RequestURI(), l.Target.Host, len(s.Body))
		r := &Request{Bytes: append([]byte(head), s.Body...)}
		r.uuid = r.Bytes[len(head)+s.UUID:][:len(Placeholder)]
		_, _ = rand.Read(r.fresh[:])
		out = append(out, r)
	}
	return out
}

// Renew writes the next number, or uuid: a random number that is counted up, which costs
// nothing and never repeats.
func (r *Request) Renew() {
	if r.Number != nil {
		strconv.AppendInt(r.Number[:0], firstNumber+r.next, 10)
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

// ReadResponse reads an HTTP/1.1 response with a Content-Length and returns its status.
func ReadResponse(r *bufio.Reader) (int, error) {
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
