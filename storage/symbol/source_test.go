package symbol

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSourcePaths(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"~/ci/shop/src/cart.c", "~/shop/src/cart.c", "~/src/cart.c", "~/cart.c"}, SourcePaths("/ci/shop/src/cart.c"))
	require.Equal(t, []string{"~/shop/cart.cpp", "~/cart.cpp"}, SourcePaths(`C:\shop\src\..\cart.cpp`))
	require.Equal(t, []string{"~/cart.c"}, SourcePaths("./cart.c"))
	require.Equal(t, []string{"~/etc/passwd", "~/passwd"}, SourcePaths("../../etc/passwd"))
	require.Empty(t, SourcePaths(""))
	require.Len(t, SourcePaths(strings.Repeat("a/", 400)+"b.c"), maxSourcePaths)
	require.Equal(t, "debug_id ABC", SourceRelease(Identifier{Type: DebugID, Value: "ABC"}))
	require.Equal(t, "symbols 7", UploadRelease(7))
}
