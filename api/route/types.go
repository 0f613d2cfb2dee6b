package route

// Types are the Go types behind the bodies of a room's routes. cmd/describe makes their
// schemas in the description of the api from them, and openapi.yaml beside the room says
// what a type does not: texts, bounds, and what a request must have.
type Types struct {
	// Schemas are components of answers, by their names.
	Schemas map[string]any
	// Requests are components of what is read.
	Requests map[string]any
	// Bodies are those of requests that are no components, by method and path as the
	// description has them: "POST /api/v3/tasks/retry".
	Bodies map[string]any
	// Words are all values of each type that has few, as a slice of it.
	Words []any
}
