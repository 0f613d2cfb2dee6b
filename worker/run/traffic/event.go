package traffic

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// event is what the events of the network share.
type event struct {
	Context       string  `json:"context"`
	Navigation    *string `json:"navigation"`
	RedirectCount int     `json:"redirectCount"`
	Timestamp     int64   `json:"timestamp"` // Unix, ms
	Request       struct {
		Request       string       `json:"request"`
		URL           string       `json:"url"`
		Method        string       `json:"method"`
		Headers       []headerLine `json:"headers"`
		BodySize      *int64       `json:"bodySize"`
		Destination   string       `json:"destination"`
		InitiatorType *string      `json:"initiatorType"`
		PostData      string       `json:"goog:postData"` // Chromium's own, of texts
		Timings       timings      `json:"timings"`
	} `json:"request"`
	Response *struct {
		Status        int          `json:"status"`
		StatusText    string       `json:"statusText"`
		Protocol      string       `json:"protocol"`
		MIMEType      string       `json:"mimeType"`
		FromCache     bool         `json:"fromCache"`
		Headers       []headerLine `json:"headers"`
		BytesReceived int64        `json:"bytesReceived"`
		Content       struct {
			Size int64 `json:"size"`
		} `json:"content"`
	} `json:"response"`
	ErrorText string `json:"errorText"`
}

type headerLine struct {
	Name  string `json:"name"`
	Value bytes  `json:"value"`
}

// bytes is a text, or bytes in Base64.
type bytes struct {
	Type  string `json:"type"` // string, base64
	Value string `json:"value"`
}

// data returns the bytes, and whether they came as a text.
func (b bytes) data() (data []byte, text bool, err error) {
	if b.Type != "base64" {
		return []byte(b.Value), true, nil
	}
	data, err = base64.StdEncoding.DecodeString(b.Value)
	return data, false, err
}

// timings are in ms; drivers differ in what they are relative to, so that only their
// distances count.
type timings struct {
	TimeOrigin    float64 `json:"timeOrigin"`
	FetchStart    float64 `json:"fetchStart"`
	DNSStart      float64 `json:"dnsStart"`
	DNSEnd        float64 `json:"dnsEnd"`
	ConnectStart  float64 `json:"connectStart"`
	ConnectEnd    float64 `json:"connectEnd"`
	TLSStart      float64 `json:"tlsStart"`
	RequestStart  float64 `json:"requestStart"`
	ResponseStart float64 `json:"responseStart"`
	ResponseEnd   float64 `json:"responseEnd"`
}

func (t timings) timing() Timing {
	since := func(ms float64) time.Duration {
		if ms <= t.FetchStart || ms > 1e9 {
			return 0
		}
		return time.Duration((ms - t.FetchStart) * float64(time.Millisecond))
	}
	return Timing{since(t.DNSStart), since(t.DNSEnd), since(t.ConnectStart), since(t.ConnectEnd), since(t.TLSStart),
		since(t.RequestStart), since(t.ResponseStart), since(t.ResponseEnd)}
}

// read decodes an event; nil for what is not recorded.
func read(params json.RawMessage) *event {
	var e event
	if json.Unmarshal(params, &e) != nil || e.Request.Request == "" {
		return nil
	}
	if strings.HasPrefix(e.Request.URL, "data:") || strings.HasPrefix(e.Request.URL, "blob:") {
		return nil
	}
	return &e
}

func (r *Recorder) sent(params json.RawMessage) {
	if e := read(params); e != nil {
		r.record(e, func(*Entry) {})
	}
}

func (r *Recorder) started(params json.RawMessage) {
	if e := read(params); e != nil && e.Response != nil {
		r.record(e, func(into *Entry) { into.answer(e) })
	}
}

func (r *Recorder) completed(params json.RawMessage) {
	if e := read(params); e != nil && e.Response != nil {
		r.record(e, func(into *Entry) {
			into.answer(e)
			into.Done = true
		})
	}
}

func (r *Recorder) failed(params json.RawMessage) {
	if e := read(params); e != nil {
		r.record(e, func(into *Entry) { into.Done, into.Failure = true, cut(e.ErrorText) })
	}
}

// record changes the entry of an event, or adds it.
func (r *Recorder) record(e *event, change func(*Entry)) {
	r.mu.Lock()
	r.now++
	k := key{e.Request.Request, e.RedirectCount}
	entry := r.open[k]
	if entry == nil {
		entry = r.add(k, e)
	}
	before := entry.size
	change(entry)
	if entry.Status != 0 && entry.AnsweredAt == 0 {
		entry.AnsweredAt = r.now
	}
	if entry.Done {
		delete(r.open, k)
	}
	entry.measure()
	r.size += entry.size - before
	r.shrink()
	changed := *entry
	watchers := make([]func(Entry), 0, len(r.watchers))
	for _, watch := range r.watchers {
		watchers = append(watchers, watch)
	}
	close(r.received)
	r.received = make(chan struct{})
	r.mu.Unlock()
	for _, watch := range watchers {
		watch(changed)
	}
}

// add stores the request of an event. The caller holds the lock.
func (r *Recorder) add(k key, e *event) *Entry {
	r.last++
	entry := &Entry{Number: r.last, Request: k.request, Redirects: k.redirects, Page: e.Context, Navigation: e.Navigation != nil,
		Method: cut(e.Request.Method), URL: cut(withoutFragment(e.Request.URL)), Kind: e.kind(), SentAt: r.now,
		RequestHeaders: sentHeaders(e.Request.Headers), Sent: time.UnixMilli(e.Timestamp)}
	if e.Request.BodySize != nil {
		entry.RequestSize = max(*e.Request.BodySize, 0)
	}
	if len(e.Request.PostData) <= r.cfg.MaxBody {
		entry.posted = e.Request.PostData
	}
	r.entries = append(r.entries, entry)
	r.open[k] = entry
	return entry
}

// shrink forgets the oldest entries above the bounds. The caller holds the lock.
func (r *Recorder) shrink() {
	for len(r.entries) > 1 && (len(r.entries) > r.cfg.MaxEntries || r.size > r.cfg.MaxBytes) {
		oldest := r.entries[0]
		r.entries[0] = nil
		r.entries = r.entries[1:]
		r.size -= oldest.size
		r.lost++
		delete(r.open, key{oldest.Request, oldest.Redirects})
	}
}

// kind is what a request is for.
func (e *event) kind() string {
	switch {
	case e.Request.Destination != "":
		return e.Request.Destination
	case e.Navigation != nil:
		return "document"
	case e.Request.InitiatorType != nil:
		return *e.Request.InitiatorType
	}
	return ""
}

// answer takes the response of an event.
func (e *Entry) answer(from *event) {
	answer := from.Response
	e.Status, e.StatusText, e.Protocol, e.MIMEType = answer.Status, cut(answer.StatusText), cut(answer.Protocol), cut(answer.MIMEType)
	e.FromCache, e.ResponseHeaders = answer.FromCache, headers(answer.Headers)
	e.BodySize, e.TransferSize = max(answer.Content.Size, 0), max(answer.BytesReceived, 0)
	// The browser knows now what it has sent.
	if len(from.Request.Headers) > 0 {
		e.RequestHeaders = sentHeaders(from.Request.Headers)
	}
	e.Timing = from.Request.Timings.timing()
}

// measure estimates what an entry holds, in bytes.
func (e *Entry) measure() {
	e.size = 400 + len(e.URL) + len(e.posted) + len(e.Failure) + len(e.StatusText)
	for _, list := range [][]Header{e.RequestHeaders, e.ResponseHeaders} {
		for _, h := range list {
			e.size += 32 + len(h.Name) + len(h.Value)
		}
	}
}

func headers(lines []headerLine) []Header {
	list := make([]Header, 0, min(len(lines), maxHeaders))
	for _, line := range lines[:min(len(lines), maxHeaders)] {
		value, _, err := line.Value.data()
		if err != nil {
			continue
		}
		list = append(list, Header{cut(line.Name), cut(string(value))})
	}
	return list
}

// sentHeaders returns the lines of a request, each of them once: Chromium names what it has sent
// beside what it was to send.
func sentHeaders(lines []headerLine) (list []Header) {
	for _, line := range headers(lines) {
		known := func(h Header) bool { return strings.EqualFold(h.Name, line.Name) && h.Value == line.Value }
		if !slices.ContainsFunc(list, known) {
			list = append(list, line)
		}
	}
	return list
}

// cut bounds a text, and frees what it was a part of.
func cut(text string) string {
	if len(text) > maxPart {
		return strings.Clone(strings.ToValidUTF8(text[:maxPart], ""))
	}
	return text
}

func withoutFragment(address string) string {
	address, _, _ = strings.Cut(address, "#")
	return address
}
