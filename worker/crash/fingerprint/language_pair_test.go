package fingerprint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
)

// spelling is one stack, as several versions, compilers or engines write it. Lines
// are separated by semicolons.
type spelling struct {
	name, lang, class string
	same              []string
	other             []string // of other bugs
}

func spellings() []spelling {
	return []spelling{
		{"browsers", "javascript", "TypeError", []string{
			"Cart.total | https://x.example/main.js;Array.map | <anonymous>;HTMLButtonElement.onClick | https://x.example/main.js",
			"total | https://x.example/main.js;map | self-hosted;onClick | https://x.example/main.js",
			"total | https://x.example/main.js;map | [native code];onClick | https://x.example/main.js",
			"Object.total | https://x.example/main.3f9a1c22.js?v=4;async run | https://x.example/main.3f9a1c22.js",
			"Cart.prototype.total | https://x.example/main.js;promise callback*run | https://x.example/main.js",
			"shop/Cart</t.prototype.total | https://x.example/main.js;async*run | https://x.example/main.js",
		}, []string{"Cart.pay | https://x.example/main.js;HTMLButtonElement.onClick | https://x.example/main.js"}},
		{"minified functions of one build", "javascript", "TypeError", []string{
			"Pt.t | https://x.example/a.js;new e | https://x.example/a.js;checkout | https://x.example/a.js",
			"Pt</t | https://x.example/a.js;e | https://x.example/a.js;checkout | https://x.example/a.js",
			"t | https://x.example/a.js;e | https://x.example/a.js;checkout | https://x.example/a.js;go | https://x.example/a.js",
		}, []string{"t | https://x.example/a.js;e | https://x.example/a.js;ship | https://x.example/a.js"}},
		{"anonymous functions", "javascript", "TypeError", []string{
			"https://x.example/a.js | https://x.example/a.js;checkout | https://x.example/a.js",
			"<anonymous> | https://x.example/a.js;checkout | https://x.example/a.js",
			"checkout/< | https://x.example/a.js;checkout | https://x.example/a.js",
			"Anonymous function | https://x.example/a.js;checkout | https://x.example/a.js",
			"HTMLFormElement.<anonymous> | https://x.example/a.js;checkout | https://x.example/a.js",
		}, []string{"<anonymous> | https://x.example/a.js;ship | https://x.example/a.js"}},
		{"only libraries", "javascript", "TypeError", []string{
			"Array.map | <anonymous>;total | https://x.example/vendor.js",
			"map | [native code];total | https://x.example/vendor.js", "total | https://x.example/vendor.3f9a1c22.js",
		}, []string{"Array.map | <anonymous>;pay | https://x.example/vendor.js"}},
		{"awaited in Node", "nodejs", "Error", []string{
			"TCPConnectWrap.afterConnect | node:net;async load | /srv/a/load.js",
			"async load | /srv/b/load.js;async main | /srv/b/main.js",
		}, []string{"TCPConnectWrap.afterConnect | node:net;async store | /srv/a/store.js"}},
		{"methods in Node", "nodejs", "Error", []string{
			"Cart.total | /srv/a/shop.js;Layer.handle [as handle_request] | /srv/a/node_modules/express/lib/router/layer.js",
			"Cart.total [as sum] | /srv/b/shop.js;Object.<anonymous> | /srv/b/main.js",
		}, []string{"Item.total | /srv/a/shop.js"}},
		{"TypeScript's and Babel's async functions", "javascript", "Error", []string{
			"pay | src/cart.ts;fulfilled | src/cart.ts",
			"pay$ | dist/cart.js;tryCatch | dist/cart.js;Generator.next | <anonymous>",
			"pay | src/cart.ts;__awaiter | node_modules/tslib/tslib.es6.js",
		}, []string{"ship$ | dist/cart.js;tryCatch | dist/cart.js"}},
		{"React", "javascript", "TypeError", []string{
			"CartList | src/CartList.jsx;renderWithHooks | https://x.example/static/js/vendors~main.3f9a1c22.chunk.js;beginWork | https://x.example/static/js/vendors~main.3f9a1c22.chunk.js",
			"CartList | src/CartList.tsx;renderWithHooks | node_modules/react-dom/cjs/react-dom.development.js;App | src/App.tsx",
		}, []string{"CartRow | src/CartList.jsx;renderWithHooks | node_modules/react-dom/cjs/react-dom.development.js"}},
		{"React Native", "react-native", "TypeError", []string{
			"total | index.android.bundle;onPress | index.android.bundle;_callTimer | index.android.bundle;__guard | index.android.bundle",
			"total | app:///index.android.bundle;value | app:///index.android.bundle",
			"total | address at index.android.bundle;__callFunction | address at index.android.bundle",
		}, nil},
		{"Vite", "javascript", "TypeError", []string{
			"total | https://x.example/assets/index-B-x_3kLz.js", "total | https://x.example/assets/index-DfG7h12X.js",
			"total | https://x.example/assets/index-_aB3kQ-9.js?v=1",
		}, []string{"total | https://x.example/assets/cart-B-x_3kLz.js"}},
		{"decorators", "python", "ValueError", []string{
			"pay | shop/cart.py;view | shop/web.py", "pay | shop/cart.py;wrapper | shop/retry.py;view | shop/web.py",
			"pay | shop/cart.py;inner | shop/auth.py;__call__ | shop/auth.py;job | shop/jobs.py",
		}, []string{"ship | shop/cart.py;wrapper | shop/retry.py"}},
		{"comprehensions", "python", "ValueError", []string{
			"pay | shop/cart.py;main | shop/cart.py", "<listcomp> | shop/cart.py;pay | shop/cart.py",
			"<genexpr> | shop/cart.py;pay | shop/cart.py", "pay.<locals>.<genexpr> | shop/cart.py;Cart.pay | shop/cart.py",
		}, []string{"<genexpr> | shop/cart.py;ship | shop/cart.py"}},
		{"lambdas of Python", "python", "ValueError", []string{
			"<lambda> | shop/cart.py;pay | shop/cart.py", "pay.<locals>.<lambda> | shop/cart.py;pay | shop/cart.py",
		}, []string{"<lambda> | shop/cart.py;ship | shop/cart.py"}},
		{"checks of an application", "python", "ValueError", []string{
			"check_positive | shop/check.py;pay | shop/cart.py", "require_not_none | shop/check.py;pay | shop/cart.py;job | shop/jobs.py",
		}, []string{"check_positive | shop/check.py;ship | shop/cart.py"}},
		{"Django", "python", "KeyError", []string{
			"pay | /srv/1/shop/views.py;_get_response | /venv/lib/python3.11/site-packages/django/core/handlers/base.py",
			"pay | shop/views.py;inner | django/core/handlers/exception.py",
		}, []string{"pay | /srv/1/blog/views.py"}},
		{"Kotlin's lambdas", "kotlin", "E", []string{
			"com.shop.Cart$pay$1.invoke;com.shop.Bus.emit", "com.shop.Cart.pay$lambda$0;com.shop.Bus.emit",
			"com.shop.Cart.pay$lambda-3", "com.shop.Cart.lambda$pay$2;com.shop.Cart$$ExternalSyntheticLambda0.run",
			"com.shop.Cart.$r8$lambda$Ab12Cd;com.shop.Cart$pay$2$1.invokeSuspend;kotlinx.coroutines.DispatchedTask.run",
		}, []string{"com.shop.Cart$ship$1.invoke"}},
		{"Kotlin's defaults and accessors", "kotlin", "E", []string{
			"com.shop.Cart.pay;com.shop.Cart.pay$default", "com.shop.Cart.access$pay;com.shop.Cart.pay",
			"com.shop.Cart$DefaultImpls.pay", "com.shop.Cart.pay-2TYgG_w", "com.shop.Cart.pay$app_release", "com.shop.Cart$-CC.$default$pay",
		}, []string{"com.shop.Cart.ship"}},
		{"Compose", "kotlin", "E", []string{
			"com.shop.CartScreenKt$CartScreen$1$2.invoke;androidx.compose.runtime.internal.ComposableLambdaImpl.invoke",
			"com.shop.CartScreenKt.CartScreen$lambda$4;androidx.compose.ui.Modifier.then",
		}, []string{"com.shop.CartScreenKt.CartRow$lambda$4"}},
		{"reflection and proxies", "java", "E", []string{
			"com.shop.Cart.pay;com.shop.Cart$$FastClassBySpringCGLIB$$1a2b.invoke;com.shop.Cart$$EnhancerBySpringCGLIB$$3c4d.pay",
			"com.shop.Cart.pay;jdk.internal.reflect.DirectMethodHandleAccessor.invoke;com.shop.Cart$$SpringCGLIB$$0.pay",
			"com.shop.Cart.pay;jdk.proxy2.$Proxy77.pay",
		}, []string{"com.shop.Item.pay;jdk.proxy2.$Proxy77.pay"}},
		{"obfuscated", "android", "E", []string{
			"a.b.c;com.shop.CartActivity.onCreate", "a.b.c;com.shop.CartActivity.onCreate;com.shop.Base.start",
		}, []string{"a.b.c;com.shop.ItemActivity.onCreate"}},
		{"Clojure", "clojure", "E", []string{
			"shop.cart$total$fn__1234.invoke;clojure.core$map.invoke;shop.cart$total.invokeStatic",
			"shop.cart$total$fn__88.invoke;shop.cart$total.invoke",
		}, []string{"shop.cart$ship$fn__1234.invoke"}},
		{"Clojure functions", "clojure", "E", []string{
			"shop.cart$total.invokeStatic;shop.cart$total.invoke", "shop.cart$total.doInvoke", "shop.cart$total.invoke;shop.web$show.invoke",
		}, []string{"shop.item$total.invokeStatic"}},
		{"Groovy", "groovy", "E", []string{
			"Cart$_total_closure1.doCall;Cart.total", "Cart$_total_closure2.doCall;Cart.total", "Cart$_total_closure1$_closure3.doCall",
		}, []string{"Cart$_ship_closure1.doCall"}},
		{"Groovy scripts", "groovy", "E", []string{"Script1.run", "Script42.run;groovy.lang.GroovyShell.evaluate"}, nil},
		{"Scala", "scala", "E", []string{
			"com.shop.Cart$.$anonfun$total$1;scala.collection.immutable.List.map", "com.shop.Cart$$anonfun$total$2.apply",
			"com.shop.Cart$.$anonfun$total$1$adapted;com.shop.Cart.$anonfun$total$3",
		}, []string{"com.shop.Cart$.$anonfun$ship$1"}},
		{"closures of PHP", "php", "Error", []string{
			`App\Cart->App\{closure}(Object(Item)) | /srv/app/Cart.php;array_map | /srv/app/Cart.php;App\Cart->total() | /srv/app/Cart.php`,
			`App\Cart::{closure:App\Cart::total():12} | app/Cart.php;App\Cart->total | app/Cart.php`,
			`{closure:App\Cart::total():19} | app/Cart.php;array_map | [internal function];App\Cart::total | app/Cart.php`,
		}, []string{`{closure:App\Cart::ship():19} | app/Cart.php;App\Cart::ship | app/Cart.php`}},
		{"Laravel", "php", "Error", []string{
			`App\Http\CartController->pay | /srv/a/app/Http/CartController.php;Illuminate\Routing\Controller->callAction | /srv/a/vendor/laravel/framework/x.php`, `App\Http\CartController::pay | app/Http/CartController.php;Illuminate\Routing\ControllerDispatcher->dispatch | x.php`,
		}, []string{`App\Http\ItemController->pay | /srv/a/app/Http/ItemController.php`}},
		{"labels of Ruby", "ruby", "NoMethodError", []string{
			"total | app/models/cart.rb;each | app/models/cart.rb;show | app/controllers/carts_controller.rb",
			"Cart#total | app/models/cart.rb;Array#each | app/models/cart.rb;CartsController#show | app/controllers/carts_controller.rb",
		}, []string{"Cart#ship | app/models/cart.rb"}},
		{"core methods of Ruby", "ruby", "KeyError", []string{
			"fetch | app/models/cart.rb;total | app/models/cart.rb",
			"Hash#fetch | app/models/cart.rb;Cart#total | app/models/cart.rb;run | app/jobs/x.rb",
		}, []string{"fetch | app/models/cart.rb;ship | app/models/cart.rb"}},
		{"templates of Rails", "ruby", "E", []string{
			"_app_views_carts_show_html_erb__123_456 | app/views/carts/show.html.erb;render | /gems/actionview/x.rb",
			"_app_views_carts_show_html_erb___9_8 | app/views/carts/show.html.erb",
		}, []string{"_app_views_items_show_html_erb__123_456 | app/views/items/show.html.erb"}},
		{"async in .NET", "csharp", "E", []string{
			"Shop.Cart.<PayAsync>d__12.MoveNext();Shop.Web.<Show>d__2.MoveNext()",
			"Shop.Cart.<PayAsync>d__3`1.MoveNext();--- End of stack trace from previous location ---;Shop.Web.Show()",
			"Shop.Cart.PayAsync();Shop.Jobs.Run()",
		}, []string{"Shop.Cart.<ShipAsync>d__12.MoveNext()"}},
		{"lambdas of .NET", "csharp", "E", []string{
			"Shop.Cart.<>c__DisplayClass3_0.<Pay>b__1();System.Linq.Enumerable.Select",
			"Shop.Cart.<>c.<Pay>b__7_0();lambda_method12(Closure)", "Shop.Cart+<>c__DisplayClass9_1.<Pay>b__2(Int32 x)",
		}, []string{"Shop.Cart.<>c.<Ship>b__7_0()"}},
		{"Unity", "unity", "NullReferenceException", []string{
			"Player.Damage (System.Int32 x)", "Player_Damage_m0123456789ABCDEF0123456789ABCDEF01234567 | libil2cpp.so",
			"Player:Damage(Int32) (at Assets/Player.cs:12)",
		}, []string{"Player_Heal_m0123456789ABCDEF0123456789ABCDEF01234567 | libil2cpp.so"}},
		{"Flutter", "dart", "StateError", []string{
			"List.first | dart:core/list.dart;_CartState.pay.<anonymous closure> | package:shop/cart.dart;State.setState | package:flutter/src/widgets/framework.dart", "_CartState.pay.<fn> | package:shop/src/cart.dart;<asynchronous suspension>;main | package:shop/main.dart",
		}, []string{"_CartState.ship.<anonymous closure> | package:shop/cart.dart"}},
		{"Elixir", "elixir", "KeyError", []string{
			"anonymous fn/1 in Shop.Cart.pay/2 | lib/shop/cart.ex;Enum.\"-map/2-lists^map/1-1-\"/2 | lib/enum.ex",
			"Shop.Cart.\"-pay/2-fun-0-\"/1 | lib/shop/cart.ex;Shop.Cart.pay/2",
		}, []string{"anonymous fn/1 in Shop.Cart.ship/2 | lib/shop/cart.ex"}},
		{"goroutines", "go", "runtime.Error", []string{
			"main.(*Cart).pay(0xc000012345, 0x2) | /srv/a/cart.go;main.main() | /srv/a/main.go",
			"main.(*Cart).pay | cart.go;main.(*Cart).pay | cart.go;main.main | main.go",
		}, []string{"main.(*Cart).ship | cart.go"}},
		{"coroutines of Unity", "unity", "NullReferenceException", []string{
			"Player+<Spawn>d__4.MoveNext ();UnityEngine.SetupCoroutine.InvokeMoveNext (System.Collections.IEnumerator e)",
			"Player+<Spawn>c__Iterator0.MoveNext ()",
		}, []string{"Player+<Heal>d__4.MoveNext ()"}},
	}
}

func (s *spelling) report(lines string) *report.Report {
	return stack(s.lang, s.class, "", strings.Split(lines, ";")...)
}

// TestEveryLanguageIsTried checks that each family of languages has a stack in several
// spellings and a heading in docs/crashes.md.
func TestEveryLanguageIsTried(t *testing.T) {
	t.Parallel()
	spelled, documented := map[language.Family]bool{}, map[language.Family]bool{}
	for _, s := range spellings() {
		spelled[language.OfReport(s.lang, "")] = true
	}
	for _, families := range documentedFamilies() {
		for _, f := range families {
			documented[f] = true
		}
	}
	for f := language.Native + 1; f < language.Count; f++ { // native code has tests of its own
		require.True(t, spelled[f], "family %d: add a stack in two spellings, and another bug, to spellings", f)
		require.True(t, documented[f], "family %d: add its rules to docs/crashes.md, and its heading to documentedFamilies", f)
	}
}

// TestSpellingsOfOneStack checks that all spellings of a stack have one key, and
// that other bugs have another.
func TestSpellingsOfOneStack(t *testing.T) {
	t.Parallel()
	for _, s := range spellings() {
		t.Run(s.name, func(t *testing.T) {
			first := Compute(s.report(s.same[0]))
			for _, lines := range s.same[1:] {
				require.Equal(t, first.Explanation.Material, Compute(s.report(lines)).Explanation.Material, lines)
			}
			for _, lines := range s.other {
				require.NotEqual(t, first.Key, Compute(s.report(lines)).Key, lines)
			}
		})
	}
}
