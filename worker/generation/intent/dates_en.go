package intent

// englishDates are the words for dates and times in English.
var englishDates = []entry{
	{"month 1", "january, jan"}, {"month 2", "february, feb"}, {"month 3", "march, mar"}, {"month 4", "april, apr"},
	{"month 5", "may"}, {"month 6", "june, jun"}, {"month 7", "july, jul"}, {"month 8", "august, aug"},
	{"month 9", "september, sep, sept"}, {"month 10", "october, oct"}, {"month 11", "november, nov"}, {"month 12", "december, dec"},
	{"weekday 1", "monday, mon, mondays"}, {"weekday 2", "tuesday, tue, tues"}, {"weekday 3", "wednesday, wed"}, {"weekday 4", "thursday, thu, thurs"},
	{"weekday 5", "friday, fri"}, {"weekday 6", "saturday, sat"}, {"weekday 0", "sunday, sun"},
	{"day 0", "today, today's date, the current date, current date, the date of today"}, {"day 1", "tomorrow, the next day"}, {"day -1", "yesterday"},
	{"day 2", "the day after tomorrow, day after tomorrow"}, {"day -2", "the day before yesterday, day before yesterday"},
	{"now", "now, the current time, right now"}, {"noon", "noon, midday"}, {"midnight", "midnight"},
	{"am", "am, a.m, a.m., in the morning"}, {"pm", "pm, p.m, p.m., in the afternoon, in the evening"}, {"clock", "o'clock, oclock, hrs"},
	{"in", "in"}, {"ago", "ago"}, {"next", "next, the next, coming, the coming"}, {"last", "last, the last, previous, past"}, {"this", "this"},
	{"unit 1", "day, days"}, {"unit 7", "week, weeks"}, {"unit 30", "month, months"}, {"unit 365", "year, years"},
	{"from", "from, between, starting, starting on"}, {"to", "to, until, till, through, -, –, and, ending, ending on"},
	{"fill", "of, the, on, at, on the, ,, the date, date, at the, for"},
}
