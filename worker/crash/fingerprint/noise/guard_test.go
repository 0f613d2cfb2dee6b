package noise

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"

	"github.com/stretchr/testify/require"
)

func TestHelpersAndTellingNames(t *testing.T) {
	t.Parallel()
	const helper, empty, telling = "helper", "empty", "telling"
	for _, c := range []struct {
		f    language.Family
		kind string
		in   []string
	}{
		{language.Python, helper, []string{"wrapper", "inner", "__call__", "retry.wrapper", "check_positive", "require_not_none",
			"fail", "die", "log_and_exit", "raise_error", "assertNotNull", "ensure", "handle_error"}},
		{language.Python, empty, []string{"<module>", "main", "lambda", "f", "fn"}},
		{language.Python, telling, []string{"pay", "checkout", "check_stock", "load.lambda", "Cart.get", "require_login",
			"log_in", "capture", "verify", "report", "check_in", "check_status", "ensure_cart", "__init__", "get"}},
		{language.JS, helper, []string{"invariant", "assertDefined", "throwError", "logError", "wrapper", "throwIfNull",
			"reportError", "handleError", "die"}},
		{language.JS, empty, []string{"dispatchEvent", "notifyListeners", "t", "Pt", "e", "exports", "default", "callback", "aB1", "main"}},
		{language.JS, telling, []string{"pay", "Cart.pay", "render", "onClick", "checkout", "Cart.run", "requireCart", "go2cart"}},
		{language.JVM, helper, []string{"com.shop.Assert.notNull", "com.shop.Checks.positive", "com.shop.Contract.requireValid",
			"com.shop.Cart.checkNotNull", "com.shop.util.Log.fatal", "com.shop.Cart.throwError", "com.shop.Logger.e"}},
		{language.JVM, empty, []string{"a.b.c", "a.a.onClick", "com.shop.a.b", "com.shop.Cart$anon.run", "com.shop.CartKt.lambda",
			"com.shop.Cart.lambda"}},
		{language.JVM, telling, []string{"com.shop.Cart.pay", "com.shop.Cart.pay$lambda", "com.shop.Cart.a", "com.shop.Main.main",
			"com.shop.Cart.checkStock", "com.shop.Contract.sign", "com.shop.Check.cash", "com.shop.Cart.run"}},
		{language.DotNet, helper, []string{"Shop.Guard.NotNull", "Shop.Cart.ThrowIfNull", "Shop.Log.Error"}},
		{language.DotNet, telling, []string{"Shop.Cart.Pay", "Shop.Program.Main", "Shop.Cart.Pay.lambda"}},
		{language.Ruby, helper, []string{"each", "/", "Integer", "require", "check!", "wrapper"}},
		{language.Ruby, empty, []string{"<top (required)>", "<main>", "fetch", "block in <main>"}},
		{language.Ruby, telling, []string{"pay", "block in pay", "call", "<class:Cart>", "valid_cart?"}},
		{language.PHP, helper, []string{"require_once", `App\Assert::notNull`, `App\Cart::throwError`, "dieWithError"}},
		{language.PHP, empty, []string{"{closure}", "{main}", "main"}},
		{language.PHP, telling, []string{`App\Cart::pay`, "pay", "class@anonymous::pay", `App\Cart::handle`}},
		{language.Go, helper, []string{"main.must", "shop/cart.check", "main.checkErr", "main.panicIf", "main.die", "shop/log.Fatal"}},
		{language.Go, empty, []string{"main.main", "main.init"}},
		{language.Go, telling, []string{"main.pay", "shop/cart.Cart.Pay", "shop/cart.run", "main.Cart.Run", "main.pay.func"}},
	} {
		for _, name := range c.in {
			require.Equal(t, c.kind == helper, IsHelper(c.f, name), "helper %q", name)
			require.Equal(t, c.kind == telling, IsTelling(c.f, name), "telling %q", name)
		}
	}
}

func TestSystemCall(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		"memcpy": {"memcpy", "memmove", "__memmove_avx_unaligned_erms", "__memcpy_avx512_unaligned_erms",
			"__memcpy_chk", "__asan_memcpy", "__interceptor_memcpy", "___interceptor_memcpy", "_platform_memmove",
			"__GI_memcpy", "__memcpy_ssse3_back", "__msan_memmove", "RtlCopyMemory", "__memcpy_aarch64_simd"},
		"memset": {"memset", "__memset_avx2_unaligned_erms", "__bzero", "_platform_bzero", "__interceptor_memset"},
		"free": {"free", "__GI___libc_free", "_int_free", "cfree", "__interceptor_free", "RtlFreeHeap",
			"_free_base", "__libc_free", "je_free"},
		"malloc": {"malloc", "__GI___libc_malloc", "_int_malloc", "__interceptor_malloc", "RtlAllocateHeap",
			"malloc_consolidate"},
		"strlen": {"strlen", "__strlen_avx2", "__strlen_evex", "__interceptor_strlen", "strnlen", "__strlen_sse2"},
		"pthread_mutex_lock": {"pthread_mutex_lock", "___pthread_mutex_lock", "__GI___pthread_mutex_lock",
			"__pthread_mutex_lock_full", "RtlEnterCriticalSection"},
		"sprintf":      {"sprintf", "__vsprintf_chk", "___sprintf_chk", "vsnprintf", "_IO_vsprintf"},
		"operator new": {"operator new", "operator new[]"},
		"objc_release": {"objc_release", "_objc_release", "objc_release_x19", "CFRelease"},
		"-[NSArray objectAtIndex:]": {"-[__NSArrayM objectAtIndex:]", "-[__NSArray0 objectAtIndex:]",
			"-[__NSArrayI objectAtIndexedSubscript:]", "-[__NSSingleObjectArrayI objectAtIndex:]"},
		"": {"", "std::vector::at", "std::mutex::lock", "abort", "__assert_fail", "start_thread",
			"raise", "__cxa_throw", "outlined destroy", "<signal handler called>", "__asan_report_load4", "__ubsan_handle_add_overflow"},
	} {
		for _, name := range names {
			require.Equal(t, want, SystemCall(name), name)
		}
	}
	require.NotEqual(t, SystemCall("strcpy"), SystemCall("strcat"))
	require.NotEqual(t, SystemCall("free"), SystemCall("realloc"))
}

func TestNativeHelpers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"die", "log_fatal", "assert_failed", "AssertFailed", "app::throwIfNull", "util::Check::fail",
		"xmalloc", "safe_free", "zrealloc", "RefPtr::operator->", "<shop::Handle as core::ops::deref::Deref>::deref",
		"Vec::operator[]", "LLVMFuzzerTestOneInput", "WTFCrash", "panic_handler", "base::ImmediateCrash", "fatal_error",
		"Assert::IsTrue", "crash_handler"} {
		require.True(t, IsNativeHelper(name), name)
	}
	for _, name := range []string{"crash", "pay", "check_order", "Cart::checkout", "list_free", "parse_error_table",
		"lambda::operator()", "main::lambda::operator()", "Less::operator()", "load_log", "mem_pool_grow", "shop::Cart::pay",
		"free_cart", "operator<<", "<app::Handle as core::ops::drop::Drop>::drop"} {
		require.False(t, IsNativeHelper(name), name)
	}
}

func TestNativeSystemFrames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"std::vector::push_back", "__interceptor_memcpy", "__asan_memcpy", "__memmove_avx_unaligned_erms",
		"outlined destroy", "swift_memcpy", "block_destroy_helper", "block_copy_helper", "swift_project_boxed_opaque_existential",
		"objc_msgSend", "_objc_msgSend", "objc_release", "reabstraction thunk", "core::option::Option::map",
		"<core::iter::Map as core::iter::Iterator>::next", "operator new", "-[__NSArrayM objectAtIndex:]", "swift_retain",
		"Swift.Array.subscript.getter"} {
		require.True(t, isNativeSystemName(name), name)
	}
	for _, name := range []string{"main", "shop::pay", "-[Cart pay]", "-[NSString trimmed]", "read", "send",
		"<shop::Cart as core::ops::drop::Drop>::drop", "App.View.load", "operator<<", "closure in App.View.load",
		"format_price", "object_store", "strategy", "memory_map"} {
		require.False(t, isNativeSystemName(name), name)
	}
	for _, library := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "libc.so", "libsystem_platform.dylib", "ntdll.dll",
		`C:\Windows\System32\KERNEL32.DLL`, "UIKitCore", "/apex/com.android.runtime/lib64/bionic/libc.so", "libz.so.1",
		"/System/Library/Frameworks/Foundation.framework/Foundation"} {
		require.True(t, isNativeSystemFile("", library), library)
	}
	for _, library := range []string{"shop", "/opt/shop/bin/shopd", "libshop.so", "/data/app/com.shop/lib/arm64/libshop.so",
		"Shop.exe", `C:\Program Files\Shop\shop.dll`} {
		require.False(t, isNativeSystemFile("", library), library)
	}
	for _, file := range []string{"../sysdeps/x86_64/multiarch/memmove-vec-unaligned-erms.S", "./nptl/pthread_mutex_lock.c",
		"/rustc/abc/library/core/src/option.rs", "/usr/include/c++/12/bits/stl_vector.h", "<compiler-generated>",
		"../../../../src/libsanitizer/asan/asan_malloc_linux.cpp", "/home/u/.cargo/registry/src/x/y.rs"} {
		require.True(t, isNativeSystemFile(file, ""), file)
	}
}

func TestModulesWithoutFolder(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		"core.mjs": true, "cart.mjs": true, "/srv/shop/cart.mjs": false, "https://shop.example/cart.mjs": false,
		"file:///srv/cart.mjs": false, "src/cart.mjs": false, "./cart.mjs": false, "cart.js": false, "main.js": false,
	} {
		require.Equal(t, want, isJSSystemFile(file), file)
	}
}
