package trace

import (
	"context"
	"encoding/json"
	"mime"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/run/traffic"
)

const (
	// maxExchanges bounds the requests of a trace: the last ones.
	maxExchanges = 2000
	// maxBodies bounds the bodies that are asked for, those of the last requests, and
	// bodiesTimeout the time of all.
	maxBodies     = 500
	bodiesTimeout = 10 * time.Second
	// maxHeaderValue bounds the value of a header.
	maxHeaderValue = 4 << 10
)

// Traffic adds the requests of a recording, with the bodies that the browser still has.
func (r *Recorder) Traffic(ctx context.Context, of *traffic.Recorder, pages *Snapshotter) {
	if r == nil || of == nil {
		return
	}
	of.Settle(ctx)
	entries := of.Entries()
	if lost, _ := of.Lost(); lost > 0 || len(entries) > maxExchanges {
		r.Note("The network is cut: there were too many requests")
	}
	entries = entries[max(0, len(entries)-maxExchanges):]
	ctx, cancel := context.WithTimeout(ctx, bodiesTimeout)
	defer cancel()
	for i := range entries {
		var request, response traffic.Body
		if i >= len(entries)-maxBodies && ctx.Err() == nil { // a failure is at the end
			request, _ = of.RequestBody(ctx, entries[i]) // where there is none the trace has none
			response, _ = of.ResponseBody(ctx, entries[i])
		}
		r.exchange(&entries[i], request, response, pages.place(entries[i].Page))
	}
}

// place returns the number of the page that a window has; 1 for frames, and for windows
// that were never read.
func (s *Snapshotter) place(window string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, known := range s.windows {
		if known == window {
			return i + 1
		}
	}
	return 1
}

// The parts of a HAR entry, with the members that the viewer has of its own.
type (
	exchangeEvent struct {
		Type     string   `json:"type"`
		Snapshot exchange `json:"snapshot"`
	}
	exchange struct {
		StartedDateTime string         `json:"startedDateTime"`
		Time            float64        `json:"time"`
		Request         harRequest     `json:"request"`
		Response        harResponse    `json:"response"`
		Cache           struct{}       `json:"cache"`
		Timings         map[string]any `json:"timings"`
		PageRef         string         `json:"pageref"`
		MonotonicTime   float64        `json:"_monotonicTime"`
		ResourceType    string         `json:"_resourceType,omitempty"`
	}
	harRequest struct {
		Method      string      `json:"method"`
		URL         string      `json:"url"`
		HTTPVersion string      `json:"httpVersion"`
		Cookies     []pair      `json:"cookies"`
		Headers     []pair      `json:"headers"`
		QueryString []pair      `json:"queryString"`
		PostData    *harContent `json:"postData,omitempty"`
		HeadersSize int         `json:"headersSize"`
		BodySize    int64       `json:"bodySize"`
	}
	harResponse struct {
		Status       int        `json:"status"`
		StatusText   string     `json:"statusText"`
		HTTPVersion  string     `json:"httpVersion"`
		Cookies      []pair     `json:"cookies"`
		Headers      []pair     `json:"headers"`
		Content      harContent `json:"content"`
		RedirectURL  string     `json:"redirectURL"`
		HeadersSize  int        `json:"headersSize"`
		BodySize     int64      `json:"bodySize"`
		TransferSize int64      `json:"_transferSize"`
		FailureText  string     `json:"_failureText,omitempty"`
	}
	harContent struct {
		Size     int64  `json:"size"`
		MIMEType string `json:"mimeType"`
		Text     string `json:"text,omitempty"`
		Params   []pair `json:"params,omitempty"`
		SHA1     string `json:"_sha1,omitempty"`
	}
	pair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
)

func (r *Recorder) exchange(e *traffic.Entry, request, response traffic.Body, page int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	address := r.address(e.URL)
	had := exchange{StartedDateTime: e.Sent.UTC().Format("2006-01-02T15:04:05.000Z"), Time: ms(e.Timing.ResponseEnd), PageRef: pageID(page),
		MonotonicTime: r.at(e.Sent), ResourceType: r.text(e.Kind), Timings: timings(&e.Timing),
		Request: harRequest{Method: r.text(e.Method), URL: address, HTTPVersion: r.text(e.Protocol), Cookies: []pair{},
			Headers: r.headers(e.RequestHeaders), QueryString: queryPairs(address), HeadersSize: -1, BodySize: e.RequestSize},
		Response: harResponse{Status: e.Status, StatusText: r.text(e.StatusText), HTTPVersion: r.text(e.Protocol), Cookies: []pair{},
			Headers: r.headers(e.ResponseHeaders), HeadersSize: -1, BodySize: e.BodySize, TransferSize: e.TransferSize,
			FailureText: r.text(e.Failure),
			Content:     harContent{Size: e.BodySize, MIMEType: mediaType(e.MIMEType)}}}
	if e.Status == 0 {
		had.Response.Status = -1 // as the viewer has a request without a response
	}
	if e.RequestSize > 0 {
		kind := "text/plain"
		for _, h := range e.RequestHeaders {
			if strings.EqualFold(h.Name, "content-type") {
				kind = mediaType(h.Value)
			}
		}
		had.Request.PostData = &harContent{Size: e.RequestSize, MIMEType: kind, SHA1: r.body(request, kind, "")}
	}
	had.Response.Content.SHA1 = r.body(response, had.Response.Content.MIMEType, extension(e.URL))
	if line, err := json.Marshal(exchangeEvent{"resource-snapshot", had}); err == nil && r.roomFor(len(line)) {
		r.line(r.network, line)
	}
}

// body stores a body and returns the name of the resource; "" without one. A text loses its
// secrets; other bytes that hold one are left out.
func (r *Recorder) body(b traffic.Body, kind, ending string) string {
	if len(b.Data) == 0 {
		return ""
	}
	text := string(b.Data)
	clean := r.redact(text)
	if clean != text && !b.Text && !(isText(kind) && utf8.Valid(b.Data)) {
		r.note("A body with a secret is left out")
		return ""
	}
	return r.store([]byte(clean), ending, MaxResource)
}

// address returns an address without secrets, user and password.
func (r *Recorder) address(text string) string {
	if u, err := url.Parse(text); err == nil && u.User != nil {
		u.User = nil
		text = u.String()
	}
	return r.text(text)
}

// headers returns the lines of a header. Those that carry credentials by their name have no
// value.
func (r *Recorder) headers(lines []traffic.Header) []pair {
	list := make([]pair, 0, len(lines))
	for _, line := range lines {
		value := bounded(r.text(line.Value), maxHeaderValue)
		if credential(line.Name) {
			value = "***"
		}
		list = append(list, pair{r.text(line.Name), value})
	}
	return list
}

// credential reports whether a header of that name carries something that lets its bearer in.
func credential(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "cookie", "set-cookie", "cookie2", "set-cookie2":
		return true
	}
	for _, part := range []string{"authorization", "token", "secret", "password", "api-key", "apikey", "session",
		"credential", "csrf", "xsrf"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

func queryPairs(address string) []pair {
	list := []pair{}
	u, err := url.Parse(address)
	if err != nil {
		return list
	}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		if name, value, _ := strings.Cut(part, "="); name != "" && len(list) < 100 {
			list = append(list, pair{unescaped(name), unescaped(value)})
		}
	}
	return list
}

func unescaped(text string) string {
	if clean, err := url.QueryUnescape(text); err == nil {
		return clean
	}
	return text
}

func mediaType(text string) string {
	if kind, _, err := mime.ParseMediaType(text); err == nil {
		return kind
	}
	return "x-unknown"
}

func isText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "xml") ||
		strings.HasSuffix(kind, "javascript") || kind == "application/x-www-form-urlencoded"
}

// extension is that of the file of an address, for people who unpack a trace.
func extension(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	kind := strings.ToLower(strings.TrimPrefix(path.Ext(u.Path), "."))
	if len(kind) > 5 || strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return ""
	}
	return kind
}

// timings are the parts of an exchange in ms, as HAR has them: -1 for none.
func timings(t *traffic.Timing) map[string]any {
	part := func(from, to time.Duration) float64 {
		if to <= 0 || to < from {
			return -1
		}
		return ms(to - from)
	}
	return map[string]any{"blocked": -1, "dns": part(t.DNSStart, t.DNSEnd), "connect": part(t.ConnectStart, t.ConnectEnd),
		"ssl":  part(t.TLSStart, t.ConnectEnd),
		"send": 0, "wait": max(part(t.RequestStart, t.ResponseStart), 0), "receive": max(part(t.ResponseStart, t.ResponseEnd), 0)}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
