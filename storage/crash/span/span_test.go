package span_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash/span"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	hour := func(n int64) time.Time { return time.Unix(n*3600, 0).UTC() }
	for _, test := range []struct {
		name string
		got  span.Span
		want span.Span
	}{
		{"one time", span.At(hour(3)), span.Span{First: hour(3), Last: hour(3)}},
		{"a later one", span.At(hour(3)).With(hour(5)), span.Span{First: hour(3), Last: hour(5)}},
		{"an earlier one", span.At(hour(3)).With(hour(1)), span.Span{First: hour(1), Last: hour(3)}},
		{"one within", span.At(hour(1)).With(hour(5)).With(hour(3)), span.Span{First: hour(1), Last: hour(5)}},
		{"two apart", span.At(hour(1)).Join(span.At(hour(9))), span.Span{First: hour(1), Last: hour(9)}},
		{"one around", span.At(hour(3)).Join(span.Span{First: hour(1), Last: hour(9)}), span.Span{First: hour(1), Last: hour(9)}},
	} {
		require.Equal(t, test.want, test.got, test.name)
	}
}
