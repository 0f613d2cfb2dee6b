package symbolicate

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// Frames of native code have the lines around them, when the source came with the debug file, or was
// uploaded for the module.
func TestNativeSources(t *testing.T) {
	t.Parallel()
	table := addressTable{
		0x10: {{Function: "price", File: "/ci/shop/src/cart.c", Line: 3, Inlined: true},
			{Function: "total", File: "/ci/shop/src/cart.c", Line: 9}},
		0x1f: {{Function: "main", File: "/ci/shop/src/main.c", Line: 4}},
	}
	in := parsed(t, "c", "", `{"address":"0x400010"},{"address":"0x400020"}`, nativeModules("0x400000"))
	upload := "symbols 1" // of the fake's files
	for _, id := range []string{"url ~/src/cart.c " + upload, "url ~/shop/src/cart.c debug_id " + debugID} {
		s := &fake{natives: map[string]addressTable{"debug_id " + debugID: table}, scripts: map[string]Script{id: scriptText{}}}
		res, err := readReport(t, s, in)
		require.NoError(t, err)
		replaced := res.Document.Threads[0].Replaced
		require.Equal(t, []string{"return price"}, replaced[0].Frames[0].Source.Lines, id)
		require.EqualValues(t, 9, replaced[0].Frames[1].Source.Start)
		require.Nil(t, replaced[1].Frames[0].Source, "of another file")
		require.Empty(t, res.Needs, "a source that is not there is no need")
	}
	other := &fake{natives: map[string]addressTable{"debug_id " + debugID: table},
		scripts: map[string]Script{"url ~/src/cart.c symbols 2": scriptText{}, "url ~/src/cart.c": scriptText{}}}
	res, err := readReport(t, other, in)
	require.NoError(t, err)
	require.Nil(t, res.Document.Threads[0].Replaced[0].Frames[0].Source, "the source of another build is none")
}

func TestNativeSourcesAreBounded(t *testing.T) {
	t.Parallel()
	var inlined []native.Frame
	for i := range 100 {
		inlined = append(inlined, native.Frame{Function: "f", File: fmt.Sprint("/src/", i, ".c"), Line: 1, Inlined: i < 99})
	}
	s := &fake{natives: map[string]addressTable{"debug_id " + debugID: {0x10: inlined}}}
	res, err := readReport(t, s, parsed(t, "c", "", `{"address":"0x400010"}`, nativeModules("0x400000")))
	require.NoError(t, err)
	require.Len(t, res.Document.Threads[0].Replaced[0].Frames, 100)
	require.Len(t, s.asked, 1+maxNativeSources)
}
