package symbolicate

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// lazy is a Session that knows nothing before it has asked.
type lazy struct {
	*fake
	known, wanted map[string]bool
	asks          int
}

func (l *lazy) unasked(kind string, about any) bool {
	key := fmt.Sprint(kind, about)
	l.wanted[key] = true
	return !l.known[key]
}

func (l *lazy) Native(ctx context.Context, q Query) (Native, symbolication.File, error) {
	if l.unasked("native", q) {
		return nil, symbolication.File{}, ErrUnasked
	}
	return l.fake.Native(ctx, q)
}

func (l *lazy) Mapping(ctx context.Context, q Query) (Mapping, symbolication.File, error) {
	if l.unasked("mapping", q) {
		return nil, symbolication.File{}, ErrUnasked
	}
	return l.fake.Mapping(ctx, q)
}

func (l *lazy) SourceMap(ctx context.Context, q Query) (SourceMap, symbolication.File, error) {
	if l.unasked("map", q) {
		return nil, symbolication.File{}, ErrUnasked
	}
	return l.fake.SourceMap(ctx, q)
}

func (l *lazy) Script(ctx context.Context, q Query) (Script, symbolication.File, error) {
	if l.unasked("script", q) {
		return nil, symbolication.File{}, ErrUnasked
	}
	return l.fake.Script(ctx, q)
}

func (l *lazy) Named(string) (bool, error) {
	if l.unasked("names", nil) {
		return false, ErrUnasked
	}
	return true, nil
}

func (l *lazy) Build(ctx context.Context, at Place, ref crash.BuildRef) (int64, error) {
	if l.unasked("build", ref) {
		return 0, ErrUnasked
	}
	return l.fake.Build(ctx, at, ref)
}

func (l *lazy) Ask(context.Context) error {
	l.asks++
	l.known, l.wanted = l.wanted, map[string]bool{}
	return nil
}

// readReport reads a report with a session that knows all, and a second time with one that
// has to ask: the results are the same, after few questions.
func readReport(t *testing.T, s *fake, in Input) (*Result, error) {
	t.Helper()
	slow := &lazy{fake: &fake{natives: s.natives, mappings: s.mappings, maps: s.maps, scripts: s.scripts, build: s.build, err: s.err},
		known: map[string]bool{}, wanted: map[string]bool{}}
	part := NewPart(slow)
	late, lateErr := part.Read(t.Context(), in)
	for errors.Is(lateErr, ErrUnasked) {
		require.NoError(t, part.Ask(t.Context()))
		late, lateErr = part.Read(t.Context(), in)
	}
	require.LessOrEqual(t, slow.asks, 4)
	res, err := NewPart(s).Read(t.Context(), in)
	require.Equal(t, err, lateErr)
	require.Equal(t, res, late)
	return res, err
}

// What a part has found holds for the next one, while no file comes or goes; but for what the
// build of a report led to.
func TestRefresh(t *testing.T) {
	t.Parallel()
	table := scriptTable{"1:20": {{Function: "price", File: "src/cart.ts", Line: 3, Method: symbolication.MapScopes}}}
	script := parsed(t, "javascript", "sourcemap", `{"funcName":"t","line":1,"column":20,"library":"https://shop.example.com/a/main.js"}`, "")
	java := parsed(t, "java", "proguard", `{"funcName":"a.b.c"}`, "")
	java.Build = crash.BuildRef{Version: "1"}
	files := &fake{build: 9}
	part := NewPart(files)
	read := func(in Input) crash.SymbolState {
		res, err := part.Read(t.Context(), in)
		require.NoError(t, err)
		return res.State
	}
	require.Equal(t, crash.SymbolsMissing, read(script))
	require.Equal(t, crash.SymbolsMissing, read(java))
	files.maps = map[string]SourceMap{"url https://shop.example.com/a/main.js.map": table}
	files.mappings = map[string]Mapping{"build 9": javaTable{"a.b.c:0": {{{JavaFrame: JavaFrame{Class: "shop.Cart", Method: "price"}}}}}}

	files.holds, files.asked = true, nil
	require.NoError(t, part.Refresh(t.Context()))
	require.Equal(t, crash.SymbolsMissing, read(script))
	require.Empty(t, files.asked, "the answer is known")
	require.Equal(t, crash.SymbolsComplete, read(java))

	files.holds = false
	require.NoError(t, part.Refresh(t.Context()))
	require.Equal(t, crash.SymbolsComplete, read(script))
}
