package sourcemap

import (
	"net/url"
	"path"
	"strings"
)

// Resolve returns the URL of a source: with sourceRoot before it, unless it is absolute,
// and relative to the URL of the map, when that is known (ECMA-426, Resolving sources).
// "." and ".." are resolved as far as they can be.
func Resolve(mapURL, root, source string) string {
	if root != "" && !absolute(source) && !strings.HasPrefix(source, "/") {
		source = strings.TrimSuffix(root, "/") + "/" + source
	}
	if !absolute(source) && absolute(mapURL) && !strings.HasPrefix(mapURL, "data:") {
		base, err := url.Parse(mapURL)
		if err == nil && base.Opaque == "" {
			if ref, err := url.Parse(source); err == nil {
				return unescaped(base.ResolveReference(ref))
			}
		}
		return source
	}
	if !absolute(source) && mapURL != "" && !absolute(mapURL) && !strings.HasPrefix(source, "/") {
		source = dir(mapURL) + source
	}
	return clean(source)
}

// unescaped is the text of a URL without the escapes that resolving put in: stack traces
// have names of files as they are.
func unescaped(u *url.URL) string {
	if plain, err := url.PathUnescape(u.String()); err == nil && u.RawPath == "" {
		return plain
	}
	return u.String()
}

// dir is the folder of a path, with a slash at the end; "" for none.
func dir(p string) string { return p[:strings.LastIndexAny(p, `/\`)+1] }

// scheme returns the scheme of a URL (RFC 3986, 3.1); "" for none. One letter is a drive
// of Windows.
func scheme(u string) string {
	n := strings.IndexByte(u, ':')
	if n < 2 {
		return ""
	}
	for i := range n {
		c := u[i] | 0x20
		if (c < 'a' || c > 'z') && (i == 0 || u[i] != '+' && u[i] != '-' && u[i] != '.' && (u[i] < '0' || u[i] > '9')) {
			return ""
		}
	}
	return u[:n]
}

func absolute(u string) bool { return scheme(u) != "" }

// clean resolves "." and ".." in the path of a URL, and keeps what begins with them.
func clean(u string) string {
	if !strings.Contains(u, "./") && !strings.HasSuffix(u, "/.") && !strings.HasSuffix(u, "/..") {
		return u
	}
	head := ""
	if s := scheme(u); s != "" {
		if s == "data" || s == "blob" {
			return u
		}
		rest := u[len(s)+1:]
		if after, ok := strings.CutPrefix(rest, "//"); ok {
			n := strings.IndexByte(after, '/')
			if n < 0 {
				return u
			}
			head, u = s+"://"+after[:n], after[n:]
		} else {
			head, u = s+":", rest
		}
	}
	tail := ""
	if n := strings.IndexAny(u, "?#"); n >= 0 {
		u, tail = u[:n], u[n:]
	}
	return head + path.Clean(u) + tail
}

// cutQuery removes query and fragment.
func cutQuery(u string) string {
	if n := strings.IndexAny(u, "?#"); n >= 0 {
		return u[:n]
	}
	return u
}

// pathOf returns the path of a URL without scheme and host, without a slash before it.
func pathOf(u string) string {
	u = strings.ReplaceAll(u, `\`, "/")
	if s := scheme(u); s != "" {
		u = u[len(s)+1:]
		if after, ok := strings.CutPrefix(u, "//"); ok {
			_, u, _ = strings.Cut(after, "/")
		}
	} else if after, ok := strings.CutPrefix(u, "//"); ok {
		_, u, _ = strings.Cut(after, "/")
	}
	if len(u) > 2 && u[1] == ':' { // C:/
		u = u[2:]
	}
	u = strings.TrimPrefix(strings.TrimLeft(u, "/"), "~/")
	for strings.HasPrefix(u, "./") {
		u = strings.TrimLeft(u[2:], "/")
	}
	return u
}

// maxCandidates bounds the list of Candidates.
const maxCandidates = 24

// Candidates returns the values of identifiers of type symbol.URL under which a script may
// have been uploaded, the surest first, for the URL of it that a stack trace has: the
// URL as it is; without query and fragment; "~/" and the path, which stands for every
// host (Sentry, https://docs.sentry.io/platforms/javascript/sourcemaps/); the path with
// and without a slash before it; and the name of the file alone, as Backtrace's
// tools keep it. app:///, file:// and webpack:// count as hosts. "" and names such
// as <anonymous> have none.
func Candidates(script string) []string {
	script = strings.TrimSpace(script)
	script = strings.TrimPrefix(script, "async ")
	if script == "" || strings.HasPrefix(script, "<") || scheme(script) == "data" || script == "native" || strings.HasPrefix(script, "node:") {
		return nil
	}
	var list []string
	add := func(u string) {
		if u == "" || u == "~/" || len(list) >= maxCandidates {
			return
		}
		for _, s := range list {
			if s == u {
				return
			}
		}
		list = append(list, u)
	}
	if inner, ok := strings.CutPrefix(script, "blob:"); ok {
		add(script)
		script = inner
	}
	add(script)
	bare := cutQuery(script)
	add(bare)
	p := pathOf(script)
	add("~/" + p)
	bare = pathOf(bare)
	add("~/" + bare)
	add("/" + bare)
	add(bare)
	if name := path.Base(bare); name != bare && name != "." {
		add(name)
	}
	return list
}

// MapCandidates returns the values under which the map of a script may have been
// uploaded, the surest first: those of its sourceMappingURL, resolved with the
// script's URL, when mapURL is not ""; and the script's own with .map behind.
func MapCandidates(script, mapURL string) []string {
	var list []string
	seen := map[string]bool{}
	add := func(urls []string) {
		for _, u := range urls {
			if !seen[u] && len(list) < 2*maxCandidates {
				seen[u] = true
				list = append(list, u)
			}
		}
	}
	if mapURL != "" && scheme(mapURL) != "data" {
		add(Candidates(ResolveMap(script, mapURL)))
		if !absolute(mapURL) {
			add(Candidates(mapURL))
		}
	}
	own := Candidates(script)
	for i, u := range own {
		if n := strings.IndexAny(u, "?#"); n >= 0 {
			own[i] = u[:n] + ".map" + u[n:]
		} else {
			own[i] = u + ".map"
		}
	}
	add(own)
	return list
}

// ResolveMap returns the URL of a map: its sourceMappingURL relative to the script.
func ResolveMap(script, mapURL string) string {
	if absolute(mapURL) {
		return mapURL
	}
	script = cutQuery(script)
	if rest, ok := strings.CutPrefix(script, "~/"); ok {
		return "~" + path.Join("/", dir(rest), mapURL)
	}
	if absolute(script) {
		base, err := url.Parse(script)
		if err != nil || base.Opaque != "" {
			return mapURL
		}
		ref, err := url.Parse(mapURL)
		if err != nil {
			return mapURL
		}
		return unescaped(base.ResolveReference(ref))
	}
	if strings.HasPrefix(mapURL, "/") {
		return mapURL
	}
	return clean(dir(script) + mapURL)
}
