package sourcemap

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol/javascript"
)

// node runs a script with the npm packages of tests, in a folder, and returns what it
// prints. The test is skipped where these or Node are not installed.
func node(t *testing.T, dir, script string, packages ...string) []byte {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	modules := filepath.Join(cache, "slipway", "npm", "node_modules")
	for _, name := range packages {
		if _, err := os.Stat(filepath.Join(modules, name)); err != nil {
			t.Skipf("the npm package %s is not installed: make deps", name)
		}
	}
	cmd := exec.CommandContext(t.Context(), program, "-e", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules, "NODE_OPTIONS=")
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	require.NoError(t, err, "%s", wrong.String())
	return out
}

// shopSource crashes in a method that a function calls that an arrow function calls.
const shopSource = `'use strict';
class ShoppingCart {
  #items = [];
  constructor(owner) { this.owner = owner; }
  add(item) {
    this.#items.push(item);
    return this;
  }
  checkout(payment) {
    const amount = this.#items.reduce((sum, item) => sum + item.price, 0);
    return this.#charge(payment, amount);
  }
  #charge(payment, amount) {
    if (amount > payment.limit) {
      throw new Error('the limit of ' + this.owner + ' is too small for ' + amount);
    }
    return amount;
  }
}
const purchase = (customer, products) => {
  const cart = new ShoppingCart(customer.name);
  for (const product of products) cart.add(product);
  return cart.checkout(customer);
};
function handleRequest(requests) {
  return requests.map(function (request) {
    return purchase(request.customer, request.products);
  });
}
async function main() {
  await null;
  handleRequest([{ customer: { name: 'Ada', limit: 10 }, products: [{ price: 6 }, { price: 7 }] }]);
}
main().catch((error) => { console.log(error.stack); });
`

// minifyShop minifies shop.js with names changed into out.js and out.js.map.
const minifyShop = `const { minify } = require('terser'), fs = require('fs');
minify({ 'shop.js': fs.readFileSync('shop.js', 'utf8') }, { toplevel: true, module: true, compress: { inline: false, reduce_funcs: false },
  mangle: { toplevel: true, module: true }, sourceMap: { filename: 'out.js', url: 'out.js.map', includeSources: process.env.CONTENT !== 'no' } })
  .then(({ code, map }) => { fs.writeFileSync('out.js', code); fs.writeFileSync('out.js.map', map); });`

var stackLine = regexp.MustCompile(`(?m)^    at (?:async )?(?:(.*) \()?(.*\.js):(\d+):(\d+)\)?$`)

type stackFrame struct {
	function     string
	file         string
	line, column int
}

// readStack reads a stack of V8; what is of Node itself is left out.
func readStack(text string) (list []stackFrame) {
	for _, f := range stackLine.FindAllStringSubmatch(text, -1) {
		line, _ := strconv.Atoi(f[3])
		column, _ := strconv.Atoi(f[4])
		list = append(list, stackFrame{f[1], filepath.Base(f[2]), line, column})
	}
	return list
}

// A script that was minified crashes as the source would: the same functions, lines and
// columns.
func TestMinifiedCrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop.js"), []byte(shopSource), 0o600))
	node(t, dir, minifyShop, "terser")
	want := readStack(string(node(t, dir, "require('./shop.js')")))
	require.GreaterOrEqual(t, len(want), 6)
	got := readStack(string(node(t, dir, "require('./out.js')")))
	require.Len(t, got, len(want))
	text, err := os.ReadFile(filepath.Join(dir, "out.js.map"))
	require.NoError(t, err)
	m, _ := indexed(t, string(text))
	exact := 0
	for i, frame := range got {
		require.Equal(t, "out.js", frame.file)
		frames, err := m.Frames(frame.line, frame.column, Call{})
		require.NoError(t, err)
		require.Len(t, frames, 1, "%+v", frame)
		f := frames[0]
		require.Equal(t, FromSource, f.Method)
		require.Equal(t, "shop.js", f.Source)
		require.Equal(t, want[i].line, f.Line, "%+v", want[i])
		if f.Exact { // terser has no mapping for the name of a private method that is called
			require.Equal(t, want[i].column, f.Column, "%+v", want[i])
			exact++
		}
		name := want[i].function
		if name == "" {
			name = javascript.Anonymous
		}
		require.Equal(t, name, f.Function)
		lines, err := m.Excerpt(f.Index, f.Line, 0)
		require.NoError(t, err)
		require.Equal(t, strings.Split(shopSource, "\n")[f.Line-1], lines[0].Text)
	}
	require.GreaterOrEqual(t, exact, len(got)-1)
	require.Equal(t, []string{"#charge", "checkout", "purchase"}, []string{lastName(want[0].function), lastName(want[1].function),
		want[2].function})
}

func lastName(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }

// Without the text of the source, names come from where the minified functions are declared.
func TestMinifiedCrashWithoutSource(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop.js"), []byte(shopSource), 0o600))
	node(t, dir, "process.env.CONTENT = 'no';"+minifyShop, "terser")
	want := readStack(string(node(t, dir, "require('./shop.js')")))
	got := readStack(string(node(t, dir, "require('./out.js')")))
	require.Len(t, got, len(want))
	text, err := os.ReadFile(filepath.Join(dir, "out.js.map"))
	require.NoError(t, err)
	m, _ := indexed(t, string(text))
	code, err := os.ReadFile(filepath.Join(dir, "out.js"))
	require.NoError(t, err)
	s, summary := script(t, "out.js", string(code))
	require.Equal(t, "out.js.map", summary.SourceMappingURL)
	named := 0
	for i, frame := range got {
		frames, err := m.Frames(frame.line, frame.column, Call{Script: s})
		require.NoError(t, err)
		require.Equal(t, want[i].line, frames[0].Line)
		if frames[0].Function != "" {
			require.Equal(t, lastName(want[i].function), frames[0].Function)
			require.Equal(t, FromNames, frames[0].Method)
			named++
		}
	}
	require.GreaterOrEqual(t, named, 2) // of names that terser changed
}

const traceAll = `const { TraceMap, originalPositionFor, decodedMappings } = require('@jridgewell/trace-mapping');
const map = new TraceMap(require('fs').readFileSync('a.map', 'utf8')), out = [];
decodedMappings(map).forEach((line, i) => {
  const columns = new Set([0]);
  for (const [c] of line) { columns.add(c); columns.add(c + 1); if (c > 0) columns.add(c - 1); }
  for (const c of columns) {
    const p = originalPositionFor(map, { line: i + 1, column: c });
    out.push([i + 1, c + 1, p.source ?? '', p.line ?? 0, p.line === null ? 0 : p.column + 1, p.name ?? '']);
  }
});
process.stdout.write(JSON.stringify(out));`

// Every position of real maps, and of one with everything out of order, is where
// @jridgewell/trace-mapping finds it.
func TestSameAsTraceMapping(t *testing.T) {
	t.Parallel()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	maps := map[string]string{"unsorted": plainMap("UAAAA,FACA,FACA,A,UAAA,FAEE;;;C;EAAA,AACA,FAAA,A"), "empty": plainMap("")}
	for _, name := range []string{"choices.js/public/assets/scripts/choices.mjs.map", "bootstrap/dist/js/bootstrap.min.js.map",
		"quill/dist/quill.js.map", "tom-select/dist/js/tom-select.complete.min.js.map", "bootstrap/dist/css/bootstrap.min.css.map"} {
		if text, err := os.ReadFile(filepath.Join(cache, "slipway", "npm", "node_modules", name)); err == nil && len(text) < 4<<20 {
			maps[name] = string(text)
		}
	}
	for name, text := range maps {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.map"), []byte(text), 0o600))
		var all [][6]any
		require.NoError(t, json.Unmarshal(node(t, dir, traceAll, "@jridgewell/trace-mapping"), &all))
		m, _ := indexed(t, text)
		for _, c := range all {
			line, column := int(c[0].(float64)), int(c[1].(float64))
			p, ok, err := m.Original(line, column)
			require.NoError(t, err)
			if !ok {
				p = Position{}
			}
			got := [6]any{c[0], c[1], p.Source, float64(p.Line), float64(p.Column), p.Name}
			if got != c {
				require.Equal(t, c, got, "%s %d:%d", name, line, column)
			}
		}
		t.Logf("%s: %d positions", name, len(all))
	}
}
