package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

const (
	// recordTime is what a record has after its call, also one that was cancelled.
	recordTime = 10 * time.Second
	maxNames   = 32
	maxName    = 64
)

// callRecord is what the audit log has of a call: names and a digest of the arguments, not
// the arguments, which may be long or private.
type callRecord struct {
	Tool      string   `json:"tool"`
	Outcome   outcome  `json:"outcome"`
	Arguments []string `json:"arguments"`
	Digest    string   `json:"digest"`
	TookMS    int64    `json:"took_ms"`
}

// record has the API write down a call. A record that was not answered is sent again: one
// call may be there twice, but is never missing.
func (s *server) record(ctx context.Context, call *mcp.CallToolParamsRaw, how outcome, took time.Duration) (err error) {
	defer s.survive(ctx, call.Name, &err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	r := callRecord{Tool: plain(call.Name), Outcome: how, Arguments: names(call.Arguments), TookMS: took.Milliseconds()}
	sum := sha256.Sum256(call.Arguments)
	r.Digest = hex.EncodeToString(sum[:16])
	return s.cfg.Client.JSON(ctx, client.Request{Method: http.MethodPost, Path: client.Path("api", "v3", "agent-calls"),
		Repeatable: true}, r, nil)
}

// names are those of the arguments, sorted.
func names(arguments json.RawMessage) []string {
	var members map[string]json.RawMessage
	if json.Unmarshal(arguments, &members) != nil {
		return []string{}
	}
	sorted := slices.Sorted(maps.Keys(members))
	for i, name := range sorted {
		sorted[i] = plain(name)
	}
	return sorted[:min(len(sorted), maxNames)]
}

// plain is a name as the API takes it: what an agent made up may be anything.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(name[:min(len(name), maxName)]))
	if name == "" {
		return "_"
	}
	return name
}
