package symbolication

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/report"
)

func sample() (*report.Report, *Document) {
	r := &report.Report{Threads: []report.Thread{
		{ID: "main", Frames: []report.Frame{
			{Function: "a.b.c", Line: 1, Library: "SourceFile"}, {Function: "a.b.d", Line: 2}, {Function: "e", Line: 3}}},
		{ID: "other", Frames: []report.Frame{{Function: "x"}}}}}
	d := &Document{Threads: []Thread{{ID: "main", Replaced: []Replacement{
		{Index: 0, File: 1, Frames: []Frame{
			{Function: "shop.Cart.price", File: "Cart.java", Line: 7, Inlined: true, Method: Mapping},
			{Function: "shop.Cart.total", File: "Cart.java", Line: 12, Method: Mapping}}},
		{Index: 1, Hidden: true},
		{Index: 2, Missing: 1}}}}}
	return r, d
}

func TestApply(t *testing.T) {
	t.Parallel()
	r, d := sample()
	got := d.Apply(r)
	require.Equal(t, []report.Frame{
		{Function: "shop.Cart.price", Path: "Cart.java", Library: "Cart.java", Line: 7},
		{Function: "shop.Cart.total", Path: "Cart.java", Library: "Cart.java", Line: 12},
		{Function: "e", Line: 3}}, got.Threads[0].Frames)
	require.Equal(t, r.Threads[1], got.Threads[1])
	require.Equal(t, "a.b.c", r.Threads[0].Frames[0].Function, "the report must stay as it is")
	require.Same(t, r, (&Document{}).Apply(r))
}

func TestDecode(t *testing.T) {
	t.Parallel()
	_, d := sample()
	doc, err := json.Marshal(d)
	require.NoError(t, err)
	got, err := Decode(doc)
	require.NoError(t, err)
	require.Equal(t, d, got)
	got, err = Decode(nil)
	require.NoError(t, err)
	require.Empty(t, got.Threads)
	_, err = Decode([]byte("{"))
	require.Error(t, err)
}
