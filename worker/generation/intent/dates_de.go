package intent

// germanDates are the words for dates and times in German.
var germanDates = []entry{
	{"month 1", "januar, jan, jänner"}, {"month 2", "februar, feb"}, {"month 3", "märz, mär, mrz"}, {"month 4", "april, apr"},
	{"month 5", "mai"}, {"month 6", "juni, jun"}, {"month 7", "juli, jul"}, {"month 8", "august, aug"},
	{"month 9", "september, sep, sept"}, {"month 10", "oktober, okt"}, {"month 11", "november, nov"}, {"month 12", "dezember, dez"},
	{"weekday 1", "montag"}, {"weekday 2", "dienstag"}, {"weekday 3", "mittwoch"}, {"weekday 4", "donnerstag"},
	{"weekday 5", "freitag"}, {"weekday 6", "samstag, sonnabend"}, {"weekday 0", "sonntag"},
	{"day 0", "heute, das heutige datum, heutige datum, das aktuelle datum"}, {"day 1", "morgen"}, {"day -1", "gestern"},
	{"day 2", "übermorgen"}, {"day -2", "vorgestern"},
	{"now", "jetzt"}, {"noon", "mittag, mittags"}, {"midnight", "mitternacht"}, {"clock", "uhr"},
	{"in", "in"}, {"ago", "her"}, {"next", "nächsten, nächster, nächste, nächstes, kommenden, kommende"}, {"last", "letzten, letzter, letzte, vergangenen, vorigen"}, {"this", "diesen, diese, dieser"},
	{"unit 1", "tag, tage, tagen"}, {"unit 7", "woche, wochen"}, {"unit 30", "monat, monate, monaten"}, {"unit 365", "jahr, jahre, jahren"},
	{"from", "von, vom, zwischen, ab"}, {"to", "bis, bis zum, -, –, und"},
	{"fill", "den, der, dem, am, um, das datum, datum, gegen"},
}
