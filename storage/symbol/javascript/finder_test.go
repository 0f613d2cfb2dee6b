package javascript

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each line of a text has the name of the function that its code is in behind //@; "-" for
// none. The code is the last call in the line, or the line's first token.
func TestFunctionsOf(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"functions.js": `top(); //@ -
function plain(a = x) { call(a); } //@ plain
function first() {
  call(); //@ first
  function second() { call(
    1); } //@ second
  call(); //@ first
}
async function later() {
  await call(); //@ later
}
function* steps() {
  yield call(); //@ steps
}
async function* both() { call(
  ); } //@ both
var held = function () {
  call(); //@ held
};
let named = function own() {
  call(); //@ own
};
list.forEach(function () {
  call(); //@ <anonymous>
});
exports.out = async function () {
  call(); //@ out
};
Thing.prototype.act = function () {
  call(); //@ Thing.act
};
map["quoted"] = function () {
  call(); //@ quoted
};
(function () {
  call(); //@ <anonymous>
})();
late ||= function () {
  call(); //@ late
};
export default function () {
  call(); //@ default
}
label: {
  call(); //@ -
}
`,
		"arrows.js": `const one = () => call( //@ one
  1);
call(); //@ -
const two = (a, b = {x: 1}) => {
  call(); //@ two
};
const three = a => b => call(
  a); //@ <anonymous>
const four = async a => { call(
  ); }; //@ four
list.map(x => call(x)).filter(y => { call(
  y) }); //@ <anonymous>
const five = a
  ? (b) : c => call( //@ <anonymous>
  c)
const six = () => call()
call( //@ -
)
const seven = () =>
  call() //@ seven
  .then(() => call( //@ <anonymous>
  ))
const eight = () => ({ a: call( //@ eight
  1) }), nine = () => call( //@ nine
  );
call(1, () => { call(
  ) }, 2); //@ <anonymous>
const { ten = () => call( //@ ten
  ) } = x;
`,
		"classes.js": `class Shop extends mixin({ a: 1 }) {
  constructor() {
    call(); //@ new Shop
  }
  buy(item) {
    call(); //@ Shop.buy
  }
  static open() {
    call(); //@ Shop.open
  }
  async *walk() {
    call(); //@ Shop.walk
  }
  get price() {
    return call(); //@ Shop.price
  }
  set price(v) {
    call(); //@ Shop.price
  }
  #hidden() {
    call(); //@ #hidden
  }
  'quoted name'() {
    call(); //@ Shop.quoted name
  }
  [Symbol.iterator]() {
    call(); //@ Shop.[Symbol.iterator]
  }
  [computed]() {
    call(); //@ <anonymous>
  }
  handler = () => {
    call(); //@ handler
  }
  #secret = async () => call( //@ #secret
    1)
  field = call( //@ -
    2);
  static {
    call(); //@ -
  }
  get() { call( 
    ); } //@ Shop.get
  static async static() { call(
    ); } //@ Shop.static
  if() { call(
    ); } //@ Shop.if
}
const Other = class {
  act() {
    call(); //@ Other.act
  }
};
const Third = class Inner { constructor() { call(
  ); } }; //@ new Inner
use(class { go() { call(
  ); } }); //@ go
function outer() {
  return class Nested {
    run() { call(
    ); } //@ Nested.run
    x = call( //@ -
    )
  };
}
`,
		"objects.js": `const api = {
  get(id) {
    call(); //@ get
  },
  async load() { call(
    ); }, //@ load
  *steps() { call(
    ); }, //@ steps
  get size() { return call(
    ); }, //@ size
  'x-y': function () { call(
    ); }, //@ x-y
  arrow: () => call( //@ arrow
    ),
  12: () => call( //@ 12
    ),
  [k]: () => call( //@ <anonymous>
    ),
  [k]() { call(
    ); }, //@ <anonymous>
  nested: { deep() { call(
    ); } }, //@ deep
  cond: a ? b => call( //@ <anonymous>
    ) : () => { call(
    ); }, //@ <anonymous>
  plain: call( //@ -
    ),
  ...spread(() => call( //@ <anonymous>
    )),
};
if (a) { call(
  ); } else call({ m() { call(
  ); } }); //@ m
switch (x) { case 1: { call(
  ); } default: call( //@ -
  ); }
`,
		"lexis.js": "#!/usr/bin/env node\n" + `const r = /[/"]{/g, s = 'it\'s {', d = a / b / c; /* { */ // {
function slash() {
  if (x) /}/.test(y); //@ slash
  const q = (a) / 2 / call(); //@ slash
  a = b ? /[}]/ : c++ / 2 / call(); //@ slash
  return /'/.test(z); //@ slash
}
function temps() {
  return ` + "`a ${ call({ b: `${ () => call(" + ` //@ <anonymous>
  ) }` + "` }) } } ` + call();" + ` //@ temps
}
function numbers() {
  return 1.5e+3 + .5 + 0x1e + 1_000n + call(); //@ numbers
}
var \u0061b = function () { call(
  ); }; //@ \u0061b
var größe = () => call( //@ größe
  );
var e = "😀", f = () => call( //@ f
  );
a.class.function.x(); //@ -
var o = { function: 1, class: 2, if: 3 }; //@ -
x = y.return / 2; z = "/"; function w() { call(
  ); } //@ w
<!-- 1
`,
		"types.ts": `import type { A } from "a";
type Fn = (a: string) => void
type Gen<T extends { a: () => void }> = T | ((b: T) => Promise<T>);
interface Box<T> { open(): void; close: (x: T) => void }
enum Kind { A = 1, B = call() }
declare function declared(a: number): void;
abstract class Base<T> implements I<T> {
  private items: Array<() => void> = [];
  handler: () => void = () => {
    call(); //@ handler
  };
  optional?: (x: T) => Promise<void>;
  constructor(private readonly a: string, b?: number) { super(); call(
    ); } //@ new Base
  public async load<K extends keyof T>(key: K): Promise<Map<string, { a: T }>> {
    call(); //@ Base.load
  }
  abstract draw(): void;
  over(a: string): void;
  over(a: any): { x: number } {
    call(); //@ Base.over
  }
  @dec({ a: 1 }) decorated(): asserts this is T { call(
    ); } //@ Base.decorated
}
function typed<T>(this: Base<T>, a: T[], cb: (e: Error) => void): a is { b: 1 } {
  call(); //@ typed
}
const arrow = async <T,>(x: T): Promise<T> => {
  call(); //@ arrow
};
const named: (a: string) => void = function () {
  call(); //@ named
};
const made: () => void = call( //@ -
  );
const picked = (a: { b: (c: number) => void }): string => call( //@ picked
  );
const half = (a!.b! / 2) + (() => call( //@ <anonymous>
  ) / 2)();
function not<T>(pred: (value: T) => boolean): (value: T) => boolean {
  return (a: T) => pred(a) ? (b) : (c: T) => call( //@ <anonymous>
    c, call()); //@ <anonymous>
}
const cast = <any>call( //@ -
  ), other = x as unknown as () => void; call( //@ -
  );
export const value = ((): number => { return call(
  ); })(); //@ <anonymous>
namespace Space {
  export function inner() { call(
    ); } //@ inner
}
let union: string | (() => void) = () => call( //@ union
  );
`,
		"markup.jsx": `export function View({ items }) {
  const f = () => <b title="it's {">Don't {call( //@ f
    )} stop</b>;
  return ( //@ View
    <List.Item on:x data-y='a"b' onClick={() => { call(
      ); //@ <anonymous>
      }} {...rest}>
      {/* it's */}
      <>text } ' " {items.map(i => <Row key={i}>{call( //@ <anonymous>
        )}</Row>)}</>
      <br/>
    </List.Item>
  );
}
const a = x < y, b = c > d; call( //@ -
);
const Memo = memo(function Inner() { call(
); }); //@ Inner
`,
	} {
		list := Functions([]byte(text), name)
		require.True(t, list.Known, name)
		checked := 0
		for n, line := range strings.Split(text, "\n") {
			code, want, marked := strings.Cut(line, "//@ ")
			if !marked {
				continue
			}
			if k := strings.LastIndex(code, "call("); k >= 0 {
				code = code[:k+1]
			} else {
				code = code[:len(code)-len(strings.TrimLeft(code, " "))+1]
			}
			column := 0
			for _, r := range code {
				column++
				if r > 0xffff {
					column++
				}
			}
			got := "-"
			if f := list.Find(Place{uint32(n), uint32(column - 1)}); f != nil && !f.Unknown {
				got = f.Name
			}
			assert.Equal(t, want, got, "%s:%d %s", name, n+1, line)
			checked++
		}
		require.Positive(t, checked)
	}
}

// What is not understood has no functions rather than wrong ones.
func TestFunctionsOfOther(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a.js": "function a() { call( }", "b.js": "function a() { 'x\n' }", "c.js": "function a() {", "d.js": "}",
		"e.py": "def a(): pass", "f.vue": "<template></template>", "g.css": "a { }", "h.js": "`${", "i.js": "/* ", "j.js": "a = /x\n/",
		"k.jsx": "return <a>{</a>", "l.js": strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
		"m.js": strings.Repeat("a=>", 100_000) + "1",
	} {
		list := Functions([]byte(text), name)
		require.False(t, list.Known, name)
		require.Nil(t, list.Find(Place{0, 15}), name)
	}
}
