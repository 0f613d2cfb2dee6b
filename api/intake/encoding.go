package intake

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"

	"github.com/slipway-qa/slipway/api/pace"
)

const (
	// A body that inflates to more than inflateFree bytes may be at most
	// inflateRatio times as long as what came over the wire. JSON reports
	// shrink about ten to thirty times, dumps with zeroed pages a hundred
	// times; deflate ends at about a thousand.
	inflateRatio = 256
	inflateFree  = 1 << 20
)

// body is the inflated body of a request, bounded.
type body struct {
	wire     wire
	inflater *inflater // nil: the body is as it came
	most     int64
	n        int64
	err      error // the first failure, other than the end
	// lenient takes a stream that was cut off for one that ends there: see report.Mend.
	lenient bool
}

// wire reads what came over the network and remembers how it failed: the
// inflaters turn such errors into their own.
type wire struct {
	r   io.Reader
	n   int64
	err error
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.n += int64(n)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

// Read reads inflated bytes; its errors are failures.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	var n int
	var err error
	if b.inflater == nil {
		n, err = b.wire.Read(p)
	} else {
		n, err = b.inflater.current.Read(p)
	}
	b.n += int64(n)
	switch {
	case b.wire.err != nil:
		b.err = bodyFailure(b.wire.err)
	case b.n > b.most:
		b.err = tooLarge("the body is longer than %d bytes", b.most)
	case b.inflater != nil && b.n > inflateFree && b.n/inflateRatio > b.wire.n:
		b.err = tooLarge("the body inflates to more than %d times its length", inflateRatio)
	case err == nil || err == io.EOF:
		return n, err
	case b.lenient && errors.Is(err, io.ErrUnexpectedEOF):
		return n, io.EOF
	default:
		b.err = encodingFailure("the body cannot be inflated: it is damaged or not of its Content-Encoding")
	}
	return n, b.err
}

// bodyFailure names how a body failed to arrive.
func bodyFailure(err error) error {
	var mbe *http.MaxBytesError
	var slow *pace.SlowError
	switch {
	case errors.As(err, &mbe):
		return tooLarge("the body is longer than %d bytes", mbe.Limit)
	case errors.As(err, &slow) && slow.Evicted:
		return unavailable(slow.Error(), slow) // clients send again what was not served
	}
	return malformed("the body ended early or did not arrive in time")
}

// sniff inflates a body that is gzip and does not say so: a page that sends a beacon cannot
// set the header. No report begins with these bytes.
func (b *body) sniff(r *Receiver) error {
	if b.inflater != nil {
		return nil
	}
	var head [2]byte
	n, err := io.ReadFull(&b.wire, head[:])
	if b.wire.err != nil {
		return bodyFailure(b.wire.err)
	}
	b.wire.n -= int64(n)
	b.wire.r = io.MultiReader(bytes.NewReader(head[:n]), b.wire.r)
	if err != nil || head != [2]byte{0x1f, 0x8b} {
		return nil
	}
	return b.inflate(r, "gzip")
}

// close returns the inflater back.
func (b *body) close(r *Receiver) {
	if b.inflater != nil {
		b.inflater.source.Reset(nothing{})
		r.inflate.Put(b.inflater)
		b.inflater = nil
	}
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

// open prepares reading the body in its Content-Encoding, once something of it has come.
func (b *body) open(r *Receiver, req *http.Request, arriving *pace.Body) error {
	if err := arriving.First(); err != nil {
		return bodyFailure(err)
	}
	b.wire.r, b.most = req.Body, r.cfg.Limits.Body
	values := req.Header["Content-Encoding"]
	if len(values) == 0 {
		return nil
	}
	encoding, err := contentEncoding(values)
	if err != nil || encoding == "" {
		return err
	}
	return b.inflate(r, encoding)
}

// inflate begins to inflate.
func (b *body) inflate(r *Receiver, encoding string) error {
	inf := r.inflate.Get().(*inflater)
	b.inflater = inf
	if err := inf.reset(&b.wire, encoding); err != nil {
		if b.wire.err != nil {
			return bodyFailure(b.wire.err)
		}
		return encodingFailure("the body is not " + encoding + ", which its Content-Encoding says")
	}
	return nil
}

// contentEncoding returns gzip, deflate or "" (as it is).
func contentEncoding(values []string) (string, error) {
	found := ""
	for _, value := range values {
		for one := range strings.SplitSeq(value, ",") {
			one = strings.ToLower(strings.TrimSpace(one))
			switch one {
			case "", "identity":
				continue
			case "x-gzip":
				one = "gzip"
			case "gzip", "deflate":
			default:
				return "", encodingFailure("Content-Encoding: must be gzip, deflate or identity")
			}
			if found != "" {
				return "", encodingFailure("Content-Encoding: encodings cannot be stacked")
			}
			found = one
		}
	}
	return found, nil
}

// inflater keeps the windows and tables of the inflaters between requests.
type inflater struct {
	source  *bufio.Reader
	gzip    *gzip.Reader
	zlib    io.ReadCloser
	raw     io.ReadCloser
	current io.Reader
}

func newInflater() *inflater { return &inflater{source: bufio.NewReader(nothing{})} }

// reset begins a new body. The encoding named deflate is zlib by the standard
// (RFC 9110, 8.4.1.2), but some clients send the bare deflate stream: the
// header tells them apart.
func (f *inflater) reset(src io.Reader, encoding string) error {
	f.source.Reset(src)
	f.current = nil
	if encoding == "gzip" {
		if f.gzip == nil {
			f.gzip = new(gzip.Reader)
		}
		f.current = f.gzip
		return f.gzip.Reset(f.source)
	}
	head, err := f.source.Peek(2)
	if err != nil {
		return err
	}
	if head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		if f.zlib != nil {
			f.current = f.zlib
			return f.zlib.(zlib.Resetter).Reset(f.source, nil)
		}
		f.zlib, err = zlib.NewReader(f.source)
		f.current = f.zlib
		return err
	}
	if f.raw == nil {
		f.raw = flate.NewReader(f.source)
	} else if err := f.raw.(flate.Resetter).Reset(f.source, nil); err != nil {
		return err
	}
	f.current = f.raw
	return nil
}
