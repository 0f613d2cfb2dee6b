package main

import (
	"fmt"
	"strings"
)

// The identifiers of the symbol files below.
const (
	mapID    = "85314830-023f-4cf1-a267-535f4e37bb17"
	moduleID = "C1A2B3C4D5E6F708192A3B4C5D6E7F800"
)

var (
	// nodeReports are of plain scripts that nobody has a map of: each report names ones of its
	// own.
	nodeReports = reportKind{lang: "nodejs", frame: func(n int) string {
		return fmt.Sprintf(`{"funcName":"a%d","library":"/srv/shop/a%[1]d.js","line":1,"column":5},{"funcName":"b","library":"/srv/shop/b%[1]d.js","line":2,"column":7}`, n)
	}}
	// Modules that nobody has a symbol file of.
	unknownModules = reportKind{lang: "c", frame: func(n int) string {
		return fmt.Sprintf(`{"address":"0x10","debug_identifier":"%032X0","library":"lib%[1]d.so"}`, n+1)
	}}
	mappedReports = reportKind{lang: "nodejs", name: "cart.js.map",
		file: `{"version":3,"debugId":"` + mapID + `","debug_id":"` + mapID +
			`","file":"cart.js","sources":["cart.ts"],"names":[],"mappings":"AAAA"}`,
		frame: func(n int) string {
			return fmt.Sprintf(`{"funcName":"a%d","library":"https://shop.example.com/cart.js","line":1,"column":1,"debug_identifier":"%s"}`, n%8,
				mapID)
		}}
	nativeReports = reportKind{lang: "c", name: "shop.so.sym",
		file:    "MODULE Linux x86_64 " + moduleID + " shop.so\nFILE 0 cart.c\nFUNC 10 40 0 price\n10 40 7 0\n",
		frame:   func(n int) string { return fmt.Sprintf(`{"address":"%#x"}`, 0x400010+n%8) },
		members: `,"modules":[{"start":"0x400000","size":65536,"code_file":"/opt/shop.so","debug_identifier":"` + moduleID + `"}]`}
)

// symbolUseCases process reports that symbol files may read. What a claim asks of symbol
// files follows neither its reports nor their frames.
func symbolUseCases() []useCase {
	return []useCase{
		{name: "process reports of plain scripts", numbers: []int{1, 64}, of: asks{statements: 33}, run: processing(nodeReports)},
		{name: "process reports of unknown modules", numbers: []int{1, 64}, of: asks{statements: 42}, run: processing(unknownModules)},
		{name: "process reports with source maps", numbers: []int{1, 64}, of: asks{statements: 35}, run: processing(mappedReports)},
		{name: "ask which symbols are there", numbers: []int{1, 1000}, of: asks{statements: 2}, run: func(w *counted, n int) {
			ids := make([]string, n)
			for i := range ids {
				ids[i] = fmt.Sprintf(`"%040x"`, i)
			}
			w.count(func() {
				w.must(request{method: post, path: v3 + "/symbols/known", body: `{"identifiers":[` + strings.Join(ids, ",") + `]}`})
			})
		}},
		{name: "process native reports", numbers: []int{1, 64}, of: asks{statements: 32}, run: processing(nativeReports)},
	}
}
