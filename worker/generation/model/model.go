// Package model asks a language model what the planner is not sure of: it speaks two
// wire formats, chat completions with tools as OpenAI and those compatible with it
// have, and messages with tools as Anthropic has.
//
// Client sends one conversation and returns the next message. It retries what may
// pass, within bounds, reserves what a call may cost from a Budget before it, and
// keeps what was sent and what it cost in a Recorder.
//
// Agent answers the planner's questions with a model: how a text is to be read, as the
// goals that grammar makes of texts (the schema is in schema.go), and which of the
// things that the planner found is meant. It acts on nothing and names no element:
// goals go through the planner's own tries, effects and accounting.
//
// A page is written by somebody else, so a model that reads it is not trusted. Each
// part of a goal is a part of the text, found there word by word; what is not in it
// makes the answer wrong. Texts of pages stand between marks that they cannot write.
// Secrets are removed from everything that is sent.
//
// A model that cannot or does not answer leaves the planner as it was; a service that
// fails or a budget that is used up ends it with a *plan.FailedError of the code
// PROVIDER_ERROR.
package model

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// The wire formats.
const (
	OpenAI    = "openai"    // POST {base}/chat/completions
	Anthropic = "anthropic" // POST {base}/v1/messages
)

// The addresses of the services themselves.
const (
	openAIBase    = "https://api.openai.com/v1"
	anthropicBase = "https://api.anthropic.com"
)

// BaseURL returns the address below which a provider's service is: base, or else that
// of the company itself.
func BaseURL(provider, base string) string {
	if provider == Anthropic {
		return cmp.Or(base, anthropicBase)
	}
	return cmp.Or(base, openAIBase)
}

// Config is which model is asked, and how.
type Config struct {
	Provider string // OpenAI or Anthropic
	// BaseURL is the address below which the service is; "" is that of the company
	// itself. For OpenAI it ends with the version: https://host/v1. For Anthropic the
	// version is added unless it is there.
	BaseURL string
	Model   string
	Key     string // "": the service wants none
	// HTTP sends the requests: a guarded client. Redirects are not followed, since the
	// key would go along.
	HTTP *http.Client

	// InputPrice and OutputPrice are millionths of a US dollar for a million tokens;
	// 0: nothing is counted.
	InputPrice, OutputPrice int64
	// MaxOutput is the tokens of one answer; 4,000 by default: a call of a tool with its
	// reason has some hundred, and a model that thinks first needs more.
	MaxOutput int
	// CallTimeout bounds one request; 60 s by default. The context bounds them all.
	CallTimeout time.Duration
	// Attempts bounds the requests for one message; 4 by default.
	Attempts int
	// Backoff is the wait before the second attempt, doubled for each further one, with
	// jitter; 500 ms by default. What a service asks for by Retry-After is waited
	// instead, up to MaxRetryAfter (30 s by default): above it the attempt fails, since
	// a generation has minutes.
	Backoff, MaxRetryAfter time.Duration
	Now                    func() time.Time
}

// Client asks a model. It is safe for concurrent use.
type Client struct {
	cfg    Config
	format format
	url    string
	http   *http.Client

	mu sync.Mutex
	// without are the parameters that the service has refused.
	without map[string]bool
}

// New returns a client. It refuses a configuration that cannot work.
func New(cfg Config) (*Client, error) {
	if cfg.Model == "" {
		return nil, errors.New("model: no name of a model")
	}
	if cfg.HTTP == nil {
		return nil, errors.New("model: no HTTP client")
	}
	if cfg.InputPrice < 0 || cfg.OutputPrice < 0 {
		return nil, errors.New("model: a price below zero")
	}
	cfg.MaxOutput = cmp.Or(max(cfg.MaxOutput, 0), 4_000)
	cfg.CallTimeout = cmp.Or(max(cfg.CallTimeout, 0), time.Minute)
	cfg.Attempts = cmp.Or(max(cfg.Attempts, 0), 4)
	cfg.Backoff = cmp.Or(max(cfg.Backoff, 0), 500*time.Millisecond)
	cfg.MaxRetryAfter = cmp.Or(max(cfg.MaxRetryAfter, 0), 30*time.Second)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	c := &Client{cfg: cfg, without: map[string]bool{}}
	base := BaseURL(cfg.Provider, cfg.BaseURL)
	switch cfg.Provider {
	case OpenAI:
		c.format = openAIFormat{}
	case Anthropic:
		c.format = anthropicFormat{}
	default:
		return nil, fmt.Errorf("model: provider %q is neither %s nor %s", cfg.Provider, OpenAI, Anthropic)
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil {
		return nil, errors.New("model: the base URL is not an http or https URL")
	}
	u.Path = c.format.path(strings.TrimRight(u.Path, "/"))
	c.url = u.String()
	client := *cfg.HTTP
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Timeout = 0 // of each call, by its context
	c.http = &client
	return c, nil
}

// jitter returns between half of d and d.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }
