package crash

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDistinct(t *testing.T) {
	t.Parallel()
	var all, odd, even distinct
	for i := range 200_000 {
		h := userHash(fmt.Sprint("user ", i))
		all.add(h)
		if i%2 == 0 {
			even.add(h)
		} else {
			odd.add(h)
		}
		require.False(t, all.add(h), "known, or too great")
		if n := int64(i + 1); i < maxSample-1 {
			require.Equal(t, n, all.count())
		}
	}
	require.Len(t, all, maxSample)
	require.InEpsilon(t, 200_000, all.count(), 0.1)
	odd.add(even...)
	require.Equal(t, all, odd, "two samples add up")
	require.Equal(t, all, distinctOf(all.bytes()))
	require.Empty(t, distinctOf(nil))
	require.Len(t, distinctOf([]byte("0123456789")), 1, "what is left over is no hash")
}
