package symbol

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/respond"
)

func TestPlacesOfOrganizations(t *testing.T) {
	t.Parallel()
	p := newPlaces(10 * time.Millisecond)
	var releases []func()
	take := func(organization int64) error {
		release, err := p.take(t.Context(), organization)
		if err == nil {
			releases = append(releases, release)
		}
		return err
	}
	for range unpackShare {
		require.NoError(t, take(1))
	}
	var problem *respond.Problem
	require.ErrorAs(t, take(1), &problem, "its share is taken")
	require.Equal(t, 503, problem.Status)
	for i := range int64(unpackSlots - unpackShare) {
		require.NoError(t, take(2+i), "others have room")
	}
	require.ErrorAs(t, take(100), &problem, "all are taken")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.take(gone, 101)
	require.ErrorIs(t, err, context.Canceled)

	waits := newPlaces(time.Minute)
	release, err := waits.take(t.Context(), 1)
	require.NoError(t, err)
	for range unpackShare - 1 {
		_, err := waits.take(t.Context(), 1)
		require.NoError(t, err)
	}
	got := make(chan error, 1)
	go func() {
		_, err := waits.take(t.Context(), 1)
		got <- err
	}()
	release()
	require.NoError(t, <-got)

	for _, release := range releases {
		release()
	}
	require.Empty(t, p.shares)
	require.Empty(t, p.all)
}
