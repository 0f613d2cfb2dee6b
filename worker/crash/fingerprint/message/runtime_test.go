package message

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRuntimeMessage(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                      "",
		"cart is empty":                         "cart is empty",
		"cart is empty [recovered]":             "cart is empty",
		"no stock [recovered, repanicked]":      "no stock",
		"[recovered] order":                     "[recovered] order",
		"already borrowed: BorrowMutError":      "RefCell already borrowed",
		"RefCell already borrowed":              "RefCell already borrowed",
		"the cart is already borrowed":          "the cart is already borrowed",
		"already mutably borrowed: BorrowError": "RefCell already mutably borrowed",
		"Aborted(OOM). Build with -sASSERTIONS for more info.": "Aborted(OOM)",
		"Aborted(native code called abort())":                  "Aborted(native code called abort())",
	} {
		require.Equal(t, want, WithoutRuntime(in), in)
	}
}
