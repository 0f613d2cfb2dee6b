package report

// secrecy is how much of a value must be masked, by the name of the value.
type secrecy int

const (
	public     secrecy = iota
	secretText         // text, objects and arrays; numbers beside such names are counts
	secret             // numbers too
)

// Classes of the words of a name.
const (
	wordOther     = 0
	wordSecret    = 1 << iota // secret by itself
	wordToken                 // secret by itself, but for numbers
	wordLast                  // secret text when it is the last word
	wordQualified             // secret text when last of several words: PWD alone is a folder
	wordKeyKind               // a following "key" is secret
	wordKey
	wordSession // a following "id" is secret
	wordID
	wordConnection // a following "string" is secret
	wordString
	wordSignature // secret as a parameter only: signed links
)

// secretName returns the secrecy of the value of a member, an environment variable
// or a query parameter of this name. A name is split into words at
// everything that is no letter and at the humps of camel case, so that
// AWS_SECRET_ACCESS_KEY, x-api-key and clientSecret match, and tokenizer,
// author and keyboard do not.
func secretName(name []byte, parameter bool) secrecy {
	if !hasTrigger(name) {
		return public
	}
	found := public
	class, previous, words := wordOther, wordOther, 0
	for i := 0; i < len(name); {
		if !isLetter(name[i]) {
			i++
			continue
		}
		start := i
		i = wordEnd(name, i)
		previous, class = class, wordClass(name[start:i])
		words++
		switch {
		case class == wordOther:
		case class&wordSecret != 0,
			class&wordKey != 0 && previous&wordKeyKind != 0,
			class&wordID != 0 && previous&wordSession != 0,
			class&wordString != 0 && previous&wordConnection != 0:
			return secret
		case class&wordToken != 0, class&wordSignature != 0 && parameter:
			found = secretText
		}
	}
	if class&wordLast != 0 || class&wordQualified != 0 && words > 1 {
		found = secretText
	}
	return found
}

// triggers has, for each letter, the letters that may follow it in a trigger:
// a pair that every word or pair of words of a secret name holds (the ok of
// token and cookie). Letters are numbered by their five low bits, which are
// those of both cases.
var triggers = [32]uint32{
	'a' & 31: 1<<('u'&31) | 1<<('s'&31), // auth, authorization; pass
	'b' & 31: 1 << ('e' & 31),           // bearer
	'c' & 31: 1 << ('r' & 31),           // secret, credential, creds
	'd' & 31: 1 << ('s' & 31),           // dsn
	'j' & 31: 1 << ('w' & 31),           // jwt
	'k' & 31: 1 << ('e' & 31),           // key
	'n' & 31: 1 << ('n' & 31),           // connection, conn
	'o' & 31: 1<<('k'&31) | 1<<('t'&31), // token, cookie; otp
	'p' & 31: 1 << ('w' & 31),           // pw, pwd
	's' & 31: 1<<('r'&31) | 1<<('i'&31), // csrf, xsrf; session, sig, sid
}

// hasTrigger is the cheap check before the words are split: most names have no
// trigger. For two pairs that are common elsewhere (class, size, version) a
// neighbour is checked too.
func hasTrigger(name []byte) bool {
	var follow uint32
	for i, c := range name {
		if follow>>(c&31)&1 != 0 {
			switch before, letter := name[i-1]|0x20, c|0x20; {
			case before == 'a' && letter == 's':
				if i > 1 && name[i-2]|0x20 == 'p' {
					return true
				}
			case before == 's' && letter == 'i':
				if i > 1 && name[i-2]|0x20 == 's' || i+1 < len(name) && (name[i+1]|0x20 == 'g' || name[i+1]|0x20 == 'd') {
					return true
				}
			default:
				return true
			}
		}
		follow = triggers[c&31]
	}
	return false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }

// wordEnd returns the end of the word that begins at i: Camel, camel, CAMEL,
// or the CAMEL of CAMELCase.
func wordEnd(name []byte, i int) int {
	start := i
	for i < len(name) && isUpper(name[i]) {
		i++
	}
	if i < len(name) && isLetter(name[i]) { // a small letter
		if i > start+1 {
			return i - 1
		}
		for i < len(name) && isLetter(name[i]) && !isUpper(name[i]) {
			i++
		}
	}
	return i
}

// wordClass looks a word up, without regard to case.
func wordClass(word []byte) int {
	var buf [16]byte
	if len(word) < 2 {
		return wordOther
	}
	if len(word) > len(buf) {
		word = word[len(word)-len(buf):] // still ends as it did
	}
	for i, c := range word {
		buf[i] = c | 0x20
	}
	w := buf[:len(word)]
	switch string(w) {
	case "token", "tokens", "cookie", "cookies", "authorization", "jwt", "bearer", "csrf", "xsrf", "otp", "dsn", "setcookie":
		return wordToken
	case "pass", "auth":
		return wordLast
	case "pwd":
		return wordQualified
	case "key", "keys":
		return wordKey
	case "api", "access", "private", "encryption", "signing", "master", "account", "storage", "ssh", "deploy":
		return wordKeyKind
	case "session":
		return wordKeyKind | wordSession
	case "id":
		return wordID
	case "connection", "conn":
		return wordConnection
	case "string", "str":
		return wordString
	case "signature", "sig", "sid":
		return wordSignature
	case "pw", "passcode", "secrets", "credential", "credentials", "creds", "apikey", "apikeys",
		"accesskey", "privatekey", "secretkey", "connectionstring", "connstr":
		return wordSecret
	}
	switch w[len(w)-1] {
	case 'd':
		if hasSuffix(w, "password") || hasSuffix(w, "passwd") || hasSuffix(w, "sessionid") || hasSuffix(w, "sessid") {
			return wordSecret
		}
	case 's':
		if hasSuffix(w, "passwords") {
			return wordSecret
		}
	case 'e':
		if hasSuffix(w, "passphrase") {
			return wordSecret
		}
	case 't':
		if hasSuffix(w, "secret") {
			return wordSecret
		}
	case 'y':
		if hasSuffix(w, "apikey") {
			return wordSecret
		}
	case 'n':
		if hasSuffix(w, "token") {
			return wordToken
		}
	}
	return wordOther
}

func hasSuffix(w []byte, suffix string) bool {
	return len(w) >= len(suffix) && string(w[len(w)-len(suffix):]) == suffix
}
