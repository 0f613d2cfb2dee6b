package tier

import (
	"net/http"

	apiagent "github.com/slipway-qa/slipway/api/agent"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/agent"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway/version"
	"github.com/slipway-qa/slipway/storage/account"
)

// newAgents returns the room of the tools for agents: those of slipway-ci, with a client
// that asks the routes within the process.
func (s *Services) newAgents() (*apiagent.Handlers, error) {
	return apiagent.New(apiagent.Config{DB: s.DB, PublicURL: s.Settings.PublicURL, BaseDomain: s.Settings.BaseDomain,
		Protocol: func(api http.RoundTripper) (apiagent.Protocol, error) {
			inside, err := client.New(client.Config{Server: s.Settings.PublicURL, HTTP: api, Agent: "slipway-mcp", RetryFor: -1})
			if err != nil {
				return nil, err
			}
			handler, err := agent.NewHandler(agent.Config{Client: inside, Version: version.Short(), Log: s.Log})
			return agentTools{handler}, err
		}})
}

// agentTools lets the scopes of a key say what an agent may change.
type agentTools struct{ handler *agent.Handler }

// Serve answers a message.
func (a agentTools) Serve(w http.ResponseWriter, r *http.Request, scopes []account.Scope) {
	kinds := map[account.Scope]agent.Write{account.ScopeTests: agent.Tests, account.ScopeRuns: agent.Runs,
		account.ScopeBuilds: agent.Builds, account.ScopeCrashes: agent.Crashes}
	var writes []agent.Write
	for _, scope := range scopes {
		if kind, ok := kinds[scope]; ok {
			writes = append(writes, kind)
		}
	}
	a.handler.Serve(w, r, writes)
}
