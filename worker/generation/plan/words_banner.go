package plan

// bannerWords are what banners for consent, newsletters and surveys speak of.
var bannerWords = []string{"cookie", "consent", "privacy", "gdpr", "newsletter", "subscribe", "survey", "notification", "tracking",
	"datenschutz", "einwilligung", "umfrage", "abonnieren", "benachrichtigung"}

// bannerNouns are the words by which people speak of such banners.
var bannerNouns = []string{"banner", "popup", "pop-up", "cookie", "consent", "newsletter"}

// consentWords are the names of controls that close a banner for consent, the widest
// of them included: the rest of a page works as for those who agree.
var consentWords = []string{"accept all", "accept all cookies", "allow all", "allow all cookies", "accept", "accept cookies", "i accept",
	"agree", "i agree", "agree and continue", "accept and continue", "accept and close", "got it", "ok", "okay", "understood", "i understand", "allow cookies", "continue",
	"reject all", "decline", "only necessary", "necessary only", "reject", "no, thanks", "no thanks", "not now", "maybe later",
	"alle akzeptieren", "akzeptieren", "alle cookies akzeptieren", "alles akzeptieren", "zustimmen", "ich stimme zu", "einverstanden", "verstanden", "alle ablehnen",
	"ablehnen", "nur notwendige", "nein danke", "nein, danke", "nicht jetzt", "spaeter"}

// closeWords are the names of controls that close whatever they stand in.
var closeWords = []string{"close", "×", "✕", "✖", "x", "╳", "dismiss", "no thanks", "no, thanks", "not now", "maybe later", "skip", "later", "close dialog", "close popup", "close modal", "close banner",
	"schliessen", "nein danke", "nein, danke", "nicht jetzt", "spaeter", "ueberspringen"}
