package message

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"

	"strings"
)

func isURL(w string) bool {
	i := strings.Index(w, "://")
	return i >= 2 && naming.IsPlainWord(strings.NewReplacer("+", "", "-", "").Replace(w[:i]))
}

func isMail(w string) bool {
	i := strings.IndexByte(w, '@')
	return i > 0 && i < len(w)-3 && strings.IndexByte(w[i:], '.') > 1 && !strings.ContainsAny(w, `/\:`)
}

func isUUID(w string) bool {
	if len(w) != 36 {
		return false
	}
	for i := 0; i < len(w); i++ {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if w[i] != '-' {
				return false
			}
		} else if !scan.IsHex(w[i]) {
			return false
		}
	}
	return true
}

// isDate reports whether w is a date or a time of day: digits with at least two of
// the same separator (2026-11-20, 20.11.2026, 10:20:03.5Z), or a date, T and a
// time.
func isDate(w string) bool {
	if date, clock, ok := strings.Cut(w, "T"); ok {
		return isDate(date) && strings.Count(clock, ":") >= 1
	}
	n := scan.CountDigits(w)
	if n == 0 || n > 4 || n >= len(w) {
		return false
	}
	sep := w[n]
	if sep != '-' && sep != '/' && sep != ':' {
		return false
	}
	parts := 0
	for {
		k := scan.CountDigits(w)
		if k == 0 || k > 4 {
			return false
		}
		parts++
		w = w[k:]
		if w == "" || w[0] != sep {
			break
		}
		w = w[1:]
	}
	return parts == 3 && (w == "" || w == "Z" || w[0] == '.' || w[0] == ',' || w[0] == '+')
}

// isPath reports whether w is a path: absolute, relative with a dot, of a home
// folder, or of Windows. A word with a slash in it ("read/write") is not.
func isPath(w string) bool {
	if scan.HasPrefixAny(w, "./", "../", "~/", `\\`, "file:/") {
		return true
	}
	if len(w) > 2 && scan.IsLetter(w[0]) && w[1] == ':' && (w[2] == '\\' || w[2] == '/') {
		return true
	}
	return len(w) > 1 && w[0] == '/' && w[1] != '/' || strings.Count(w, "/") >= 3 || strings.Count(w, `\`) >= 2
}

// isHost reports whether w is the name or the address of a machine, or both as Java
// writes them ("db.example.com/10.0.0.7"), with or without a port.
func isHost(w string) bool {
	if name, address, ok := strings.Cut(w, "/"); ok && isHost(address) &&
		(name == "" || naming.IsPlainWord(strings.NewReplacer(".", "", "-", "").Replace(name))) {
		return true
	}
	if isAddress(w) || isHostName(w) {
		return true
	}
	i := strings.LastIndexByte(w, ':')
	return i > 0 && scan.AllDigits(w[i+1:]) && (isAddress(w[:i]) || isHostName(w[:i]))
}

// isAddress reports whether w is an address of the internet protocol, with or
// without a zone, a prefix length or a port, or the name that stands for the own
// machine.
func isAddress(w string) bool {
	if i := strings.IndexByte(w, '%'); i > 0 {
		w = w[:i]
	}
	if i := strings.LastIndexByte(w, '/'); i > 0 && scan.AllDigits(w[i+1:]) {
		w = w[:i]
	}
	if w == "localhost" {
		return true
	}
	if strings.Count(w, ":") >= 2 {
		return isIPv6(w)
	}
	return isIPv4(w)
}

func isIPv4(w string) bool {
	parts := 0
	for w != "" {
		n := scan.CountDigits(w)
		if n == 0 || n > 3 {
			return false
		}
		parts++
		w = w[n:]
		if w == "" {
			break
		}
		if w[0] != '.' || len(w) == 1 {
			return false
		}
		w = w[1:]
	}
	return parts == 4
}

// isIPv6 reports whether w is eight groups of hexadecimal digits, or fewer around
// a double colon.
func isIPv6(w string) bool {
	if len(w) > 45 {
		return false
	}
	head, tail, short := strings.Cut(w, "::")
	groups := 0
	for _, half := range [...]string{head, tail} {
		if half == "" {
			continue
		}
		for part := range strings.SplitSeq(half, ":") {
			if isIPv4(part) {
				groups += 2
				continue
			}
			if len(part) > 4 || !scan.AllHex(part) {
				return false
			}
			groups++
		}
	}
	// "::" alone is C++, and so is a name such as "a::b", which has two groups of
	// letters.
	return !short && groups == 8 || short && groups > 0 && groups < 8 && (strings.ContainsAny(w, "0123456789") || groups > 2)
}

// isHostName reports whether w is the name of a machine in a domain. Names of
// packages and members have the same form: the last part decides, and a package
// begins with it.
func isHostName(w string) bool {
	labels := strings.Split(strings.TrimSuffix(w, "."), ".")
	if len(labels) < 2 || len(labels) > 8 || len(w) > 253 {
		return false
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' {
			return false
		}
		for i := 0; i < len(l); i++ {
			if c := l[i]; !scan.IsDigit(c) && c != '-' && c != '_' && (c < 'a' || c > 'z') {
				return false
			}
		}
	}
	always := [...]string{"com", "org", "net", "edu", "gov", "local", "lan", "localdomain", "arpa", "example"}
	first, last := labels[0], labels[len(labels)-1]
	if slices.Contains(always[:], first) || scan.IsOneOf(first, "java", "javax", "io", "this", "window", "self") {
		return false
	}
	if slices.Contains(always[:], last) {
		return true
	}
	return len(labels) >= 3 && scan.IsOneOf(last, "io", "dev", "internal", "corp", "intern", "cloud", "co", "ai", "biz",
		"svc", "de", "uk", "fr", "eu", "us", "jp", "cn", "ru", "nl", "es", "ch", "br", "au", "ca", "se", "pl", "kr",
		"dk", "fi", "cz", "nz", "mx", "sg", "hk", "tw", "za", "tr", "ua")
}

// isToken reports whether w is a secret or an identifier in Base64, such as a JSON
// Web Token: long, with letters of both kinds and digits, and no word.
func isToken(w string) bool {
	if len(w) < 20 {
		return false
	}
	if strings.HasPrefix(w, "eyJ") && strings.Count(w, ".") >= 1 {
		return true
	}
	var small, capital, digit bool
	changes := 0
	for i := 0; i < len(w); i++ {
		c := w[i]
		switch {
		case scan.IsDigit(c):
			digit = true
		case c >= 'a' && c <= 'z':
			small = true
		case c >= 'A' && c <= 'Z':
			capital = true
		case c == '-' || c == '_' || c == '/' || c == '+':
		default:
			return false
		}
		if i > 0 && scan.IsDigit(c) != scan.IsDigit(w[i-1]) {
			changes++
		}
	}
	return small && capital && digit && changes >= 3
}

// isIdentifier reports whether letters and digits alternate in w as in no word:
// the id of a request, of a container or of an object.
func isIdentifier(w string) bool {
	changes := 0
	for i := 1; i < len(w); i++ {
		if scan.IsDigit(w[i]) != scan.IsDigit(w[i-1]) {
			changes++
		}
	}
	return len(w) >= 5 && changes >= 3
}

// isUnit reports whether w is a unit of time or of memory. Whether a time is shown
// in milliseconds or in seconds depends on its length.
func isUnit(w string) bool {
	switch w {
	case "ns", "us", "µs", "μs", "ms", "s", "sec", "secs", "second", "seconds", "millis", "millisecond", "milliseconds",
		"microseconds", "nanoseconds", "m", "min", "mins", "minute", "minutes", "h", "hr", "hrs", "hour", "hours", "d", "day", "days",
		"b", "B", "byte", "bytes", "Bytes", "k", "K", "kb", "kB", "KB", "Kb", "mb", "MB", "Mb", "gb", "GB", "Gb", "tb",
		"TB", "KiB", "MiB", "GiB", "TiB", "kib", "mib", "gib", "%", "px", "Hz", "MHz", "GHz":
		return true
	}
	return false
}

// isMonth and isWeekday read English names and their first three letters.
func isMonth(w string) bool {
	switch w {
	case "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec",
		"January", "February", "March", "April", "June", "July", "August", "September", "October", "November", "December":
		return true
	}
	return false
}

func isWeekday(w string) bool {
	switch w {
	case "Mon", "Tue", "Tues", "Wed", "Thu", "Thur", "Thurs", "Fri", "Sat", "Sun",
		"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday":
		return true
	}
	return false
}
