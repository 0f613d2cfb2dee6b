// Package labelled measures the grouping of crashes on reports of which a
// developer has said whether they are one bug. It knows nothing of the rules
// that it measures: it sees reports and keys.
//
// A set is a folder of text files. The embedded one (Embedded) is in the folder
// set, a file or more for each language. A file looks like this:
//
//	language Java
//	lang java
//	agent backtrace-java
//
//	same another lambda number
//	why The compiler numbers the lambdas of a class in their order.
//	a
//	class java.lang.NullPointerException
//	message cart is null
//	  com.shop.Cart.lambda$pay$0 | file Cart.java:12
//	  com.shop.Main.main | lib shop.jar | at 0x1234
//	b
//	  com.shop.Cart.lambda$pay$3 | file Cart.java:40
//	  com.shop.Main.main | lib shop.jar | at 0x9876
//
// Read describes every line. It is strict: a line it does not know, a pair without
// a reason, equal sides or a name used twice is an error with the line's number.
package labelled

import (
	"embed"
	"io/fs"

	"github.com/slipway-qa/slipway/storage/report"
)

//go:embed set/*.txt
var embedded embed.FS

// Pair is two reports and whether they are one bug.
type Pair struct {
	Language string
	Name     string
	Same     bool
	Why      string // one sentence: what a developer would say
	A, B     *Crash
}

// Crash is one report of a set.
type Crash struct {
	Language string
	Bug      string // the bug's name, for a crash of a cluster
	Text     Text
	Report   *report.Report
}

// Set is what the files of a folder hold, in the order of their names.
type Set struct {
	Pairs   []Pair
	Crashes []Crash
}

// Embedded returns the set that belongs to this package.
func Embedded() (*Set, error) {
	folder, err := fs.Sub(embedded, "set")
	if err != nil {
		return nil, err
	}
	return Read(folder)
}
