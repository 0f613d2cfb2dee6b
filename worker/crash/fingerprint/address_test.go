package fingerprint

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/report"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	m := modules{list: []report.Module{
		{Start: "0x2000", Size: "0x100", CodeFile: "/lib/b.so.1"},
		{Start: "4096", Size: "256", CodeFile: `C:\app\a.dll`},
		{Start: "18446744073709547520", CodeFile: "top"},
		{Start: "bad", CodeFile: "never"},
	}}
	for address, want := range map[string]string{
		"0x1010":             "a.dll+0x10",
		"4112":               "a.dll+0x10",
		"0x20ff":             "b.so+0xff",
		"0x2100":             "lib.so 0x2100",
		"0xfffffffffffff010": "top+0x10",
		"no number":          "lib.so no number",
		"":                   "",
	} {
		got, _ := m.addressText(&report.Frame{Address: address, Library: "/opt/lib.so.2"})
		require.Equal(t, want, got, address)
	}
}
