package replay_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/run/replay"
)

// The files of a page script declare each name once: the later of two functions would
// silently replace the other. In a block of strict code a second one is an error.
func TestScriptsDeclareNamesOnce(t *testing.T) {
	t.Parallel()
	l := lease()
	defer func() { release(l, false) }()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	check := func(code string) (wrong string) {
		const parse = `try { new Function('"use strict"; {' + arguments[0] + "\n}"); return "" } catch (e) { return String(e) }`
		require.NoError(t, l.Session.Execute(ctx, parse, &wrong, code))
		return wrong
	}
	require.Contains(t, check("function f() {}\nfunction f() {}"), "already been declared")
	for _, code := range replay.Scripts() {
		require.Empty(t, check(code))
	}
}
