package plan

import "github.com/slipway-qa/slipway/worker/generation/intent"

// placeWords stand between the name of a thing and what it belongs to.
var placeWords = map[string]intent.RelationKind{
	"for": intent.Of, "of": intent.Of, "from": intent.Of, "by": intent.Of, "in": intent.In, "inside": intent.In, "under": intent.Under, "below": intent.Under,
	"above": intent.Above, "beside": intent.Beside, "near": intent.Beside, "with": intent.With, "at": intent.Of, "on": intent.Of,
	"fuer": intent.Of, "von": intent.Of, "bei": intent.Of, "im": intent.In, "unter": intent.Under, "ueber": intent.Above, "neben": intent.Beside, "mit": intent.With,
}

// nextWords are the names of controls that turn pages and lengthen lists.
var nextWords = []string{"next", "next page", "next »", "next ›", "next >", "next →", "›", "»", ">", "→", "older", "older posts", "load more", "show more", "more results", "see more", "view more",
	"naechste", "naechste seite", "weiter", "mehr laden", "mehr anzeigen", "weitere laden", "weitere anzeigen", "aeltere"}

// unsafeWords are in the names of controls that do something which cannot be undone:
// a search never uses one.
var unsafeWords = []string{"delete", "remove", "pay", "buy", "order", "purchase", "checkout", "submit", "send", "save", "logout", "log", "sign", "unsubscribe", "cancel",
	"publish", "confirm", "reset", "clear", "discard", "apply", "archive", "book", "reserve", "donate", "transfer", "block", "report", "print", "download", "close",
	"loeschen", "entfernen", "bezahlen", "kaufen", "bestellen", "absenden", "senden", "speichern", "abmelden", "kuendigen", "abbrechen", "bestaetigen", "zuruecksetzen",
	"verwerfen", "anwenden", "buchen", "reservieren", "ueberweisen", "drucken", "schliessen"}
