package refine

import "strings"

// wordSet are words in lower case.
type wordSet map[string]bool

// language are the words of a language by which a sentence speaks of a test. Groups of
// words are separated by commas.
type language struct {
	before, after       string // a place in the test
	atStart, atEnd      string
	here                string // places that are the end: "after that"
	insteadOf, instead  string
	rather              string // between what shall be and what shall not: "Blue, not Red"
	replace, with       string
	change, from, to    string
	use, as             string
	skip, remove        string // of remove only with a word for a step
	without, not, notIn string // notIn may stand anywhere in a clause
	parted              string // the end of a parted verb of skip: "lass den Schritt weg"
	also                string
	and                 string
	steps               string // words for a step
	subjects            string // who does what: you, the user
	gerunds             string // endings of verbs that stand for an activity
	first               []string
	last                string
}

var languages = []language{
	{
		before: "right before, just before, immediately before, directly before, shortly before, prior to, before",
		after:  "right after, just after, immediately after, directly after, after, once, as soon as",
		atStart: "at the start, at the beginning, at the very start, at the very beginning, in the beginning, at first, first of all, " +
			"to begin with, as the first step, before everything else, before anything else",
		atEnd: "at the end, at the very end, in the end, as the last step, as a last step, as the final step, as a final step, " +
			"at the end of the test, at last",
		here:      "after that, after this, after it, after all, afterwards, then",
		insteadOf: "instead of, rather than, in place of",
		instead:   "instead",
		rather:    "but not, not",
		replace:   "replace, swap, substitute, exchange",
		with:      "with, by, for",
		change:    "change, update, modify, correct, alter",
		from:      "from", to: "to, into",
		use: "use, take", as: "as, for",
		skip:    "skip, omit, leave out, leave away, drop, do without, get rid of, forget about, forget",
		remove:  "remove, delete, take out, take away, cut, cancel, disable",
		without: "without",
		not:     "do not, don't, dont, don’t, no longer, never, stop, do no longer, do not any more, must not, should not, shouldn't, avoid",
		also: "also, and also, additionally, in addition, furthermore, moreover, then, and then, next, after that, after this, afterwards, " +
			"finally, at last, lastly, as well, too, and, now, please, please also, further, besides",
		and:      "and then, and also, and, then, but",
		steps:    "step, steps, instruction, instructions, action, actions, part, assertion, assertions, check, checks, verification, verifications, expectation",
		subjects: "you, i, we, it, the user, one, he, she, they, the form, the page",
		gerunds:  "ing",
		first:    []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"},
		last:     "last, final",
	},
	{
		before:    "direkt vor, unmittelbar vor, kurz vor, bevor, ehe, vor",
		after:     "direkt nach, unmittelbar nach, gleich nach, nachdem, sobald, nach",
		atStart:   "am anfang, ganz am anfang, zu beginn, als erstes, zuerst, zuallererst, als ersten schritt",
		atEnd:     "am ende, ganz am ende, am schluss, zum schluss, als letztes, zuletzt, als letzten schritt, am ende des tests",
		here:      "danach, dann, anschließend",
		insteadOf: "anstatt, statt, anstelle von, an stelle von, anstelle",
		instead:   "stattdessen",
		rather:    "und nicht, aber nicht, nicht",
		replace:   "ersetze, ersetz, ersetzen sie, tausche, austauschen, ersetzen",
		with:      "durch, gegen, mit",
		change:    "ändere, ändern sie, ändern, aktualisiere, korrigiere",
		from:      "von", to: "auf, in, zu",
		use: "verwende, verwenden sie, benutze, nutze, nimm, nehmen sie", as: "als, für",
		skip:    "überspringe, überspringen sie, überspringen, lasse, lass, verzichte auf, spare, vergiss",
		remove:  "entferne, entfernen sie, lösche, löschen sie, streiche, nimm",
		parted:  "weg, aus, heraus, raus",
		without: "ohne",
		notIn:   "nicht mehr, nicht, keinen, keine, kein, niemals, nie",
		also: "auch, außerdem, zusätzlich, ferner, weiterhin, dann, und dann, danach, anschließend, schließlich, zuletzt, und, bitte, nun, jetzt, " +
			"darüber hinaus, überdies, im anschluss",
		and:      "und dann, und, dann, aber",
		steps:    "schritt, schritte, anweisung, anweisungen, aktion, teil, prüfung, prüfungen, überprüfung",
		subjects: "du, ich, wir, sie, man, der benutzer, der nutzer, das formular, die seite",
		gerunds:  "en",
		first:    []string{"erste", "zweite", "dritte", "vierte", "fünfte", "sechste", "siebte", "achte", "neunte", "zehnte"},
		last:     "letzte, letzten, letzter, letztem",
	},
}

// articles are words before what is meant.
var articles = set("the, a, an, my, your, their, his, her, its, this, that, any, some, der, die, das, den, dem, des, ein, eine, einen, einem, einer, mein, meine, dein, deine, diesen, diese, dieses, dem")

// plain are words of a description that name nothing.
var plain = set("the, a, an, my, your, their, his, her, its, this, that, any, some, of, to, in, on, onto, into, at, for, from, with, by, as, and, or, is, are, was, " +
	"been, has, have, be, it, you, i, we, user, they, he, she, so, up, out, all, new, one, there, where, which, " +
	"der, die, das, den, dem, des, ein, eine, einen, einem, einer, mein, meine, dein, deine, dies, diese, zu, zum, zur, im, am, an, auf, von, vom, fuer, mit, " +
	"und, oder, ist, sind, wird, wurde, hat, du, ich, wir, sie, man, sich, dass, bei, beim, ins, dich, mich, hast, habe, bist, haben, having, in, aus, alle")

// activities are what tools do, in words: the tools and the roles of their elements.
var activities = []struct {
	words string
	tools string
}{
	{"click, press, hit, tap, push, follow, klick, drueck, tipp", "click, double_click, right_click, press_key, enter_key_submit"},
	{"choose, select, pick, opt, waehl, auswaehl, auswahl", "select, click"},
	{"check, tick, untick, uncheck, toggle, ankreuz, anhak", "click"},
	{"type, enter, fill, write, input, put, key, eingeb, gib, tipp, schreib, ausfuell, fuell, eingab", "input_text, type_keys, press_key"},
	{"open, visit, go, navigate, load, oeffn, besuch, geh, lad", "go_to_url, click, switch_window"},
	{"hover, point", "hover"},
	{"drag, drop, move, sort, zieh, verschieb", "drag"},
	{"upload, attach, hochlad", "upload_file"},
	{"scroll, scroll", "scroll_document, scroll_element"},
	{"wait, pause, wart", "pause, assert"},
	{"verify, check, assert, ensure, confirm, expect, assertion, verification, expectation, pruef, ueberpruef, pruefung, ueberpruefung, sicherstell", "assert"},
	{"reload, refresh", "reload"},
}

// kinds are words for elements, with their roles.
var kinds = []struct{ words, roles string }{
	{"button, knopf, schaltflaech, taste", "button"},
	{"link", "link"},
	{"field, box, textbox, input, feld, eingabefeld", "textbox, searchbox, combobox, spinbutton, checkbox"},
	{"checkbox, kontrollkaestch, haekch", "checkbox, switch, menuitemcheckbox"},
	{"radio, option", "radio, option, menuitemradio"},
	{"tab, reiter, registerkart", "tab"},
	{"menu, item, menue, eintrag", "menuitem, menuitemcheckbox, menuitemradio, listitem, option, link"},
	{"list, dropdown, combobox, select, list, auswahl", "combobox, listbox"},
	{"dialog, popup, banner", "dialog, alertdialog"},
	{"row, zeil", "row"},
	{"slider, regler", "slider"},
}

// synonyms are words of controls that mean the same. The first stands for all.
var synonyms = []string{
	"login, log in, log on, sign in, logon, signin, authenticate, anmelden, angemeldet, anmeldung, einloggen, eingeloggt, logging in, signing in, logged in, signed in",
	"logout, log out, log off, sign out, signout, abmelden, abgemeldet, ausloggen, logging out, signing out",
	"register, sign up, signup, registration, registrieren, signing up",
	"delete, remove, trash, loeschen, geloescht, entfernen, entfernt",
	"search, find, suchen, suche",
	"submit, send, absenden, abgesendet, senden, gesendet, abschicken, abgeschickt, einreichen",
	"add, hinzufuegen, hinzugefuegt, adding, addition",
	"save, speichern, store",
	"cancel, abort, abbrechen",
	"close, dismiss, schliessen",
	"buy, purchase, order, kaufen, gekauft, bestellen, bestellt, bestellung",
	"checkout, check out, checking out, kasse, pay, payment, paying, bezahlen, zahlung",
	"email, e mail, mail",
	"subscribe, subscription, abonnieren, abonniert, subscribing",
	"accept, agree, akzeptieren, zustimmen",
	"cart, basket, warenkorb, bag",
	"confirm, confirmation, bestaetigen",
	"continue, proceed, next, weiter",
}

func set(words string) wordSet {
	s := wordSet{}
	for _, w := range groups(words) {
		s[w] = true
	}
	return s
}

// groups returns the entries of a list with commas.
func groups(words string) []string {
	var list []string
	for w := range strings.SplitSeq(words, ",") {
		if w = strings.Join(strings.Fields(w), " "); w != "" {
			list = append(list, w)
		}
	}
	return list
}
