package native

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDemangle(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"main":               "main",
		"_ZN3app4mainEi":     "app::main(int)",
		"__ZN3app4mainEi":    "app::main(int)",
		"_ZNSt6vectorIiE1fE": "std::vector<int>::f",
		"_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE": "core::fmt::Formatter::write_str",
		"_RNvNtCs1234_7mycrate3foo3bar":                        "mycrate::foo::bar",
		"$s4main3fooyyF":                                       "$s4main3fooyyF",
		"_Z":                                                   "_Z",
		"_Release":                                             "_Release",
		"_RINvMs6_NtCsgvbsrvnw3yD_9hashbrown3rawINtB6_8RawTableTReyEE14reserve_rehashNCINvNtB8_3map11make_hasherBQ_yNtNtNtCsjrHSEGnQ3l9_3std4hash6random11RandomStateE0ECsfq2Zq5gqAK1_2v0.llvm.6138278372086181379": "<hashbrown::raw::RawTable<(&str, u64)>>::reserve_rehash::<hashbrown::map::make_hasher<&str, u64, std::hash::random::RandomState>::{closure#0}>",
		"__RNvNtCs1234_7mycrate3foo3bar":       "mycrate::foo::bar",
		"camlStdlib__List__map_123":            "Stdlib.List.map",
		"_camlShop__total$27_87":               "Shop.total'",
		"camlShop__$2b$21_83":                  "Shop.+!",
		"camlShop__fun_268":                    "Shop.(fun)",
		"camlShop__fail_now_170":               "Shop.fail_now",
		"camlStdlib.List.map_123":              "Stdlib.List.map",
		"camlStd_exit__entry":                  "Std_exit.entry",
		"caml_main":                            "caml_main",
		"camlShop__a$zz_1":                     "camlShop__a$zz_1",
		"camlShop":                             "camlShop",
		"total__shopZcart_u12":                 "cart.total",
		"dollar___systemZdollars_u3":           "dollars.$",
		"X5BX5Deq___shop_u154":                 "shop.[]=",
		"eqdestroy___systemZassertions_u":      "eqdestroy___systemZassertions_u",
		"eqdestroy___shop_u23":                 "shop.=destroy",
		"fail_now__shop_u67":                   "shop.fail_now",
		"fail_now__shop_67":                    "fail_now__shop_67", // of C, for all that one knows
		"__libc_start_main":                    "__libc_start_main",
		"a__b_u":                               "a__b_u",
		"":                                     "",
		"_Z" + strings.Repeat("P", maxMangled): "_Z" + strings.Repeat("P", maxMangled),
	} {
		require.Equal(t, want, Demangle(name))
	}
}

func TestNimNamesOfAKnownSource(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"fail_now__shop_67": "shop.fail_now", "lteqpercent___system_985": "system.<=%", "plusemark___shop_53": "shop.+!",
		"addInt__stdZprivateZdigitsutils_164": "digitsutils.addInt", "dealloc": "", "Marker_tyRef__Ie1m0dv1ZHg72IgPRr1cDw": "",
		"__shop_1": "", "a__Z_1": "",
	} {
		got, ok := nimName(name, true)
		require.Equal(t, want, got, name)
		require.Equal(t, want != "", ok, name)
	}
}

// Names of Rust's newer scheme are those of llvm-cxxfilt, for all functions of a program.
func TestRustNamesAgree(t *testing.T) {
	t.Parallel()
	rustc, err := exec.LookPath("rustc")
	filter, missing := exec.LookPath("llvm-cxxfilt")
	if err != nil || missing != nil {
		t.Skip("needs rustc and llvm-cxxfilt")
	}
	folder := t.TempDir()
	source, program := filepath.Join(folder, "shop.rs"), filepath.Join(folder, "shop")
	require.NoError(t, os.WriteFile(source,
		[]byte(`fn main() { println!("{:?}", [1, 2].iter().map(|x| x * 2).collect::<Vec<i32>>()); }`), 0o600))
	out, err := exec.Command(rustc, "-C", "symbol-mangling-version=v0", "-o", program, source).CombinedOutput()
	require.NoError(t, err, string(out))
	f, err := elf.Open(program)
	require.NoError(t, err)
	defer f.Close()
	symbols, err := f.Symbols()
	require.NoError(t, err)
	var names []string
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && strings.HasPrefix(s.Name, "_R") {
			names = append(names, s.Name)
		}
	}
	require.Greater(t, len(names), 100)
	run := exec.Command(filter)
	run.Stdin = strings.NewReader(strings.Join(names, "\n"))
	text, err := run.Output()
	require.NoError(t, err)
	same := 0
	for i, want := range strings.Split(strings.TrimSpace(string(bytes.TrimSpace(text))), "\n") {
		if Demangle(names[i]) == want {
			same++
		} else {
			t.Logf("%s: %s, not %s", names[i], Demangle(names[i]), want)
		}
	}
	t.Logf("%d of %d names agree", same, len(names))
	require.GreaterOrEqual(t, same*1000, len(names)*995)
}

// Any text is read in bounds, and what is not a name stays.
func FuzzDemangle(f *testing.F) {
	for _, name := range []string{"_RNvNtCs1234_7mycrate3foo3bar", "camlShop__$2b$21_83", "X5BX5Deq___shop_u154", "_ZN3app4mainEi"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		require.LessOrEqual(t, len(Demangle(name)), max(len(name), 1<<maxDemangled))
		_, _ = nimName(name, true)
	})
}
