package distinct

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDistinct(t *testing.T) {
	t.Parallel()
	var all, odd, even Sample
	for i := range 200_000 {
		h := Hash(fmt.Sprint("user ", i))
		all.Add(h)
		if i%2 == 0 {
			even.Add(h)
		} else {
			odd.Add(h)
		}
		require.False(t, all.Add(h), "known, or too great")
		if n := int64(i + 1); i < maxSample-1 {
			require.Equal(t, n, all.Count())
		}
	}
	require.Len(t, all, maxSample)
	require.InEpsilon(t, 200_000, all.Count(), 0.1)
	odd.Add(even...)
	require.Equal(t, all, odd, "two samples add up")
	require.Equal(t, all, Parse(all.Bytes()))
	require.Empty(t, Parse(nil))
	require.Len(t, Parse([]byte("0123456789")), 1, "what is left over is no hash")
}
