package failure

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// The bounds of a digest. Pack drops from the end what makes it larger.
const (
	MaxDigest  = 16 << 10 // bytes, compressed, as it is stored
	MaxOfRow   = 2 << 10  // of a job with a data row, of which a case may have 10,000
	MaxSeen    = 200      // requests
	MaxConsole = 20       // errors of the console
	maxPlain   = 1 << 20  // bytes of JSON
)

// Digest is what a job saw, as far as the next one that fails is compared with it.
type Digest struct {
	Steps    string     `json:"steps"` // the digest of the steps that were played
	Host     string     `json:"host"`  // of the address that was tested
	TookMS   int64      `json:"tookMs"`
	Network  bool       `json:"network"` // the requests are known
	Requests []Seen     `json:"requests,omitempty"`
	Console  []string   `json:"console,omitempty"` // errors, with numbers and quoted texts taken out
	Played   []Played   `json:"played,omitempty"`
	Lines    []string   `json:"lines,omitempty"` // of pages; Played names them by their places
	Build    BuildNamed `json:"-"`
}

// BuildNamed is the build that a run names.
type BuildNamed struct {
	ID   *int64
	Name string // "": the run names none
}

// Seen is an endpoint that was requested, with the last status of a response.
type Seen struct {
	Method  string `json:"m"`
	Host    string `json:"h"`
	Path    string `json:"p"`
	Own     bool   `json:"o,omitempty"` // of the host that is tested
	Status  int    `json:"s,omitempty"`
	Failure string `json:"f,omitempty"`
}

// Failed reports whether the request was not answered well.
func (s Seen) Failed() bool { return s.Status >= 400 || s.Failure != "" }

// Same reports whether two requests are of one endpoint. The host that is tested may be another
// one in another run.
func (s Seen) Same(o Seen) bool {
	return s.Method == o.Method && s.Path == o.Path && s.Own == o.Own && (s.Own || s.Host == o.Host)
}

// Played is a step.
type Played struct {
	ID     string `json:"id"`
	TookMS int64  `json:"ms"`
	// Page are the places in Lines of what the page showed for the step; nil: it is not known.
	Page []int `json:"page,omitempty"`
}

// Pack returns the stored form, of most bytes at most. Where all of it is too long it has no pages,
// and then no requests that were answered well.
func (d *Digest) Pack(most int) ([]byte, error) {
	kept := *d
	for _, shorten := range []func(*Digest){nil, (*Digest).dropPages, (*Digest).dropPassed, (*Digest).dropRest} {
		if shorten != nil {
			shorten(&kept)
		}
		doc, err := json.Marshal(&kept)
		if err != nil {
			return nil, fmt.Errorf("digest of a test job: %w", err)
		}
		var out bytes.Buffer
		w, err := flate.NewWriter(&out, flate.BestSpeed)
		if err != nil {
			return nil, fmt.Errorf("digest of a test job: %w", err)
		}
		if _, err := w.Write(doc); err != nil {
			return nil, fmt.Errorf("digest of a test job: %w", err)
		}
		if err := w.Close(); err != nil {
			return nil, fmt.Errorf("digest of a test job: %w", err)
		}
		if len(doc) <= maxPlain && out.Len() <= min(most, MaxDigest) {
			return out.Bytes(), nil
		}
	}
	return nil, fmt.Errorf("digest of a test job: it has more than %d bytes", most)
}

func (d *Digest) dropPages() {
	d.Lines = nil
	d.Played = append([]Played(nil), d.Played...)
	for i := range d.Played {
		d.Played[i].Page = nil
	}
}

func (d *Digest) dropPassed() {
	var failed []Seen
	for _, s := range d.Requests {
		if s.Failed() {
			failed = append(failed, s)
		}
	}
	d.Requests, d.Network = failed, false
}

func (d *Digest) dropRest() { d.Requests, d.Console, d.Played = nil, nil, nil }

// Unpack returns the digest of a stored form.
func Unpack(stored []byte) (*Digest, error) {
	fail := func(err error) (*Digest, error) { return nil, fmt.Errorf("stored digest of a test job: %w", err) }
	doc, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(stored)), maxPlain+1))
	if err != nil {
		return fail(err)
	}
	if len(doc) > maxPlain {
		return fail(fmt.Errorf("it has more than %d bytes", maxPlain))
	}
	d := &Digest{}
	if err := json.Unmarshal(doc, d); err != nil {
		return fail(err)
	}
	return d, nil
}

// Redacted returns a copy whose texts have passed redact.
func (d *Digest) Redacted(redact func(string) string) *Digest {
	clean := *d
	clean.Host = redact(d.Host)
	clean.Requests, clean.Console, clean.Lines = slices.Clone(d.Requests), slices.Clone(d.Console), slices.Clone(d.Lines)
	for i := range clean.Requests {
		r := &clean.Requests[i]
		r.Host, r.Path, r.Failure = redact(r.Host), redact(r.Path), redact(r.Failure)
	}
	for i := range clean.Console {
		clean.Console[i] = redact(clean.Console[i])
	}
	for i := range clean.Lines {
		clean.Lines[i] = redact(clean.Lines[i])
	}
	return &clean
}

// PageOf returns the lines of the page of a step; false where it is not known.
func (d *Digest) PageOf(id string) ([]string, bool) {
	for _, p := range d.Played {
		if p.ID != id || p.Page == nil {
			continue
		}
		lines := make([]string, 0, len(p.Page))
		for _, at := range p.Page {
			if at >= 0 && at < len(d.Lines) {
				lines = append(lines, d.Lines[at])
			}
		}
		return lines, true
	}
	return nil, false
}
