package message

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// A number in a message is noise, unless it is a code that says what went wrong:
// a status ("HTTP 404"), an error number ("errno 13", "code -1009", "0x80070005"),
// or one with the name of its system ("ORA-00942", "SQLSTATE 23505").

// maxCode is the length of the longest code.
const maxCode = 12

// isCodeWord reports whether what follows a word is a code.
func isCodeWord(w string) bool {
	switch w {
	case "http", "https", "status", "statuscode", "status_code", "httpstatus", "http_status", "code", "errno", "err",
		"error", "errorcode", "error_code", "errcode", "err_code", "rc", "ret", "retcode", "exitcode", "exit_code",
		"exit", "sqlstate", "state", "hresult", "ntstatus", "returncode", "return_code", "reason", "resultcode",
		"result_code", "responsecode", "response_code", "winerror", "oserror", "signal", "sqlcode", "vendor_code":
		return true
	}
	return scan.HasSuffixAny(w, "errordomain", "_err", "statuscode", "errorcode")
}

// isCode reports whether a word is an error code by what precedes it, or by its
// own form. before is the message up to the word, after what follows it, and web
// is set when the message is about a request.
func isCode(w, before, after string, web bool) bool {
	digits := strings.TrimPrefix(w, "-")
	if number, ok := strings.CutPrefix(w, "#"); ok {
		// "Minified React error #418": the number of a text that was left out.
		return len(number) <= maxCode && scan.AllDigits(number) && isCodeWord(codeWord(strings.TrimRight(before, " ")+" "))
	}
	if len(digits) > maxCode || digits == "" {
		return false
	}
	if hex, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		// HRESULT, NTSTATUS: an error has its first bit set, and one of few facilities.
		if len(hex) == 8 && scan.AllHex(hex) && scan.HasPrefixAny(hex, "800", "801", "802", "803", "804", "808", "80a",
			"c00", "c01", "c02", "e06", "887") {
			return true
		}
		return isCodeWord(codeWord(before)) && scan.AllHex(hex) && len(hex) <= 8
	}
	if system, number, ok := strings.Cut(digits, "-"); ok {
		return scan.AllDigits(number) && len(number) >= 3 && scan.IsOneOf(system, "ORA", "TNS", "PLS", "SQL", "DB2", "IMP", "EXP",
			"RMAN", "CRS", "SP2", "HV", "MSB", "NU", "NETSDK")
	}
	if !scan.AllDigits(digits) {
		// E11000, TS2304, 42P01
		letters := strings.TrimRight(digits, "0123456789")
		if number := digits[len(letters):]; len(letters) > 0 && len(letters) <= 4 && len(number) >= 3 && isCapitals(letters) &&
			(isCodeWord(codeWord(before)) || letters == "E" && len(number) >= 4) {
			return true
		}
		word := codeWord(before)
		return len(digits) == 5 && (word == "sqlstate" || word == "state") && isCapitalsOrDigits(digits)
	}
	if len(digits) > 8 {
		return false
	}
	if isCodeWord(codeWord(before)) {
		return true
	}
	if len(digits) != 3 || digits[0] < '3' || digits[0] > '5' || digits != w {
		return false
	}
	return isReason(after) || isStatusPlace(before, web)
}

// isStatusPlace reports whether a number of three digits after a text is the status
// of a response: "upstream returned 503", "GET /a failed: 500".
func isStatusPlace(before string, web bool) bool {
	switch previousWord(before) {
	case "returned", "returns", "responded", "answered", "replied", "got", "received":
		return true
	case "with", "failed", "request", "response", "server", "upstream", "was", "is", "to", "from", "":
		return web
	}
	trimmed := strings.TrimRight(before, " ")
	return web && (trimmed == "" || scan.HasSuffixAny(trimmed, ":", "(", "[", "="))
}

// isVersion reports whether w is a version of more than two parts, or of two with
// what follows a version: 3.0.0-beta.2, v1.2.3, 4.12.
func isVersion(w string) bool {
	w = strings.TrimPrefix(w, "v")
	dots := 0
	for {
		n := scan.CountDigits(w)
		if n == 0 {
			return false
		}
		if w = w[n:]; len(w) < 2 || w[0] != '.' || !scan.IsDigit(w[1]) {
			break
		}
		dots++
		w = w[1:]
	}
	if w == "" {
		return dots >= 1
	}
	if dots == 0 || w[0] != '-' && w[0] != '+' {
		return false
	}
	for i := 1; i < len(w); i++ {
		if !scan.IsLetter(w[i]) && !scan.IsDigit(w[i]) && strings.IndexByte(".-+", w[i]) < 0 {
			return false
		}
	}
	return true
}

// codeWord returns the word that says what a number is: the one before it, past
// the words that only join them ("status code is 404", "failed with code: 5").
func codeWord(before string) string {
	for range 3 {
		word := previousWord(before)
		if i := strings.LastIndex(strings.TrimRight(before, " "), "HTTP/"); i >= 0 && len(before)-i <= len("HTTP/<num> ") {
			return "http"
		}
		if !scan.IsOneOf(word, "is", "was", "of", "with", "number", "no", "nr", "returned", "the", "a", "value") {
			return word
		}
		trimmed := strings.TrimRight(before, " :=([{#-\"'`")
		before = trimmed[:len(trimmed)-len(word)]
	}
	return ""
}

// isReason reports whether text begins with a phrase of a status of HTTP.
func isReason(text string) bool {
	return scan.HasPrefixAny(strings.TrimLeft(text, " :-("), "Bad Request", "Unauthorized", "Payment Required", "Forbidden",
		"Not Found", "Method Not", "Not Acceptable", "Request T", "Conflict", "Gone", "Length Req", "Precondition",
		"Unsupported Media", "Unprocessable", "Locked",
		"Too Many", "Internal Server", "Not Implemented", "Bad Gateway", "Service Unavailable", "Service Temporarily",
		"Gateway Time", "Moved ", "Found", "See Other", "Not Modified", "Temporary Redirect", "Permanent Redirect",
		"Client Error", "Server Error")
}

// isWebMessage reports whether a message is about a request of HTTP.
func isWebMessage(s string) bool {
	lower := strings.ToLower(s)
	return scan.ContainsAny(lower, "http", "status", "response", "server returned", "server responded", "fetch", "axios") ||
		scan.ContainsAny(s, "GET ", "POST ", "PUT ", "DELETE ", "PATCH ", "HEAD ")
}

func isCapitals(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return s != ""
}

func isCapitalsOrDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if !scan.IsDigit(s[i]) && (s[i] < 'A' || s[i] > 'Z') {
			return false
		}
	}
	return s != ""
}

// Codes returns only the error codes in a message, with a blank between
// them.
func Codes(s string) string {
	s = scan.OneLine(s, Max)
	var out []byte
	web := isWebMessage(s)
	for i := 0; i < len(s); {
		if isMessageSeparator(s[i]) {
			i++
			continue
		}
		j := i
		for j < len(s) && !isMessageSeparator(s[j]) {
			j++
		}
		if w := strings.TrimRight(s[i:j], ".,:!?"); strings.ContainsAny(w, "0123456789") && isCode(w, s[max(0, i-64):i], s[i+len(w):], web) {
			out = append(append(out, ' '), strings.ToLower(w)...)
		}
		i = j
	}
	return strings.TrimSpace(scan.Truncate(string(out), naming.MaxText))
}
