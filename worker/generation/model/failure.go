package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/tasks/outbound"
)

const (
	// maxFailure bounds the text of a service's error, in bytes.
	maxFailure = 300
	// maxFailureBody is how much of its body is read.
	maxFailureBody = 64 << 10
	// statusOverloaded is Anthropic's for a service that is overloaded.
	statusOverloaded = 529
)

// ServiceError is a failure of the service. Its text is shown to people.
type ServiceError struct {
	Detail string

	status     int  // of HTTP; 0: no response
	passing    bool // may pass when it is tried again
	retryAfter time.Duration
	parameter  string // that the service does not know, and that is not needed
}

func (e *ServiceError) Error() string { return e.Detail }

// unreachable is the failure of a request without a response.
func (c *Client) unreachable(err error) error {
	var forbidden *outbound.ForbiddenError
	switch {
	case errors.As(err, &forbidden):
		return &ServiceError{Detail: c.who() + " is at an address that is not allowed: " + forbidden.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return &ServiceError{Detail: c.who() + " did not answer in time", passing: true}
	}
	return &ServiceError{Detail: c.who() + " could not be reached", passing: true}
}

// unreadable is the failure of a response that is not what it should be.
func (c *Client) unreadable(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &ServiceError{Detail: c.who() + " did not complete its answer in time", passing: true}
	case errors.Is(err, outbound.ErrTooLarge):
		return &ServiceError{Detail: fmt.Sprintf("%s sent more than %d MiB", c.who(), maxResponse>>20)}
	}
	var event *streamFailure
	if errors.As(err, &event) {
		return &ServiceError{Detail: c.who() + " failed while it answered: " + c.quote(event.text), passing: true}
	}
	return &ServiceError{Detail: c.who() + " sent an answer that cannot be read: " + c.quote(err.Error()), passing: true}
}

// refused is the failure of a response with another status than 200.
func (c *Client) refused(response *http.Response) error {
	body, _ := outbound.ReadBody(response.Body, maxFailureBody) // what there is
	text := c.format.failure(body)
	status := response.StatusCode
	failed := &ServiceError{
		Detail: fmt.Sprintf("%s answered %d", c.who(), status),
		status: status,
		passing: slices.Contains([]int{http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests,
			statusOverloaded}, status) || status >= 500,
	}
	if text != "" {
		failed.Detail += ": " + c.quote(text)
	}
	if failed.passing {
		failed.retryAfter = retryAfter(response.Header, c.cfg.Now())
	}
	if status == http.StatusBadRequest || status == http.StatusUnprocessableEntity {
		failed.parameter = named(text, c.format.optional())
	}
	return failed
}

// named returns the first of the parameters that a text names: between other
// characters than those of names, so that max_tokens is not found in
// max_tokens_to_sample.
func named(text string, parameters []string) string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	for _, word := range words {
		if slices.Contains(parameters, word) {
			return word
		}
	}
	return ""
}

// retryAfter returns how long a service wants to be left alone; 0 when it does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const most = 24 * time.Hour
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, float64(most.Milliseconds())) * float64(time.Millisecond))
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > 0 {
		return time.Duration(min(s, most.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return min(at.Sub(now), most)
	}
	return 0
}

// quote returns a service's text for people: one line, bounded, without the key.
func (c *Client) quote(text string) string {
	text = strings.Join(strings.Fields(c.hideKey(text)), " ")
	if len(text) > maxFailure {
		text = strings.ToValidUTF8(text[:maxFailure], "") + "..."
	}
	return text
}
