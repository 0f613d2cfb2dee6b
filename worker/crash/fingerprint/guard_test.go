package fingerprint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHelpersAndTellingNames(t *testing.T) {
	t.Parallel()
	const helper, empty, telling = "helper", "empty", "telling"
	for _, c := range []struct {
		f    family
		kind string
		in   []string
	}{
		{familyPython, helper, []string{"wrapper", "inner", "__call__", "retry.wrapper", "check_positive", "require_not_none",
			"fail", "die", "log_and_exit", "raise_error", "assertNotNull", "ensure", "handle_error"}},
		{familyPython, empty, []string{"<module>", "main", "lambda", "f", "fn"}},
		{familyPython, telling, []string{"pay", "checkout", "check_stock", "load.lambda", "Cart.get", "require_login",
			"log_in", "capture", "verify", "report", "check_in", "check_status", "ensure_cart", "__init__", "get"}},
		{familyJS, helper, []string{"invariant", "assertDefined", "throwError", "logError", "wrapper", "throwIfNull",
			"reportError", "handleError", "die"}},
		{familyJS, empty, []string{"dispatchEvent", "notifyListeners", "t", "Pt", "e", "exports", "default", "callback", "aB1", "main"}},
		{familyJS, telling, []string{"pay", "Cart.pay", "render", "onClick", "checkout", "Cart.run", "requireCart", "go2cart"}},
		{familyJVM, helper, []string{"com.shop.Assert.notNull", "com.shop.Checks.positive", "com.shop.Contract.requireValid",
			"com.shop.Cart.checkNotNull", "com.shop.util.Log.fatal", "com.shop.Cart.throwError", "com.shop.Logger.e"}},
		{familyJVM, empty, []string{"a.b.c", "a.a.onClick", "com.shop.a.b", "com.shop.Cart$anon.run", "com.shop.CartKt.lambda",
			"com.shop.Cart.lambda"}},
		{familyJVM, telling, []string{"com.shop.Cart.pay", "com.shop.Cart.pay$lambda", "com.shop.Cart.a", "com.shop.Main.main",
			"com.shop.Cart.checkStock", "com.shop.Contract.sign", "com.shop.Check.cash", "com.shop.Cart.run"}},
		{familyDotNet, helper, []string{"Shop.Guard.NotNull", "Shop.Cart.ThrowIfNull", "Shop.Log.Error"}},
		{familyDotNet, telling, []string{"Shop.Cart.Pay", "Shop.Program.Main", "Shop.Cart.Pay.lambda"}},
		{familyRuby, helper, []string{"each", "/", "Integer", "require", "check!", "wrapper"}},
		{familyRuby, empty, []string{"<top (required)>", "<main>", "fetch", "block in <main>"}},
		{familyRuby, telling, []string{"pay", "block in pay", "call", "<class:Cart>", "valid_cart?"}},
		{familyPHP, helper, []string{"require_once", `App\Assert::notNull`, `App\Cart::throwError`, "dieWithError"}},
		{familyPHP, empty, []string{"{closure}", "{main}", "main"}},
		{familyPHP, telling, []string{`App\Cart::pay`, "pay", "class@anonymous::pay", `App\Cart::handle`}},
		{familyGo, helper, []string{"main.must", "shop/cart.check", "main.checkErr", "main.panicIf", "main.die", "shop/log.Fatal"}},
		{familyGo, empty, []string{"main.main", "main.init"}},
		{familyGo, telling, []string{"main.pay", "shop/cart.Cart.Pay", "shop/cart.run", "main.Cart.Run", "main.pay.func"}},
	} {
		for _, name := range c.in {
			require.Equal(t, c.kind == helper, isHelper(c.f, name), "helper %q", name)
			require.Equal(t, c.kind == telling, isTelling(c.f, name), "telling %q", name)
		}
	}
}
