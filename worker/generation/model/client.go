package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"
)

const (
	// maxResponse bounds a response: an answer has some kilobytes, and one that thinks
	// aloud some hundred.
	maxResponse = 4 << 20
	// maxTokens bounds the numbers that a service says it used: they are multiplied by
	// prices.
	maxTokens = 100_000_000
	// settleTimeout bounds the settling of a budget after the context has ended.
	settleTimeout = 5 * time.Second
)

// Chat sends a conversation and returns the next message. What may pass is tried
// again: rate limits, overload, broken connections and streams, time limits of single
// requests. The error is a *ServiceError, an *OverBudgetError, one of the budget, or
// that of ctx.
func (c *Client) Chat(ctx context.Context, r *Request, budget Budget, rec *Recorder) (*Reply, error) {
	wait := c.cfg.Backoff
	dropped := map[string]bool{} // by this conversation: another may have met the same
	for attempt := 1; ; attempt++ {
		reply, err := c.call(ctx, r, budget, rec)
		var failed *ServiceError
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil || !errors.As(err, &failed) {
			return reply, err
		}
		if failed.parameter != "" && !dropped[failed.parameter] {
			dropped[failed.parameter] = true
			c.leaveOut(failed.parameter)
			attempt-- // bounded by the number of parameters
			continue
		}
		pause := jitter(wait)
		if failed.retryAfter > 0 {
			pause = failed.retryAfter
		}
		switch deadline, limited := ctx.Deadline(); {
		case !failed.passing, attempt >= c.cfg.Attempts, pause > c.cfg.MaxRetryAfter:
			return nil, failed
		case limited && time.Until(deadline) <= pause:
			return nil, failed // an earlier end that says why
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-timer.C:
		}
		wait *= 2
	}
}

// leaveOut leaves a parameter out from now on.
func (c *Client) leaveOut(parameter string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.without[parameter] = true
}

func (c *Client) leftOut() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.without)
}

// call makes one request within the budget, and records it.
func (c *Client) call(ctx context.Context, r *Request, budget Budget, rec *Recorder) (*Reply, error) {
	body, err := c.format.encode(&c.cfg, r, c.leftOut())
	if err != nil {
		return nil, err
	}
	estimate := c.amount(TokenUsage{Input: upperTokens(len(body)), Output: c.cfg.MaxOutput})
	var settle Settle
	if budget != nil {
		if settle, err = budget.Reserve(ctx, estimate); err != nil {
			return nil, err
		}
	}
	start := c.cfg.Now()
	reply, text, err := c.send(ctx, body)
	call := Call{At: start.UTC(), Request: string(body), Response: text, TookMS: c.cfg.Now().Sub(start).Milliseconds()}
	used := Amount{Calls: 1}
	var failed *ServiceError
	switch {
	case reply != nil:
		fillUsage(&reply.Usage, len(body), len(text))
		call.InputTokens, call.OutputTokens = reply.Usage.Input, reply.Usage.Output
		used = c.amount(reply.Usage)
	case errors.As(err, &failed) && failed.status >= 300:
		// What a service refuses costs nothing.
	default:
		// Nobody knows what a message that never came did cost.
		used = estimate
	}
	if err != nil {
		call.Response = strings.TrimSpace(err.Error() + "\n" + text)
	}
	if rec != nil {
		rec.add(&c.cfg, call, used.MicroUSD)
	}
	if settle == nil {
		return reply, err
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if failure := settle(late, used); failure != nil {
		return nil, errors.Join(err, failure)
	}
	return reply, err
}

// send makes one request. text is what came, for the record.
func (c *Client) send(ctx context.Context, body []byte) (reply *Reply, text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range c.format.headers(c.cfg.Key) {
		request.Header.Set(h[0], h[1])
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, "", c.unreachable(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, "", c.refused(response)
	}
	reply, text, err = c.read(response)
	if err != nil {
		err = c.unreadable(err)
	}
	return reply, c.hideKey(text), err
}

// hideKey removes the key from what a service sent: some repeat it in their errors.
func (c *Client) hideKey(text string) string {
	if len(c.cfg.Key) < 8 {
		return text
	}
	return strings.ReplaceAll(text, c.cfg.Key, "***")
}

// upperTokens is more than what n bytes of JSON come to with the tokenizers in use,
// which have about one token in three to four bytes of such text.
func upperTokens(n int) int { return n/2 + 500 }

// fillUsage replaces what a service did not say, or said wrong.
func fillUsage(u *TokenUsage, sent, received int) {
	if u.Input <= 0 {
		u.Input = sent/3 + 1
	}
	if u.Output <= 0 {
		u.Output = received/3 + 1
	}
	u.Input, u.Output = min(u.Input, maxTokens), min(u.Output, maxTokens)
}

func (c *Client) amount(u TokenUsage) Amount {
	cost := int64(u.Input)*c.cfg.InputPrice + int64(u.Output)*c.cfg.OutputPrice
	return Amount{Calls: 1, Tokens: u.Input + u.Output, MicroUSD: (cost + 999_999) / 1_000_000}
}

// who returns what a failure may say of the service: not its address.
func (c *Client) who() string { return fmt.Sprintf("the model service (%s)", c.cfg.Provider) }
