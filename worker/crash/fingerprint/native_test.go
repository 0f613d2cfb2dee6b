package fingerprint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
		"std::basic_string::append": {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append(char const*)", "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc", "std::basic_string<char>::append"},
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
			var n namer
			got, _ := n.normalize(familyNative, s)
			require.Equal(t, want, got, s)
			again, _ := n.normalize(familyNative, got)
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
		var n namer
		a, _ := n.normalize(familyNative, pair[0])
		b, _ := n.normalize(familyNative, pair[1])
		require.NotEqual(t, a, b, pair)
		require.NotEmpty(t, a)
		require.NotEmpty(t, b)
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
			require.Equal(t, want, systemCall(name), name)
		}
	}
	require.NotEqual(t, systemCall("strcpy"), systemCall("strcat"))
	require.NotEqual(t, systemCall("free"), systemCall("realloc"))
}

func TestNativeHelpers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"die", "log_fatal", "assert_failed", "AssertFailed", "app::throwIfNull", "util::Check::fail",
		"xmalloc", "safe_free", "zrealloc", "RefPtr::operator->", "<shop::Handle as core::ops::deref::Deref>::deref",
		"Vec::operator[]", "LLVMFuzzerTestOneInput", "WTFCrash", "panic_handler", "base::ImmediateCrash", "fatal_error",
		"Assert::IsTrue", "crash_handler"} {
		require.True(t, isNativeHelper(name), name)
	}
	for _, name := range []string{"crash", "pay", "check_order", "Cart::checkout", "list_free", "parse_error_table",
		"lambda::operator()", "main::lambda::operator()", "Less::operator()", "load_log", "mem_pool_grow", "shop::Cart::pay",
		"free_cart", "operator<<", "<app::Handle as core::ops::drop::Drop>::drop"} {
		require.False(t, isNativeHelper(name), name)
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
		var n namer
		var text string
		requireFast(t, func() { text, _ = n.normalize(familyNative, s) })
		require.LessOrEqual(t, len(text), maxText)
		again, _ := n.normalize(familyNative, text)
		require.Equal(t, text, again)
	}
}
