package javascript

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Functions lie in the text, one in the other or apart.
func FuzzEnclosingFunction(f *testing.F) {
	for _, s := range []string{
		"function a(b = () => 1) { return `x ${ c => { d } } y` }", "class A extends B { #x = async () => { y(); } static { z } get [a]() { } }",
		"const f = <T,>(x: T): Promise<{ a: T }> => x ? y : z", "a = b ? (c) : d => e\nf", "<A b={() => <C/>}>it's {d}</A>",
		"x = /[/]/ / 2; y = a! / b",
		"type A<T> = (a: T) => void\ninterface B { c(): void }", "var o = { a() {}, 'b': function* () {}, c: async d => ({}) }",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		for _, name := range []string{"a.ts", "a.jsx"} {
			list := Functions(p, name)
			for i := range list.Functions {
				x := &list.Functions[i]
				require.False(t, x.To.Before(x.From))
				if x.Parent >= 0 {
					require.Less(t, int(x.Parent), i)
				}
				if i > 0 {
					require.False(t, x.From.Before(list.Functions[i-1].From))
				}
				list.Find(x.From)
			}
		}
	})
}
