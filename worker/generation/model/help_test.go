package model

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/languagemodel"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

func newClient(t *testing.T, format string, s *languagemodel.Server, change ...func(*Config)) *Client {
	t.Helper()
	guard, err := outbound.New(outbound.Config{AllowPrivate: true})
	require.NoError(t, err)
	t.Cleanup(guard.CloseIdleConnections)
	cfg := Config{Provider: format, BaseURL: s.URL, Model: languagemodel.Model, Key: languagemodel.Key, HTTP: guard.Client(time.Minute),
		InputPrice: 2_000_000, OutputPrice: 10_000_000, Backoff: time.Millisecond}
	for _, f := range change {
		f(&cfg)
	}
	c, err := New(cfg)
	require.NoError(t, err)
	return c
}

func eachFormat(t *testing.T, f func(t *testing.T, format string)) {
	t.Helper()
	for _, format := range languagemodel.Formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			f(t, format)
		})
	}
}
