package fingerprint

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// Libraries are what a crash project says is not its own code, beside what the rules know: the
// beginnings of functions' names (a namespace, a package), and folders or modules. Whether they are
// set is no part of a key: only the frames that count change.
type Libraries struct {
	names   []string // beginnings of normalized names
	folders []string // parts of paths: /vendor/acme/
	modules []string // names of modules: libacme.so
}

// NewLibraries reads a project's list. A pattern with a slash is a folder, one that ends as a
// module does is that module, and any other is how names begin.
func NewLibraries(patterns []string) Libraries {
	var l Libraries
	for _, p := range patterns {
		p = strings.TrimSpace(p)
		lower := strings.ToLower(p)
		switch {
		case p == "":
		case strings.ContainsAny(p, `/\`):
			l.folders = append(l.folders, "/"+strings.Trim(strings.ReplaceAll(p, `\`, "/"), "/")+"/")
		case scan.HasSuffixAny(lower, ".so", ".dll", ".dylib", ".exe", ".jar", ".framework"):
			l.modules = append(l.modules, lower)
		default:
			l.names = append(l.names, p)
		}
	}
	return l
}

// has reports whether a frame is of one of the libraries.
func (l Libraries) has(name, file, module string) bool {
	for _, p := range l.names {
		if namedBy(name, p) {
			return true
		}
	}
	if len(l.folders) > 0 {
		for _, f := range [...]string{file, module} {
			f = "/" + strings.ReplaceAll(filename.Tail(f), `\`, "/")
			if scan.ContainsAny(f, l.folders...) {
				return true
			}
		}
	}
	if len(l.modules) > 0 && module != "" {
		return scan.IsOneOf(strings.ToLower(filename.Library(module)), l.modules...)
	}
	return false
}

// namedBy reports whether a name begins with a namespace or package, which ends there: acme is of
// acme::pay and acme.pay, not of acmeshop::pay.
func namedBy(name, prefix string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(name, "<&*-+["), prefix)
	if !ok {
		return false
	}
	return rest == "" || !scan.IsIdent(rest[0]) || !scan.IsIdent(prefix[len(prefix)-1])
}
