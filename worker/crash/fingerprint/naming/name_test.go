package naming

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/fingerprinttest"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
)

type nameCase struct {
	in, want string
	rule     rule.Rule
}

const noRule = rule.Count

func checkNames(t *testing.T, f language.Family, cases []nameCase) {
	t.Helper()
	t.Parallel()
	for _, c := range cases {
		t.Run(c.in, func(t *testing.T) {
			var n Namer
			got, rules := n.Normalize(f, c.in)
			require.Equal(t, c.want, got)
			if c.rule == noRule {
				require.Empty(t, rules.Names())
			} else {
				require.True(t, rules.Has(c.rule), "rule %s is missing in %v", c.rule, rules.Names())
			}
			again, _ := n.Normalize(f, got)
			require.Equal(t, got, again, "a second application changed the name")
		})
	}
}

func TestNativeNames(t *testing.T) {
	checkNames(t, language.Native, []nameCase{
		{"main", "main", noRule},
		{"ns::f", "ns::f", noRule},
		{"f(int, char const*)", "f", rule.Arguments},
		{"void ns::f(int)", "ns::f", rule.ReturnType},
		{"std::vector<int, std::allocator<int> >::push_back(int const&) const", "std::vector::push_back", rule.TemplateArguments},
		{"Foo::bar(int) const", "Foo::bar", rule.Qualifiers},
		{"Foo::bar const", "Foo::bar", rule.Qualifiers},
		{"std::enable_if<true, int>::type ns::f<int>(int)", "ns::f", rule.ReturnType},
		{"decltype (x+1) ns::f(int)", "ns::f", rule.ReturnType},
		{"A::operator()(int) const", "A::operator()", rule.Arguments},
		{"A::operator<(A const&)", "A::operator<", rule.Arguments},
		{"std::ostream& operator<< <char>(std::ostream&, char)", "operator<<", rule.TemplateArguments},
		{"A::operator unsigned int() const", "A::operator unsigned int", rule.Arguments},
		{"operator new(unsigned long)", "operator new", rule.Arguments},
		{"operator delete[](void*)", "operator delete[]", rule.Arguments},
		{"A::operator->() const", "A::operator->", rule.Arguments},
		{"ns::run(int)::{lambda(auto:1)#2}::operator()<int>(int) const", "ns::run::lambda::operator()", rule.Lambda},
		{"main::$_42::operator()() const", "main::lambda::operator()", rule.Lambda},
		{"ns::run(int) const::$_0::operator()(int) const", "ns::run::lambda::operator()", rule.Lambda},
		{"ns::run(int)::'lambda0'(int)::operator()(int) const", "ns::run::lambda::operator()", rule.Lambda},
		{"<lambda_0123456789abcdef0123456789abcdef>::operator()", "lambda::operator()", rule.Lambda},
		{"app::<lambda_7>::operator()", "app::lambda::operator()", rule.Lambda},
		{"lambda_0123456789abcdef0123456789abcdef::operator()", "lambda::operator()", rule.Lambda},
		{"(anonymous namespace)::f(int)", "{anon}::f", rule.AnonymousNamespace},
		{"`anonymous namespace'::f", "{anon}::f", rule.AnonymousNamespace},
		{"ns::`anonymous-namespace'::f", "ns::{anon}::f", rule.AnonymousNamespace},
		{"_GLOBAL__N_1::f", "{anon}::f", rule.AnonymousNamespace},
		{"`f'::`2'::local", "f::local", rule.LocalScope},
		{"f(int) [clone .cold]", "f", rule.CloneSuffix},
		{"f [clone .constprop.0]", "f", rule.CloneSuffix},
		{"f.constprop.0", "f", rule.CloneSuffix},
		{"f.part.3.isra.1.cold", "f", rule.CloneSuffix},
		{"f.llvm.1234567890", "f", rule.CloneSuffix},
		{"std::string[abi:cxx11]::f(int)", "std::string::f", rule.CloneSuffix},
		{"_platform_memmove$VARIANT$Haswell", "_platform_memmove", rule.CloneSuffix},
		{"fopen@@GLIBC_2.2.5", "fopen", rule.SymbolVersion},
		{"fopen@GLIBC_2.2.5", "fopen", rule.SymbolVersion},
		{"read@plt", "read", rule.SymbolVersion},
		{"_WinMain@16", "WinMain", rule.StdcallSuffix},
		{"@fast@8", "fast", rule.StdcallSuffix},
		{"ntdll!RtlUserThreadStart+0x21", "RtlUserThreadStart", rule.ModulePrefix},
		{"f+0x1f", "f", rule.CodeOffset},
		{"f + 31", "f", rule.CodeOffset},
		{"non-virtual thunk to A::f(int)", "A::f", rule.Thunk},
		{"public: virtual void __cdecl A::f(int)", "A::f", rule.ReturnType},
		// Rust
		{"shop::cart::pay::h0123456789abcdef", "shop::cart::pay", rule.RustHash},
		{"_ZN4shop3pay17h0123456789abcdefE", "shop::pay", rule.Mangled},
		{"<alloc::vec::Vec<u8> as core::iter::Extend<u8>>::extend::h0123456789abcdef",
			"<alloc::vec::Vec as core::iter::Extend>::extend", rule.RustHash},
		{"<A as B>::f", "<A as B>::f", noRule},
		{"shop::pay::{{closure}}::h0123456789abcdef", "shop::pay::closure", rule.Lambda},
		{"shop::pay::{closure#0}", "shop::pay::closure", rule.Lambda},
		{"core::ptr::drop_in_place::<alloc::vec::Vec<i32>>", "core::ptr::drop_in_place", rule.TemplateArguments},
		// Swift and Objective-C
		{"closure #1 (Swift.Int) -> () in App.View.load(id: Swift.Int) -> ()", "closure in App.View.load", rule.SwiftClosure},
		{"closure #2 in closure #1 in App.View.load()", "closure in App.View.load", rule.SwiftClosure},
		{"partial apply for closure #1 in App.View.load()", "closure in App.View.load", rule.SwiftDecoration},
		{"helper #1 (x: Swift.Int) -> Swift.Int in App.View.load()", "helper in App.View.load", rule.SwiftClosure},
		{"specialized App.View.load()", "App.View.load", rule.SwiftDecoration},
		{"App.View.(load in _0123456789ABCDEF0123456789ABCDEF)(x: Swift.Int)", "App.View.load", rule.SwiftDecoration},
		{"App.View.title.getter : Swift.String", "App.View.title.getter", rule.Qualifiers},
		{"-[Cart pay:with:]", "-[Cart pay:with:]", noRule},
		{"+[Cart shared]", "+[Cart shared]", noRule},
		{"__31-[Cart pay]_block_invoke_2", "-[Cart pay]_block", rule.Block},
		{"__save_block_invoke.12", "save_block", rule.Block},
	})
}

func TestJavaNames(t *testing.T) {
	checkNames(t, language.JVM, []nameCase{
		{"com.shop.Cart.pay", "com.shop.Cart.pay", noRule},
		{"com.shop.Cart.pay(Cart.java:12)", "com.shop.Cart.pay", rule.Arguments},
		{"java.base@17.0.1/java.lang.Thread.run", "java.lang.Thread.run", rule.ModulePrefix},
		{"app//com.shop.Cart.pay", "com.shop.Cart.pay", rule.ModulePrefix},
		{"com.shop.Cart$$Lambda$14/0x0000000800c03000.run", "com.shop.Cart$Lambda.run", rule.JavaLambda},
		{"com.shop.Cart$$Lambda/0x00007f.run", "com.shop.Cart$Lambda.run", rule.JavaLambda},
		{"com.shop.Cart$$ExternalSyntheticLambda3.onClick", "com.shop.Cart$Lambda.onClick", rule.JavaLambda},
		{"com.shop.-$$Lambda$Cart$GdnWqSSjCJ7iO4bZkN3tQ1uXyzA.run", "com.shop.Cart$Lambda.run", rule.JavaLambda},
		{"com.shop.Cart.lambda$pay$3", "com.shop.Cart.pay$lambda", rule.JavaLambda},
		{"com.shop.Cart.pay$lambda-3", "com.shop.Cart.pay$lambda", rule.JavaLambda},
		{"com.shop.Cart.pay$lambda$3", "com.shop.Cart.pay$lambda", rule.JavaLambda},
		{"com.shop.Cart$$EnhancerBySpringCGLIB$$3f2a91.pay", "com.shop.Cart.pay", rule.JavaProxy},
		{"com.shop.Cart$$SpringCGLIB$$0.pay", "com.shop.Cart.pay", rule.JavaProxy},
		{"com.shop.Cart_$$_jvst4f2_0.pay", "com.shop.Cart.pay", rule.JavaProxy},
		{"com.shop.Cart$HibernateProxy$x1.pay", "com.shop.Cart.pay", rule.JavaProxy},
		{"com.sun.proxy.$Proxy12.pay", "com.sun.proxy.$Proxy.pay", rule.JavaProxy},
		{"sun.reflect.GeneratedMethodAccessor123.invoke", "sun.reflect.GeneratedMethodAccessor.invoke", rule.JavaReflection},
		{"com.shop.Cart.access$000", "com.shop.Cart.access$", rule.Accessor},
		{"com.shop.Cart$1.run", "com.shop.Cart$anon.run", rule.JavaAnonymousClass},
		{"com.shop.Cart$1$2.run", "com.shop.Cart$anon.run", rule.JavaAnonymousClass},
		{"com.shop.Cart$1Line.run", "com.shop.Cart$Line.run", rule.JavaAnonymousClass},
		{"com.shop.Cart$Line.run", "com.shop.Cart$Line.run", noRule},
		{"com.shop.Cart$pay$1.invokeSuspend", "com.shop.Cart.pay$lambda", rule.JavaLambda},
		{"com.shop.Cart.pay$suspendImpl", "com.shop.Cart.pay", rule.KotlinCoroutine},
		{"com.shop.Cart.pay$default", "com.shop.Cart.pay", rule.KotlinCoroutine},
		{"com.shop.Cart.pay-impl", "com.shop.Cart.pay", rule.KotlinMangling},
		{"com.shop.Cart.pay-2TYgG_w", "com.shop.Cart.pay", rule.KotlinMangling},
		{"com.shop.Cart.pay$shop_release", "com.shop.Cart.pay", rule.KotlinCoroutine},
		{"com.shop.Cart.pay$shop_core", "com.shop.Cart.pay", rule.KotlinCoroutine},
		{"com.shop.Cart.pay$validate", "com.shop.Cart.pay$validate", noRule},
		{"com.shop.Cart$pay$1.invoke", "com.shop.Cart.pay$lambda", rule.JavaLambda},
		{"com.shop.Cart$pay$1$2.invoke", "com.shop.Cart.pay$lambda", rule.JavaLambda},
		{"com.shop.Cart$pay$1$sum$1.run", "com.shop.Cart.pay$lambda", rule.JavaLambda},
		{"com.shop.Cart.pay$lambda$2$lambda$1", "com.shop.Cart.pay$lambda", rule.JavaLambda},
		{"com.shop.Cart$pay$1.onStart", "com.shop.Cart.pay$anon.onStart", rule.JavaLambda},
		{"com.shop.Cart$Companion$create$1.invoke", "com.shop.Cart$Companion.create$lambda", rule.JavaLambda},
		{"com.shop.Cart$pay$$inlined$map$1$2.emit", "com.shop.Cart.pay$lambda", rule.JavaLambda},
		{"com.shop.CartKt$CartScreen$1$2.invoke", "com.shop.CartKt.CartScreen$lambda", rule.JavaLambda},
		{"com.shop.CartKt.CartScreen$lambda$3", "com.shop.CartKt.CartScreen$lambda", rule.JavaLambda},
		{"com.shop.ComposableSingletons$CartKt$lambda-1$1.invoke", "com.shop.CartKt.lambda", rule.JavaLambda},
		{"com.shop.CartKt$sam$i$java_lang_Runnable$0.run", "com.shop.CartKt$Lambda.run", rule.JavaLambda},
		{"com.shop.Cart$DefaultImpls.pay", "com.shop.Cart.pay", rule.Accessor},
		{"com.shop.Cart$-CC.$default$pay", "com.shop.Cart.pay", rule.Accessor},
		{"com.shop.Cart.-$$Nest$mpay", "com.shop.Cart.access$", rule.Accessor},
		{"com.shop.Cart.lambda$onCreate$0$com-shop-Cart", "com.shop.Cart.onCreate$lambda", rule.JavaLambda},
		{"com.shop.Cart.lambda$new$0", "com.shop.Cart.<init>$lambda", rule.JavaLambda},
		{"com.shop.Cart.$r8$lambda$a1b2C3d4", "com.shop.Cart.$Lambda", rule.JavaLambda},
		{"com.shop.Cart_ClientProxy.pay", "com.shop.Cart.pay", rule.JavaProxy},
		{"com.shop.Cart.pay_aroundBody0", "com.shop.Cart.pay", rule.JavaProxy},
		// Scala, Groovy, Clojure, Kotlin/Native
		{"com.shop.Cart$.pay", "com.shop.Cart.pay", rule.Accessor},
		{"com.shop.Cart.$anonfun$pay$1", "com.shop.Cart.pay$lambda", rule.JavaLambda},
		{"com.shop.Cart$$anonfun$pay$1.apply", "com.shop.Cart.pay$lambda", rule.JavaLambda},
		{"com.shop.Cart$_pay_closure1.doCall", "com.shop.Cart.pay$lambda", rule.JavaLambda},
		{"com.shop.Cart$_pay_closure1$_closure2.doCall", "com.shop.Cart.pay$lambda", rule.JavaLambda},
		{"Script1$_run_closure1.doCall", "Script.run$lambda", rule.JavaLambda},
		{"Script1.run", "Script.run", rule.JavaLambda},
		{"shop.cart$pay.invokeStatic", "shop.cart.pay", rule.JavaLambda},
		{"shop.cart$pay$fn__1234.invoke", "shop.cart.pay$lambda", rule.JavaLambda},
		{"shop.cart$eval123$fn__124.invoke", "shop.cart.eval$lambda", rule.JavaLambda},
		{"kfun:com.shop.Cart#pay(kotlin.Int){}", "com.shop.Cart.pay", rule.KotlinMangling},
	})
}

func TestJavaScriptNames(t *testing.T) {
	checkNames(t, language.JS, []nameCase{
		{"pay", "pay", noRule},
		{"Object.pay", "pay", rule.JSReceiver},
		{"Cart.pay", "pay", rule.JSReceiver},
		{"Object.<anonymous>", "", rule.JSAnonymous},
		{"?anon_0_total", "total", rule.JSAnonymous},
		{"<anonymous>", "", rule.JSAnonymous},
		{"eval", "", rule.JSAnonymous},
		{"[native code]", "", rule.JSAnonymous},
		{"Cart.pay [as onClick]", "pay", rule.JSAlias},
		{"exports.pay", "pay", rule.JSReceiver},
		{"Cart.prototype.pay", "pay", rule.JSReceiver},
		{"pay/<", "", rule.JSAnonymous},
		{"pay<", "", rule.JSAnonymous},
		{"Pt</t.pay", "pay", rule.JSReceiver},
		{"Pt</t.prototype.pay", "pay", rule.JSReceiver},
		{"shop/this.pay", "pay", rule.JSReceiver},
		{"[12]</t.pay", "pay", rule.JSReceiver},
		{"async*pay", "pay", rule.JSReceiver},
		{"setTimeout handler*pay", "pay", rule.JSReceiver},
		{"Anonymous function", "", rule.JSAnonymous},
		{"module code", "", rule.JSAnonymous},
		{"global code", "", rule.JSAnonymous},
		{"HTMLButtonElement.<anonymous>", "", rule.JSAnonymous},
		{"HTMLButtonElement.onclick", "onclick", rule.JSReceiver},
		{"e.t.<computed>", "", rule.JSAnonymous},
		{"Array.map", "Array.map", noRule},
		{"Array.map (<anonymous>)", "", rule.JSAnonymous},
		{"Object.keys (<anonymous>)", "", rule.JSAnonymous},
		{"Object.create", "create", rule.JSReceiver},
		{"new Promise (<anonymous>)", "", rule.JSAnonymous},
		{"get total", "total", rule.JSReceiver},
		{"Cart.get total [as total]", "total", rule.JSAlias},
		{"Cart.[Symbol.iterator]", "[Symbol.iterator]", rule.JSReceiver},
		{"Cart.#pay", "#pay", rule.JSReceiver},
		{"Module../src/cart.js", "", rule.JSAnonymous},
		{"Module.1234", "", rule.JSReceiver},
		{"_callee3$", "", rule.JSAnonymous},
		{"pay$", "pay", rule.JSAlias},
		{"pay$1", "pay", rule.JSAlias},
		{"eval at pay (https://x.example/a.js:1:2)", "", rule.JSAnonymous},
		{"async pay", "pay", rule.JSReceiver},
		{"new Cart", "Cart", rule.JSReceiver},
		{"https://example.org/main.js", "", rule.JSAnonymous},
	})
}

func TestScriptNames(t *testing.T) {
	t.Run("python", func(t *testing.T) {
		checkNames(t, language.Python, []nameCase{
			{"pay", "pay", noRule},
			{"load.<locals>.inner", "inner", rule.PythonScope},
			{"load.<locals>.<lambda>", "lambda", rule.Lambda},
			{"Cart.total", "total", rule.PythonScope},
			{"<lambda>", "lambda", rule.Lambda},
			{"<module>", "<module>", noRule},
		})
	})
	t.Run("ruby", func(t *testing.T) {
		checkNames(t, language.Ruby, []nameCase{
			{"pay", "pay", noRule},
			{"Shop::Cart#pay", "pay", rule.RubyClass},
			{"Cart.build", "build", rule.RubyClass},
			{"block in Cart#pay", "block in pay", rule.RubyClass},
			{"#<Class:0x00007f00>#pay", "pay", rule.RubyClass},
			{"rescue in block (2 levels) in Cart#pay", "block in pay", rule.RubyBlock},
			{"GET /cart.json", "GET /cart.json", noRule},
			{"<class:Cart>", "<class:Cart>", noRule},
			{"ActionView::Base#_app_views_cart_html_erb__382360942_70123", "_app_views_cart_html_erb", rule.RubyTemplate},
			{"block (2 levels) in pay", "block in pay", rule.RubyBlock},
			{"rescue in block in pay", "block in pay", rule.RubyBlock},
			{"ensure in pay", "pay", rule.RubyBlock},
			{"_app_views_cart_html_erb__382360942_70123", "_app_views_cart_html_erb", rule.RubyTemplate},
			{"_app_views_cart_html_erb___382360942_70123", "_app_views_cart_html_erb", rule.RubyTemplate},
		})
	})
	t.Run("php", func(t *testing.T) {
		checkNames(t, language.PHP, []nameCase{
			{`App\Cart::pay`, `App\Cart::pay`, noRule},
			{`App\Cart->pay(1, 'x')`, `App\Cart::pay`, rule.PHPCall},
			{"class@anonymous\x00/srv/app/Cart.php:12$0->pay", "class@anonymous::pay", rule.PHPAnonymousClass},
			{`App\{closure:App\Cart::pay():12}`, "{closure}", rule.PHPClosure},
			{`App\Cart->App\{closure}(Object(Item))`, "{closure}", rule.PHPClosure},
			{`App\Cart::{closure:App\Cart::pay():12}`, "{closure}", rule.PHPClosure},
			{"{closure}", "{closure}", noRule},
			{"__TwigTemplate_0123456789abcdef0123456789abcdef->doDisplay", "__TwigTemplate::doDisplay", rule.TemplateHash},
			{`ContainerAb1Cd2E\App_KernelProdContainer::getCart`, `Container\App_KernelProdContainer::getCart`, rule.TemplateHash},
			{`Proxies\__CG__\App\Cart::pay`, `App\Cart::pay`, rule.TemplateHash},
			{"Mock_Cart_1a2b3c4d::pay", "Cart::pay", rule.TemplateHash},
			{"content_5f3a9c1d2e3f4a5b_12345678", "content", rule.TemplateHash},
		})
	})
}

func TestDartNames(t *testing.T) {
	checkNames(t, language.Dart, []nameCase{
		{"_CartState.pay", "_CartState.pay", noRule},
		{"_CartState.pay.<anonymous closure>", "_CartState.pay.lambda", rule.Lambda},
		{"_CartState.pay.<anonymous closure>.<anonymous closure>", "_CartState.pay.lambda", rule.Lambda},
		{"_CartState.pay.<fn>", "_CartState.pay.lambda", rule.Lambda},
		{"new Cart.fromJson", "Cart.fromJson", rule.JSReceiver},
		{"_Parser@1026248._read@1026248", "_Parser._read", rule.LocalScope},
	})
}

func TestElixirNames(t *testing.T) {
	checkNames(t, language.Elixir, []nameCase{
		{"Shop.Cart.pay/2", "Shop.Cart.pay/2", noRule},
		{`Shop.Cart.pay(%{a: 1, b: "x, y"}, [1, 2])`, "Shop.Cart.pay/2", rule.Arguments},
		{"Shop.Cart.pay()", "Shop.Cart.pay/0", rule.Arguments},
		{"anonymous fn/1 in Shop.Cart.pay/2", "Shop.Cart.pay/2.lambda", rule.Lambda},
		{`Shop.Cart."-pay/2-fun-0-"/1`, "Shop.Cart.pay/2.lambda", rule.Lambda},
		{"(shop 0.1.0) lib/shop/cart.ex:12: Shop.Cart.pay/2", "Shop.Cart.pay/2", rule.ModulePrefix},
		{":lists.map/2", "lists.map/2", rule.ModulePrefix},
		{"lists:map/2", "lists.map/2", rule.ModulePrefix},
	})
}

func TestDotNetNames(t *testing.T) {
	checkNames(t, language.DotNet, []nameCase{
		{"Shop.Cart.Pay", "Shop.Cart.Pay", noRule},
		{"Shop.Cart.Pay(Int32 x)", "Shop.Cart.Pay", rule.Arguments},
		{"Shop.Cart.<PayAsync>d__12.MoveNext()", "Shop.Cart.PayAsync", rule.DotNetAsync},
		{"Shop.Cart+<PayAsync>d__12`1.MoveNext", "Shop.Cart.PayAsync", rule.DotNetAsync},
		{"Shop.Cart.<>c__DisplayClass3_0.<Pay>b__1(Int32 x)", "Shop.Cart.Pay.lambda", rule.DotNetLambda},
		{"Shop.Cart+<>c.<Pay>b__3_0", "Shop.Cart.Pay.lambda", rule.DotNetLambda},
		{"Shop.Cart.<Pay>g__Check|3_0(Int32 x)", "Shop.Cart.Pay.Check", rule.DotNetLambda},
		{"System.Collections.Generic.List`1[T].Add(T item)", "System.Collections.Generic.List.Add", rule.DotNetGenerics},
		{"Shop.Cart.Add<T_INT> (int)", "Shop.Cart.Add", rule.DotNetGenerics},
		{"Shop.Cart:Pay (int)", "Shop.Cart.Pay", rule.DotNetNesting},
		{"Shop.Cart..ctor()", "Shop.Cart..ctor", rule.Arguments},
		{"Cart_Pay_m0123456789ABCDEF0123456789ABCDEF01234567", "Cart.Pay", rule.IL2CPP},
		{"Cart_get_Total_m0123456789ABCDEF0123456789ABCDEF01234567_gshared", "Cart.get_Total", rule.IL2CPP},
		{"Cart__ctor_m0123456789ABCDEF0123456789ABCDEF01234567", "Cart..ctor", rule.IL2CPP},
		{"Cart+<PayRoutine>c__Iterator0.MoveNext ()", "Cart.PayRoutine", rule.DotNetAsync},
		{"Cart+<Pay>c__AnonStorey1.<>m__0 (System.Int32 x)", "Cart.Pay.lambda", rule.DotNetLambda},
		{"Cart.<Pay>m__2 ()", "Cart.Pay.lambda", rule.DotNetLambda},
		{"U3CPayRoutineU3Ed__4_MoveNext_m0123456789ABCDEF0123456789ABCDEF01234567", "PayRoutine", rule.IL2CPP},
		{"Shop.Cart.VB$StateMachine_12_PayAsync.MoveNext()", "Shop.Cart.PayAsync", rule.DotNetAsync},
		{"Shop.Cart._Closure$__3-0._Lambda$__1(Int32 x)", "Shop.Cart.lambda", rule.DotNetLambda},
		{"Shop.Cart.pay@12-1.Invoke(Unit unit)", "Shop.Cart.pay", rule.DotNetLambda},
		{"lambda_method123(Closure , Object )", "lambda_method", rule.DotNetLambda},
		{"Shop.dll!Shop.Cart.Pay(int x)", "Shop.Cart.Pay", rule.ModulePrefix},
		{"Shop.Cart.Pay + 0x1f", "Shop.Cart.Pay", rule.CodeOffset},
		{"(wrapper managed-to-native) Shop.Cart:Pay (int)", "Shop.Cart.Pay", rule.ModulePrefix},
	})
}

func TestGoNames(t *testing.T) {
	checkNames(t, language.Go, []nameCase{
		{"main.pay", "main.pay", noRule},
		{"shop/cart.(*Cart).Pay", "shop/cart.Cart.Pay", rule.GoReceiver},
		{"shop/cart.Cart.Pay", "shop/cart.Cart.Pay", noRule},
		{"main.pay.func1", "main.pay.func", rule.GoClosure},
		{"main.pay.func1.2", "main.pay.func", rule.GoClosure},
		{"main.pay.func3.1.gowrap2", "main.pay.func", rule.GoClosure},
		{"main.init.0", "main.init", rule.GoClosure},
		{"main.glob..func1", "main.glob.func", rule.GoClosure},
		{"main.(*Cart).Pay-fm", "main.Cart.Pay", rule.GoClosure},
		{"main.Map[...].Each", "main.Map.Each", rule.GoGenerics},
		{"main.(*Map[...]).Each", "main.Map.Each", rule.GoGenerics},
		{"main.pay(0xc000010, 0x2)", "main.pay", rule.Arguments},
		{"created by main.run in goroutine 17", "created by main.run", rule.Arguments},
		{"example.org/shop/vendor/example.org/cart.Pay", "example.org/cart.Pay", rule.GoVendor},
	})
}

// requireFast fails when f takes long for a name.
func requireFast(t *testing.T, f func()) {
	t.Helper()
	harmless := strings.Repeat("abcdefg.", language.MaxName/8)
	var n Namer
	require.NoError(t, fingerprinttest.Fast(func() { n.applyRules(language.Native, harmless) }, f))
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		strings.Repeat("<", 1e6), strings.Repeat("(", 1e6), strings.Repeat("{", 1e6), strings.Repeat("[", 1e6), strings.Repeat("`", 1e6),
		strings.Repeat("a<b>", 1e5), strings.Repeat("a b ", 1e5), strings.Repeat("@", 1e6), strings.Repeat("$1", 1e5),
		strings.Repeat("::h0123456789abcdef", 1e4),
		strings.Repeat("closure #1 in ", 1e4), strings.Repeat("block (1 levels) in ", 1e4), strings.Repeat("Object.", 1e5),
		strings.Repeat("<a as b>::", 1e5), strings.Repeat("é", 1e6),
		strings.Repeat("bound ", 1e5), strings.Repeat("operator", 1e5), strings.Repeat(".<locals>", 1e5),
		strings.Repeat("(*a).", 1e5), strings.Repeat("x->", 1e5), strings.Repeat("@anonymous->", 1e5),
	} {
		for f := language.Unknown; f < language.Count; f++ {
			var n Namer
			var text string
			requireFast(t, func() { text, _ = n.Normalize(f, s) })
			require.LessOrEqual(t, len(text), MaxText)
			again, _ := n.Normalize(f, text)
			require.Equal(t, text, again)
		}
	}
}

func FuzzName(f *testing.F) {
	for fam := language.Unknown; fam < language.Count; fam++ {
		for _, s := range []string{"", "f<int>(a)", "ns::run(int)::{lambda(auto:1)#2}::operator()<int>(int) const",
			"a::h0123456789abcdef", "<A as B<C>>::f", "closure #1 (X) -> () in A.b()", "__31-[Cart pay]_block_invoke_2",
			"com.shop.Cart$$Lambda$14/0x0000.run", "com.shop.Cart$pay$1.invokeSuspend", "Object.foo [as bar]",
			"block (2 levels) in pay", "_a_erb__1_2", "Shop.Cart.<>c__DisplayClass3_0.<Pay>b__1(Int32 x)",
			"shop/cart.(*Cart).Pay.func1.2", "_x@16", "`a'::`2'::b", "class@anonymous\x00/a.php:1$0->pay"} {
			f.Add(uint8(fam), s)
		}
	}
	f.Fuzz(func(t *testing.T, fam uint8, s string) {
		fa := language.Family(fam % uint8(language.Count))
		var n Namer
		text, _ := n.Normalize(fa, s)
		if len(text) > 2*len(s)+len(Unreadable) || len(text) > MaxText {
			t.Fatalf("%q became %q: too long", s, text)
		}
		if again, _ := n.Normalize(fa, text); again != text {
			t.Fatalf("%q became %q, then %q", s, text, again)
		}
	})
}

func TestManyLongNamesAreBounded(t *testing.T) {
	t.Parallel()
	var n Namer
	long := "f<" + strings.Repeat("a, ", 20_000) + "b>::g(int)"
	text, _ := n.Normalize(language.Native, long)
	require.Equal(t, "f::g", text)
	for range 20 {
		text, _ = n.Normalize(language.Native, long)
	}
	require.Equal(t, "f", text, "beyond maxNames only the start of a name is read")
}

// TestNativeSpellings checks that one function has one name, however a tool
// writes it.
func TestNativeSpellings(t *testing.T) {
	t.Parallel()
	for want, spellings := range map[string][]string{
		"ns::f": {"ns::f", "ns::f(int)", "int ns::f<int>(int)", "ns::f<int>", "_ZN2ns1fEi", "__ZN2ns1fEi", "_ZN2ns1fIiEEiT_",
			"_ZN2ns1fEi.cold", "_ZN2ns1fEi.constprop.0", "_ZN2ns1fEi@plt", "_ZN2ns1fEi+0x1f", "ns::f(int) (.cold)", "ns::f(int) [clone .isra.0]",
			"?f@ns@@YAHH@Z", "app!ns::f+0x1f", "app!?f@ns@@YAHH@Z+0x1f", "#3  0x00005581 in ns::f (n=3) at src/a.cpp:12",
			"#1 0x55d0 in ns::f(int) /src/a.cpp:12:3", "4   app    0x0000000104 ns::f(int) + 40",
			"#02 pc 0000abcd  /data/app/lib/libapp.so (ns::f(int)+164) (BuildId: 01ab)"},
		"shop::Cart::pay": {"shop::Cart::pay", "?pay@Cart@shop@@QEAAHXZ", "public: int __cdecl shop::Cart::pay(void) __ptr64",
			"public: int __cdecl shop::Cart::pay", "_ZN4shop4Cart3payEv", "shop::Cart::pay() const", "shop::v2::Cart::pay()",
			"<shop[4d2f1c]::Cart>::pay", "shop[4d2f1c]::Cart::pay", "<shop::Cart>::pay",
			"shop::cart::<impl shop::Cart>::pay::h0123456789abcdef", "[thunk]:shop::Cart::pay`adjustor{16}'(void)"},
		"std::vector::push_back": {"std::vector<int, std::allocator<int> >::push_back(int const&)",
			"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::__1::vector<int>::push_back(int&&)",
			"_ZNSt3__16vectorIiNS_9allocatorIiEEE9push_backERKi", "std::__ndk1::vector<int>::push_back",
			"?push_back@?$vector@HV?$allocator@H@std@@@std@@QEAAXAEBH@Z", "std::__debug::vector<int>::push_back(int const&)"},
		"std::basic_string::append": {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append(char const*)",
			"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc", "std::basic_string<char>::append"},
		"{anon}::f": {"(anonymous namespace)::f(int)", "`anonymous namespace'::f", "?A0x12345678::f",
			"_ZN12_GLOBAL__N_11fEi", "?f@?A0x1a2b3c4d@@YAXXZ", "<unnamed>::f", "(anonymous)::f", "{anonymous}::f(int)",
			"_GLOBAL__N_1::f", "_GLOBAL__N__8f2a11c0_4_a_cu_9::f"},
		"main::lambda::operator()": {"main::{lambda(int)#1}::operator()(int) const",
			"main()::<lambda(int)>::operator()(int) const", "main::$_0::operator()(int) const",
			"main::'lambda'(int)::operator()(int) const", "main::<lambda_0123456789abcdef0123456789abcdef>::operator()",
			"_ZZ4mainENKUliE_clEi", "main::{lambda()#1}::operator()() const::{lambda(int)#1}::operator()(int) const"},
		"A::A":  {"A::A(int)", "_ZN1AC2Ei", "_ZN1AC1Ei", "??0A@@QEAA@H@Z"},
		"A::~A": {"A::~A()", "_ZN1AD0Ev", "_ZN1AD2Ev", "??1A@@UEAA@XZ", "??_GA@@UEAAPEAXI@Z"},
		"<app::T as core::fmt::Debug>::f": {"<app::T as core::fmt::Debug>::f", "<app[12ab]::T as core[34cd]::fmt::Debug>::f",
			"<app::T<u8> as core::fmt::Debug>::f::h0123456789abcdef", "app::x::<impl core::fmt::Debug for app::T>::f",
			"_$LT$app..T$u20$as$u20$core..fmt..Debug$GT$::f::h0123456789abcdef"},
		"app::main::closure": {"app::main::{{closure}}::h0123456789abcdef", "app[4d2f1c]::main::{closure#0}",
			"app::main::{closure#1}::{closure#0}", "_RNCNvCs4d2f1c_3app4main0B3_", "app::main::closure_env$0",
			"app::main::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef"},
		"app::main": {"_RNvCs4d2f1c_3app4main", "app[4d2f1c]::main", "_ZN3app4main17h0123456789abcdefE",
			"app::main::h0123456789abcdef"},
		"App.View.load": {"App.View.load() -> ()", "$s3App4ViewC4loadyyF", "_$s3App4ViewC4loadyyF",
			"$s3App4ViewC4loadyyYaFTQ0_", "$s3App4ViewC4loadyyYaFTY1_",
			"(3) suspend resume partial function for App.View.load() async -> ()",
			"(1) await resume partial function for App.View.load()", "static App.View.load() -> ()", "@objc App.View.load() -> ()",
			"merged App.View.load()", "generic specialization <Swift.Int> of App.View.load()",
			"default argument 0 of App.View.load(id: Swift.Int) -> ()"},
		"closure in App.View.load": {"closure #1 in App.View.load()", "closure #2 in closure #1 in App.View.load()",
			"closure #1 () -> () in closure #3 (Swift.Int) -> () in App.View.load() -> ()",
			"partial apply for closure #1 in App.View.load()", "implicit closure #2 in implicit closure #1 in App.View.load()",
			"$s3App4ViewC4loadyyFyycfU_", "$s3App4ViewC4loadyyFyycfU0_TA"},
		"outlined destroy": {"outlined destroy of App.View?", "outlined destroy of Any"},
		"-[Cart pay:]": {"-[Cart pay:]", "-[Cart(Shop) pay:]", "-[Cart pay:] + 12",
			"3   Shop   0x0000000104f -[Cart pay:] + 120"},
		"-[Cart pay]_block": {"__31-[Cart pay]_block_invoke_2", "__31-[Cart(Shop) pay]_block_invoke.12", "-[Cart pay]_block"},
		"app.main.run":      {"_D3app4main3runFZv", "app.main.run"},
		"main.sort":         {"main.sort__anon_1234", "main.sort"},
	} {
		for _, s := range spellings {
			var n Namer
			got, _ := n.Normalize(language.Native, s)
			require.Equal(t, want, got, s)
			again, _ := n.Normalize(language.Native, got)
			require.Equal(t, got, again, s)
		}
	}
}

// TestNativeNamesStayApart checks that the rules do not join what differs.
func TestNativeNamesStayApart(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"v8::internal::f", "internal::f"}, {"a::f", "b::f"}, {"_ZN1a1fEv", "_ZN1b1fEv"}, {"?f@a@@YAXXZ", "?f@b@@YAXXZ"},
		{"<a::T as x::Y>::f", "<a::U as x::Y>::f"}, {"A::operator<(A)", "A::operator>(A)"},
		{"-[Cart pay]", "+[Cart pay]"}, {"$s3App4ViewC4loadyyF", "$s3App4CartC4loadyyF"}, {"<signal handler called>", "signal"},
		{"operator new(unsigned long)", "operator delete(void*)"}, {"A::A()", "A::~A()"},
	} {
		var n Namer
		a, _ := n.Normalize(language.Native, pair[0])
		b, _ := n.Normalize(language.Native, pair[1])
		require.NotEqual(t, a, b, pair)
		require.NotEmpty(t, a)
		require.NotEmpty(t, b)
	}
}

func TestHostileSymbols(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"_Z1f" + strings.Repeat("1aIS_S_E", 200), "_Z1fI" + strings.Repeat("1aI", 300), "_ZN" + strings.Repeat("1aI", 100) +
			"Z" + strings.Repeat("1bE", 100), "_R" + strings.Repeat("Nv", 900) + "C1a", "_R" + strings.Repeat("I", 600) +
			"C1a" + strings.Repeat("B2_E", 300),
		"?f@" + strings.Repeat("?$a@V", 300), "?f@" + strings.Repeat("??", 500), "?f@" + strings.Repeat("?1", 500),
		"$s" + strings.Repeat("1a0A", 400), "_D" + strings.Repeat("1a", 900), "_D99999", "$s99999a", "??", "?", "_R",
		"_Z", "$s", "?$", strings.Repeat("_$LT$", 10000), strings.Repeat("operator()::", 5000), strings.Repeat("v1::", 10000),
		"#", "#1 pc (", "0x", "1 a 0x1",
		strings.Repeat("-[A(", 10000), strings.Repeat("default argument 0 of ", 3000),
		strings.Repeat("(1) suspend resume partial function for ", 2000), strings.Repeat("lambda::operator()::", 3000),
	} {
		var n Namer
		var text string
		requireFast(t, func() { text, _ = n.Normalize(language.Native, s) })
		require.LessOrEqual(t, len(text), MaxText)
		again, _ := n.Normalize(language.Native, text)
		require.Equal(t, text, again)
	}
}

func TestWasmNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<?>.wasm-function[pay_cart]":              "pay_cart",
		"cart.wasm.wasm-function[pay]@[wasm code]": "pay",
		"cart.wasm.wasm-function[7]:0x1a":          "wasm-function[7]",
	} {
		got, ok := wasmIndex(in)
		require.True(t, ok, in)
		require.Equal(t, want, got)
	}
	for _, in := range []string{"my_wasm-function[pay]", "wasm-function[]", "wasm-function[pay", "wasm-function[7"} {
		_, ok := wasmIndex(in)
		require.False(t, ok, in)
	}
}
