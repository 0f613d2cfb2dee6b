package plan

// synonyms are names of controls that mean the same; symbols and what icons are called
// are among them. A name that stands in several groups means each of them.
var synonyms = [][]string{
	{"log in", "login", "sign in", "signin", "log on", "anmelden", "einloggen"},
	{"log out", "logout", "sign out", "signout", "log off", "abmelden", "ausloggen"},
	{"sign up", "signup", "register", "create account", "create an account", "join", "registrieren", "konto erstellen"},
	{"delete", "remove", "trash", "bin", "erase", "loeschen", "entfernen", "🗑", "🗑️", "garbage", "dustbin"},
	{"close", "×", "x", "✕", "✖", "╳", "dismiss", "schliessen", "times", "cross"},
	{"search", "find", "magnifier", "magnifying glass", "suche", "suchen", "🔍", "🔎", "lookup"},
	{"menu", "hamburger", "hamburger menu", "☰", "≡", "main menu", "open menu", "toggle navigation", "navigation menu", "menue", "bars"},
	{"more", "more options", "options", "more actions", "actions", "⋮", "⋯", "…", "...", "ellipsis", "kebab", "kebab menu", "three dots", "dots", "mehr"},
	{"settings", "preferences", "gear", "cog", "configuration", "⚙", "⚙️", "einstellungen", "options"},
	{"edit", "pencil", "modify", "✏", "✏️", "✎", "bearbeiten", "pen"},
	{"add", "plus", "+", "new", "create", "hinzufuegen", "neu", "➕", "add new"},
	{"minus", "-", "−", "–", "decrease", "decrement", "subtract", "verringern"},
	{"plus", "+", "increase", "increment", "erhoehen"},
	{"star", "favorite", "favourite", "★", "☆", "⭐", "mark as important", "important", "favorit", "stern", "bookmark"},
	{"like", "heart", "love", "♥", "♡", "❤", "❤️", "🤍", "👍", "thumbs up", "gefaellt mir", "herz"},
	{"dislike", "thumbs down", "👎"},
	{"reply", "respond", "answer", "↩", "antworten"},
	{"forward", "↪", "weiterleiten"},
	{"send", "submit", "send message", "paper plane", "senden", "absenden", "abschicken"},
	{"share", "teilen", "share post"},
	{"retweet", "repost", "🔁"},
	{"next", "next page", "›", "»", ">", "→", "naechste", "weiter", "▶", "❯"},
	{"previous", "prev", "back", "previous page", "‹", "«", "<", "←", "vorherige", "zurueck", "◀", "❮"},
	{"back", "←", "go back", "zurueck", "back arrow"},
	{"up", "↑", "▲", "⬆", "move up", "arrow up", "upvote"},
	{"down", "↓", "▼", "⬇", "move down", "arrow down", "downvote"},
	{"cart", "shopping cart", "basket", "bag", "shopping bag", "🛒", "warenkorb", "view cart"},
	{"add to cart", "add to basket", "add to bag", "buy", "in den warenkorb", "in den korb"},
	{"checkout", "check out", "proceed to checkout", "go to checkout", "zur kasse"},
	{"home", "home page", "homepage", "start page", "startseite", "🏠"},
	{"user", "profile", "account", "my account", "avatar", "👤", "konto", "profil", "mein konto"},
	{"help", "?", "question mark", "support", "hilfe"},
	{"info", "information", "ℹ", "ℹ️", "i"},
	{"refresh", "reload", "⟳", "↻", "🔄", "aktualisieren", "neu laden"},
	{"download", "⬇", "⤓", "herunterladen"},
	{"upload", "⬆", "choose file", "browse", "hochladen", "select file", "datei auswaehlen"},
	{"save", "speichern", "💾", "floppy", "disk"},
	{"cancel", "abort", "abbrechen"},
	{"yes", "ja"}, {"no", "nein"}, {"ok", "okay"},
	{"play", "▶", "▶️", "abspielen"}, {"pause", "⏸", "⏸️"}, {"stop", "⏹", "■"}, {"mute", "🔇", "🔊"},
	{"notifications", "bell", "🔔", "benachrichtigungen", "notification"},
	{"calendar", "📅", "date picker", "kalender"},
	{"email", "mail", "e mail", "email address", "mail address", "e mail address", "e mail adresse", "✉", "envelope"},
	{"username", "user name", "user", "login name", "benutzername", "user id"},
	{"password", "passwort", "kennwort"},
	{"phone", "telephone", "phone number", "telephone number", "mobile", "telefon", "telefonnummer"},
	{"zip", "zip code", "postal code", "postcode", "plz", "postleitzahl"},
	{"first name", "given name", "forename", "vorname"},
	{"last name", "surname", "family name", "nachname"},
	{"quantity", "qty", "amount", "menge", "anzahl"},
	{"country", "land"}, {"city", "town", "stadt", "ort"}, {"street", "strasse"},
	{"message", "nachricht"}, {"subject", "betreff"},
	{"expand", "▸", "▶", "+", "aufklappen"}, {"collapse", "▾", "▼", "zuklappen"},
	{"copy", "📋", "clipboard", "kopieren"}, {"print", "🖨", "drucken"}, {"filter", "funnel"}, {"sort", "sortieren"},
	{"lock", "🔒"}, {"unlock", "🔓"}, {"eye", "show password", "👁", "visibility"}, {"attach", "paperclip", "📎", "attachment"},
}

// meaningIndex has the groups of each name.
var meaningIndex = func() map[string][]int {
	index := map[string][]int{}
	for i, group := range synonyms {
		for _, name := range group {
			index[name] = append(index[name], i)
		}
	}
	return index
}()

// meanings returns other names for the same. What means the same as one of two names
// need not mean the same as the other.
func meanings(t phraseText) []string {
	var list []string
	seen := map[string]bool{t.folded: true}
	for _, key := range []string{t.folded, joinWords(t.words)} {
		for _, i := range meaningIndex[key] {
			for _, name := range synonyms[i] {
				if !seen[name] {
					seen[name] = true
					list = append(list, name)
				}
			}
		}
	}
	return list
}
