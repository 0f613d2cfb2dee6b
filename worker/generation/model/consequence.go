package model

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// consequence is a kind of action that cannot be undone. A clause must name it before
// an element is used that is called so, since a page decides what a model reads.
type consequence struct {
	what string
	// called are the words by which such elements are known.
	called []string
	// asked are the words of clauses that ask for it, besides those.
	asked []string
}

// consequences are the kinds, in English and German, in folded letters.
var consequences = []consequence{
	{"delete", []string{"delete", "remove", "erase", "discard", "trash", "destroy", "wipe", "purge", "uninstall",
		"loeschen", "entfernen", "verwerfen", "papierkorb", "vernichten"}, []string{"bin", "empty", "clear", "leeren"}},
	{"buy", []string{"buy", "purchase", "order", "pay", "checkout", "kaufen", "bestellen", "zahlen", "bezahlen", "kasse"},
		[]string{"payment", "orders", "bestellung", "zahlung"}},
	{"book", []string{"book", "reserve", "rent", "buchen", "reservieren", "mieten"}, []string{"booking", "reservation", "buchung", "reservierung", "buy", "order"}},
	{"send", []string{"send", "senden", "absenden", "abschicken", "verschicken", "schicken"},
		[]string{"forward", "reply", "answer", "respond", "email", "mail", "message", "submit", "invite",
			"weiterleiten", "antworten", "nachricht", "einladen"}},
	{"submit", []string{"submit", "confirm", "finalize", "einreichen", "bestaetigen"},
		[]string{"send", "finish", "complete", "save", "register", "sign", "login", "log", "order", "buy", "pay", "purchase", "book",
			"reserve", "place", "search", "find", "create", "add", "post", "apply", "join", "subscribe", "delete", "remove", "update",
			"accept", "ok", "checkout", "vote", "senden", "absenden", "abschicken", "fertig", "abschliessen", "speichern",
			"registrieren", "anmelden", "bestellen", "kaufen", "bezahlen", "suchen", "anlegen", "hinzufuegen", "loeschen"}},
	{"transfer", []string{"transfer", "wire", "ueberweisen", "withdraw"}, []string{"ueberweisung", "pay", "send"}},
	{"publish", []string{"publish", "post", "tweet", "share", "veroeffentlichen", "teilen"},
		[]string{"comment", "write", "reply", "retweet", "kommentieren", "schreiben"}},
	{"end an account", []string{"unsubscribe", "deactivate", "kuendigen", "deaktivieren", "abbestellen"}, []string{"disable"}},
	{"log out", []string{"logout", "signout", "logoff", "abmelden", "ausloggen"}, nil},
	{"reset", []string{"reset", "format", "zuruecksetzen"}, nil},
	{"grant", []string{"approve", "grant", "authorize", "authorise", "genehmigen", "erlauben"}, []string{"allow", "accept", "zulassen"}},
}

// maxVerbWords is the number of words up to which a name is taken for that of an
// action: longer ones are titles, which only begin with one ("How to delete a branch"
// is read, "Delete the branch now and forever" deletes).
const maxVerbWords = 4

// maxCalled bounds what is read of a name.
const maxCalled = 120

// unasked returns what an element of these names does that the clause does not ask for;
// "" when there is nothing.
func (v *vocabulary) unasked(names ...string) string {
	for _, c := range effects(names) {
		if !v.asks(c.called) && !v.asks(c.asked) {
			return c.what
		}
	}
	return ""
}

// asked reports whether an element of these names does what the clause asks for, if by
// another name.
func (v *vocabulary) asked(names ...string) bool {
	return slices.ContainsFunc(effects(names), func(c *consequence) bool { return v.asks(c.called) || v.asks(c.asked) })
}

// effects returns the consequences of using an element of these names.
func effects(names []string) []*consequence {
	var list []*consequence
	for _, name := range names {
		words := wordsOf(fold(name[:min(len(name), maxCalled)]))
		if len(words) > maxVerbWords {
			words = words[:1]
		}
		if leaves(words) {
			words = append(words, "logout")
		}
		for i := range consequences {
			called := consequences[i].called // as buttons say it: "Orders" is a place
			if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(called, word) }) {
				list = append(list, &consequences[i])
			}
		}
	}
	return list
}

// leaves reports whether words have log out, sign out or log off written apart.
func leaves(words []string) bool {
	for i := 1; i < len(words); i++ {
		if (words[i-1] == "log" || words[i-1] == "sign") && (words[i] == "out" || words[i] == "off") {
			return true
		}
	}
	return false
}

// committing are words of clauses in which the Enter key may send a form.
var committing = []string{"enter", "return", "submit", "search", "send", "add", "create", "save", "post", "go", "log",
	"login", "sign", "confirm", "rename", "filter", "tag", "query", "eingabetaste", "eingabe", "absenden", "suche", "suchen", "senden",
	"hinzufuegen", "anlegen", "speichern", "anmelden", "bestaetigen", "umbenennen"}

// actionNames are the names of an element by which it is known what it does.
func actionNames(n *snapshot.Node) []string {
	names := []string{n.Name, n.Title}
	if n.Name == "" {
		names = append(names, n.Text, n.TestID, n.ID, n.NameAttr, strings.Join(n.Hints, " "))
	}
	if n.Type == "submit" || n.Type == "button" || n.Type == "image" {
		names = append(names, n.Value)
	}
	return names
}
