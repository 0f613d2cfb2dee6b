package tier

import (
	"github.com/slipway-qa/slipway/api/token"
	"github.com/slipway-qa/slipway/storage"
)

// watchTokens has the caches of tokens forget one that ended, here before the request
// for that is answered and in other processes by a notification. It returns what stops
// it.
func (s *Services) watchTokens(caches ...token.Forgetter) (stop func(), err error) {
	listener, err := storage.NewListener(storage.Config{URL: s.Settings.DirectURL(), ApplicationName: "slipway-notifications"},
		s.probe, token.Changes(caches...), s.Log)
	if err != nil {
		return nil, err
	}
	s.DB.OnTokensChanged(func() { token.ForgetAll(caches...) })
	return StartLoop(listener.Run), nil
}
