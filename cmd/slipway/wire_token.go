package main

import (
	"github.com/slipway-qa/slipway/api/token"
	"github.com/slipway-qa/slipway/storage"
)

// watchTokens has the caches of tokens forget one that ended, here before the request
// for that is answered and in other processes by a notification. It returns what stops
// it.
func (s *services) watchTokens(caches ...token.Forgetter) (stop func(), err error) {
	listener, err := storage.NewListener(storage.Config{URL: s.settings.directURL(), ApplicationName: "slipway-notifications"},
		s.probe, token.Changes(caches...), s.log)
	if err != nil {
		return nil, err
	}
	s.db.OnTokensChanged(func() { token.ForgetAll(caches...) })
	return startLoop(listener.Run), nil
}
