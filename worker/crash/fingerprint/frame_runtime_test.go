package fingerprint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorRaisedAgain(t *testing.T) {
	t.Parallel()
	raised := stack("go", "panic", "no stock", "shop/cart.Pay | /a/cart/pay.go", "main.serve | /a/main.go")
	again := stack("go", "panic", "no stock [recovered]", "main.serve.func1 | /a/main.go", "panic | /usr/local/go/src/runtime/panic.go",
		"shop/cart.Pay | /b/cart/pay.go", "main.serve | /b/main.go")
	require.Equal(t, Compute(raised).Key, Compute(again).Key)
}

func TestRecursionThatIsPrintedInPart(t *testing.T) {
	t.Parallel()
	const file = " | app/cart.rb"
	a := stack("ruby", "SystemStackError", "", "map"+file, "total"+file, "block in total"+file, "map"+file, "total"+file, "show | app/page.rb")
	b := stack("ruby", "SystemStackError", "", "total"+file, "block in total"+file, "map"+file, "total"+file,
		"block in total"+file, "show | app/page.rb")
	require.Equal(t, []string{"signal stack-overflow", "total (cart.rb)"}, Compute(a).Explanation.Material)
	require.Equal(t, Compute(a).Key, Compute(b).Key)
	other := stack("ruby", "SystemStackError", "", "block in taxes"+file, "taxes"+file, "block in taxes"+file, "taxes"+file)
	require.NotEqual(t, Compute(a).Key, Compute(other).Key)
}

func TestGettersOfLateFields(t *testing.T) {
	t.Parallel()
	const file = "package:shop/cart.dart"
	read := stack("dart", "LateInitializationError", "", "Cart._stock | "+file, "Cart.pay | "+file, "Page.onTap | package:shop/page.dart")
	direct := stack("dart", "LateInitializationError", "", "Cart.pay | "+file, "Page.onTap | package:shop/page.dart")
	require.Equal(t, Compute(direct).Key, Compute(read).Key, "the first frame has no line")
	read.Threads[0].Frames[0].Line = 7
	require.NotEqual(t, Compute(direct).Key, Compute(read).Key, "a getter that somebody wrote")
}
