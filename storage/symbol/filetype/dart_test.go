package filetype

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
)

func TestDartMaps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name string
		want       Format
	}{
		{`["","","_NativeInteger","_NativeInteger","SemanticsAction","er"]`, "a.json", Format(symbol.ProGuard)},
		{" [\n\"SENTRY_DEBUG_ID_MARKER\",\"b8e43a\",\"Cart\",\"aB\"\n]", "a", Format(symbol.ProGuard)},
		{`["MaterialApp","ex","Scaffold","_ey"]`, "build/app.obfuscation.map.json", Format(symbol.ProGuard)},
		{`["MaterialApp","ex","Scaffold","_ey"]`, "a.json", Other},
		{`["en","de","fr","it"]`, "languages.json", Other},
		{`["a.png","b.png"]`, "obfuscation.json", Other},
		{`["noSuchMethod","noSuchMethod",` + strings.Repeat(`"some text","another text",`, 20) + `"a","b"]`, "a.json", Other},
		{`[]`, "obfuscation.json", Other},
		{`["a`, "obfuscation.json", Other},
		{`{"version":3,"mappings":"","names":["a","b"]}`, "obfuscation.json", Format(symbol.SourceMap)},
	} {
		got, _, err := Of(strings.NewReader(c.text), int64(len(c.text)), c.name)
		require.NoError(t, err)
		require.Equal(t, c.want, got, c.text)
	}
}
