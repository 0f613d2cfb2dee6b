package live

// Statement is the statement of topics.
var Statement = statement
