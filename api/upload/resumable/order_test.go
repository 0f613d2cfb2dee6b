package resumable

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/resumable"
)

// The sum of a part on its way goes to the next one, before anything is recorded.
func TestSumGoesToTheNextPart(t *testing.T) {
	t.Parallel()
	h := &Handlers{order: order{parts: map[partKey]*coming{}}}
	u := &resumable.Upload{ID: storage.NewID(), Size: 3 * object.PartUnit, PartSize: object.PartUnit}
	end := h.begin(u.ID, 1)
	h.begin(u.ID, 1)(nil) // another sender of the part: not its sum
	sum := object.NewSum()
	_, _ = sum.Write(make([]byte, object.PartUnit))
	state, err := sum.State()
	require.NoError(t, err)
	got := make(chan *object.Sum)
	go func() {
		before, err := h.sumBefore(t.Context(), u, 2)
		if err != nil {
			before = nil
		}
		got <- before
	}()
	end(state)
	before := <-got
	require.NotNil(t, before)
	require.Equal(t, sum.Hex(), before.Hex())
	require.Len(t, h.order.parts, 1, "until it is recorded")
	end(nil)
	require.Empty(t, h.order.parts)
}

// The whole is summed up as far as each part goes on where the one before has ended.
func TestSumOfParts(t *testing.T) {
	t.Parallel()
	sum := object.NewSum()
	var parts []resumable.Part
	for n := range 4 {
		p := resumable.Part{Number: n + 1, Size: object.PartUnit, SumBefore: sum.Hex()}
		_, _ = sum.Write(make([]byte, object.PartUnit))
		p.SumAfter = sum.Hex()
		p.SumState, _ = sum.State()
		parts = append(parts, p)
	}
	u := &resumable.Upload{Size: 4 * object.PartUnit, PartSize: object.PartUnit, Parts: parts}
	require.Equal(t, sum.Hex(), u.Sum().Hex())
	other := append([]resumable.Part{}, parts...)
	other[1].SumAfter = "that of another sender's part"
	u.Parts = other
	require.EqualValues(t, 2*object.PartUnit, u.Sum().N(), "the third part goes on from another second one")
	u.Parts = parts[1:]
	require.Zero(t, u.Sum().N(), "the first one is missing")
	parts[0].SumBefore = ""
	u.Parts = parts
	require.Zero(t, u.Sum().N())
}

func TestMissingPartsAreNamed(t *testing.T) {
	t.Parallel()
	require.EqualError(t, problemMissing([]int{1, 3, 4, 5, 9}, "are missing"), "parts 1, 3 to 5, 9 are missing")
	long := []int{}
	for n := range 1000 {
		long = append(long, 2*n+1)
	}
	require.Less(t, len(problemMissing(long, "are missing").Error()), 400)
}

func TestPartSize(t *testing.T) {
	t.Parallel()
	h := &Handlers{cfg: Config{LeastPart: defaultLeastPart}}
	const mib = 1 << 20
	for size, want := range map[int64]int64{1: 8 * mib, 100 * mib: 8 * mib, 1 << 30: 8 * mib, 4 << 30: 8 * mib,
		4<<30 + 1: 16 * mib, 60 << 30: 120 * mib, 70 << 30: 128 * mib} {
		require.Equal(t, want, h.partSize(size), size)
		require.Zero(t, want%object.PartUnit)
	}
}
