package agent

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Handler answers agents over streamable HTTP without sessions: each request stands for
// itself, so that any process may take it. Authentication, the check of the Origin, and the
// bounds of callers are its caller's.
type Handler struct {
	cfg Config

	mu      sync.Mutex
	servers map[string]http.Handler // by the kinds of changes: sixteen at most
}

// NewHandler returns a handler; Config.Writes is of no meaning to it.
func NewHandler(cfg Config) (*Handler, error) {
	h := &Handler{cfg: cfg, servers: map[string]http.Handler{}}
	_, err := h.of(nil)
	return h, err
}

// Serve answers one message, with the tools that the kinds of changes allow.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, writes []Write) {
	server, err := h.of(writes)
	if err != nil { // not for another set of kinds
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	server.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), lifetimeKey{}, r.Context())))
}

// of returns the server for kinds of changes.
func (h *Handler) of(writes []Write) (http.Handler, error) {
	var names []string
	cfg := h.cfg
	cfg.Writes = nil
	for _, kind := range Writes() {
		if slices.Contains(writes, kind) {
			cfg.Writes, names = append(cfg.Writes, kind), append(names, string(kind))
		}
	}
	key := strings.Join(names, " ")
	h.mu.Lock()
	defer h.mu.Unlock()
	if server, ok := h.servers[key]; ok {
		return server, nil
	}
	server, err := New(cfg)
	if err != nil {
		return nil, err
	}
	h.servers[key] = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
		// It would refuse a proxy on the same machine; browsers are refused by their Origin.
		DisableLocalhostProtection: true})
	return h.servers[key], nil
}
