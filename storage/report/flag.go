package report

import "bytes"

// Secrets of command lines stand behind flags: --password X, -pX, -u user:pass. A
// long flag says by its name that its value is secret. What a short one means depends
// on the program: -p is a password for mysql and a port for many others.

// flagFinder finds flags in one text.
type flagFinder struct {
	s        []byte
	command  bool     // the text is known to be a command line, or a part of one
	programs programs // of what stands before the text, and of the text when asked
	asked    bool
	hyphen   header // as nextHyphen found it last
}

// next finds the first flag with a secret value at or after from; its start, which
// includes the byte before it, is len(s) when there is none. As for headers, the
// result is the same when the value is masked.
func (f *flagFinder) next(from int) header {
	if f.hyphen.start < from || f.hyphen.end == 0 {
		f.hyphen = f.nextHyphen(from)
	}
	h := f.hyphen
	// aws configure set aws_secret_access_key X
	for i := from; ; i++ {
		n := bytes.Index(f.s[i:h.start], []byte("aws_se"))
		if n < 0 {
			return h
		}
		i += n
		if !startsWord(f.s, i) {
			continue
		}
		end := wordEndAt(f.s, i)
		if end-i > maxName || flagSecrecy(f.s[i:end]) == public {
			continue
		}
		if value, ok := f.separated(i, end); ok && f.s[value] != '=' {
			h = f.value(value)
			h.start = max(i-1, from)
			return h
		}
	}
}

// nextHyphen finds the first flag that begins with a hyphen.
func (f *flagFinder) nextHyphen(from int) header {
	for i := from; ; {
		n := bytes.IndexByte(f.s[i:], '-')
		if n < 0 {
			return header{start: len(f.s), end: len(f.s)}
		}
		i += n
		if startsWord(f.s, i) {
			if h, ok := f.at(i); ok {
				h.start = max(i-1, from)
				return h
			}
		}
		for i < len(f.s) && f.s[i] == '-' {
			i++
		}
	}
}

// at reads the flag that begins at i.
func (f *flagFinder) at(i int) (header, bool) {
	name := i + 1
	if name < len(f.s) && f.s[name] == '-' {
		name++
	}
	end := name
	for end < len(f.s) && end-name < maxName && isFlagByte(f.s[end]) {
		end++
	}
	switch {
	case end == name:
		return header{}, false
	case name == i+1: // one hyphen
		if h, ok := f.short(i, name); ok {
			return h, true
		}
	}
	if end-name < 2 {
		return header{}, false
	}
	kind := flagSecrecy(f.s[name:end])
	user := kind == public && isUserFlag(f.s[name:end])
	if kind == public && !user || end == len(f.s) {
		return header{}, false
	}
	if f.s[end] == '=' {
		if !user {
			return header{}, false // a parameter like all others
		}
		return f.user(end + 1)
	}
	value, ok := f.separated(i, end)
	switch {
	case !ok:
		return header{}, false
	case user:
		return f.user(value)
	}
	h := f.value(value)
	v := f.s[h.valueStart:h.valueEnd]
	if len(v) == 0 || kind == secretText && len(v) < 7 && isNumber(v) && countsThings(f.s[name:end]) {
		return header{}, false
	}
	return h, true
}

// short reads a flag of one letter, whose value may be attached. name is where the
// letter stands.
func (f *flagFinder) short(i, name int) (header, bool) {
	end := wordEndAt(f.s, i)
	attached := end > name+1
	switch letter := f.s[name]; letter {
	case 'u', 'U':
		switch value, ok := f.separated(i, name+1); {
		case attached && (f.command || f.known(programUser)):
			return f.user(name + 1)
		case ok && !attached && (f.command || f.known(programUser)):
			return f.user(value)
		}
	case 'p', 'P', 'a', 'w':
		if attached {
			if h := f.value(name + 1); len(f.s[h.valueStart:h.valueEnd]) > 0 && f.secretAttached(letter, f.s[name:h.valueEnd]) {
				return h, true
			}
			return header{}, false
		}
		if value, ok := f.separated(i, name+1); ok && f.known(flagProgram(letter)) {
			h := f.value(value)
			v := f.s[h.valueStart:h.valueEnd]
			return h, len(v) > 0 && (letter != 'p' || !isPortNumber(v))
		}
	}
	return header{}, false
}

// secretAttached reports whether a value that is attached to a letter is secret.
func (f *flagFinder) secretAttached(letter byte, word []byte) bool {
	switch letter {
	case 'p':
		return f.known(programAttached) || f.command && !plainP(word)
	case 'P':
		return f.known(programUpperP) && !plainP(word)
	}
	return false
}

// known reports whether a program of a kind was named.
func (f *flagFinder) known(of programs) bool {
	if f.programs&of == 0 && !f.asked {
		f.asked = true
		f.programs |= programsIn(f.s)
	}
	return f.programs&of != 0
}

// separated returns where the value of a flag begins that ends at end: behind blanks,
// or in a printed list behind a quote, a comma and blanks.
func (f *flagFinder) separated(i, end int) (int, bool) {
	s, at := f.s, end
	quoted := i > 0 && isQuote(s[i-1]) && at < len(s) && s[at] == s[i-1]
	if quoted {
		at++
	}
	from := at
	for at < len(s) {
		if w := gapWidth(s, at); w > 0 {
			at += w
		} else if quoted && s[at] == ',' {
			at++
		} else {
			break
		}
	}
	if at == from || at == len(s) {
		return 0, false
	}
	if s[at] == '-' && at+1 < len(s) && (isLetter(s[at+1]) || s[at+1] == '-') {
		return 0, false // another flag
	}
	return at, true
}

// value reads a value: what stands between quotes, else a word.
func (f *flagFinder) value(at int) header {
	h := header{valueStart: at, valueEnd: at}
	if at < len(f.s) && isQuote(f.s[at]) {
		h.valueStart++
		h.valueEnd = closingQuote(f.s, h.valueStart, f.s[at])
	} else {
		h.valueEnd = wordEndAt(f.s, at)
	}
	h.end = h.valueEnd
	return h
}

// user reads name:password. A number before a number is a user's and a group's.
func (f *flagFinder) user(at int) (header, bool) {
	h := f.value(at)
	v := f.s[h.valueStart:h.valueEnd]
	colon := bytes.IndexByte(v, ':')
	if colon < 1 || colon+1 == len(v) {
		return h, false
	}
	name, pass := v[:colon], v[colon+1:]
	if bytes.HasPrefix(pass, []byte("//")) || pass[0] == '\\' || len(name) == 1 && pass[0] == '/' || isNumber(name) && isNumber(pass) {
		return h, false
	}
	h.valueStart += colon + 1
	return h, true
}

// flagSecrecy returns the secrecy of the value of a long flag. Those that ask for a
// secret, or name where it is, have values that are not secret.
func flagSecrecy(name []byte) secrecy {
	for _, prefix := range []string{"no-", "ask-", "prompt", "without-", "disable-", "enable-", "use-", "require-", "skip-"} {
		if len(name) > len(prefix) && bytes.EqualFold(name[:len(prefix)], []byte(prefix)) {
			return public
		}
	}
	for _, suffix := range []string{"file", "path", "stdin", "env", "prompt", "ttl", "timeout", "expiry", "type", "policy",
		"length", "url", "uri", "endpoint", "name", "dir", "store", "provider", "method", "age", "helper"} {
		if n := len(name) - len(suffix); n > 0 && (!isLetter(name[n-1]) || isUpper(name[n]) && !isUpper(name[n-1])) &&
			hasSuffixFold(name, suffix) {
			return public
		}
	}
	if kind := secretName(name, false); kind != public {
		return kind
	}
	if hasSuffixFold(name, "storepass") || hasSuffixFold(name, "keypass") || hasSuffixFold(name, "dbpass") ||
		hasSuffixFold(name, "userpass") || hasSuffixFold(name, "proxypass") || hasSuffixFold(name, "rpcpass") {
		return secret
	}
	return public
}

func isUserFlag(name []byte) bool {
	switch string(name) {
	case "user", "proxy-user", "basic-auth", "credentials", "userpwd":
		return true
	}
	return false
}

// countsThings reports whether a flag like --max-tokens has a number of something.
func countsThings(name []byte) bool {
	for _, word := range []string{"max", "min", "num", "limit", "count", "tokens"} {
		if containsFold(name, word) {
			return true
		}
	}
	return false
}

// plainP reports whether a word that begins with p, as it stands behind a hyphen, is
// another flag, a port or a path, and no password. Lower-case words that are shorter
// than a password stand for several flags of one letter.
func plainP(word []byte) bool {
	value := word[1:]
	if isPort(value) || value[0] == '/' || value[0] == '.' || value[0] == '~' || value[0] == '=' || value[0] == ':' {
		return true
	}
	if n := bytes.IndexAny(word, "=:"); n >= 0 {
		word = word[:n]
	}
	if len(word) < 5 && isLowerWord(word) {
		return true
	}
	switch string(word) {
	case "print", "print0", "printf", "path", "paths", "pthread", "prune", "pedantic", "pedantic-errors", "profile", "profiles", "process",
		"processes", "platform", "port", "ports", "parallel", "parent", "parents", "prefix", "project", "projects", "pidfile", "plugin",
		"plugins", "publish", "preset", "production", "preview", "protocol", "proxy", "program", "params", "param", "parameters",
		"page", "pages", "pretty", "priority", "package", "packages", "patch", "passive", "pipe", "pix_fmt", "pattern", "permissions",
		"pool", "position", "precision", "principal", "private", "product", "products", "property", "properties", "provider", "public",
		"pull", "push", "python", "pause", "perf", "persist", "phase", "ping", "pixels", "placeholder", "play", "player", "policy",
		"poll", "portable", "popup", "power", "prefer", "prepare", "preserve", "proc", "prof", "progress", "prompt", "protected",
		"provision", "pylab", "partition", "passin", "passout", "pass", "password", "passwd":
		return true
	}
	return bytes.HasPrefix(word, []byte("psn_")) // of macOS, for every application that is opened
}

func isLowerWord(word []byte) bool {
	for _, c := range word {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

func isNumber(word []byte) bool {
	for _, c := range word {
		if c-'0' > 9 {
			return false
		}
	}
	return len(word) > 0
}

// isPortNumber reports whether a value is the number of a port: sshpass -p X ssh -p 22.
func isPortNumber(value []byte) bool { return len(value) <= 5 && isNumber(value) }

// isPort reports whether a value is a port, or ports and addresses: 8080:80.
func isPort(value []byte) bool {
	for _, c := range value {
		if c-'0' > 9 && c != ':' && c != '.' && c != '-' && c != '/' && c != ',' {
			return false
		}
	}
	return true
}

func isFlagByte(c byte) bool { return isLetter(c) || c-'0' <= 9 || c == '-' || c == '_' || c == '.' }
func isQuote(c byte) bool    { return c == '"' || c == '\'' || c == '`' }

// gapWidth returns the length of a blank at i, 0 if there is none. U+FFFD is what
// became of NUL, which separates the arguments of a process under Linux.
func gapWidth(s []byte, i int) int {
	if s[i] <= ' ' {
		return 1
	}
	if s[i] == 0xEF && i+2 < len(s) && s[i+1] == 0xBF && s[i+2] == 0xBD {
		return 3
	}
	return 0
}

// startsWord reports whether a word of a command line may begin at i.
func startsWord(s []byte, i int) bool {
	if i == 0 {
		return true
	}
	switch c := s[i-1]; {
	case c <= ' ' || isQuote(c) || c == '[' || c == '(' || c == ',' || c == ';' || c == '|' || c == '&':
		return true
	case c == 0xBD:
		return i > 2 && s[i-2] == 0xBF && s[i-3] == 0xEF
	}
	return false
}

// wordEndAt returns the end of the word at i: at a blank or a quote.
func wordEndAt(s []byte, i int) int {
	for i < len(s) && !isQuote(s[i]) && gapWidth(s, i) == 0 {
		i++
	}
	return i
}

// containsFold reports whether a name contains a word of small letters, in any case.
func containsFold(name []byte, word string) bool {
	for n := len(name); n >= len(word); n-- {
		if hasSuffixFold(name[:n], word) {
			return true
		}
	}
	return false
}
