package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
)

var parameter = regexp.MustCompile(`[:*]([A-Za-z]+)`)

// pathOf is the path of a route as OpenAPI writes it.
func pathOf(r *route.Route) string { return parameter.ReplaceAllString(r.Path, "{$1}") }

// nameOf names a route in fragments.
func nameOf(r *route.Route) string { return r.Method + " " + pathOf(r) }

// operationOf is what a route says by itself: who may call it, whether it is of a former
// version, and the failures that every route of its kind has.
func operationOf(r *route.Route) *yaml.Node {
	n := with(object(), "security", securityOf(r))
	if r.Interface == respond.InterfaceLegacy && (strings.HasPrefix(r.Path, "/api/1/") || strings.HasPrefix(r.Path, "/api/2/")) {
		with(n, "deprecated", truth(true))
	}
	responses := object()
	for _, status := range failuresOf(r) {
		if name := failureName(r.Interface, status); name != "" {
			with(responses, fmt.Sprint(status), refTo("responses", name))
		}
	}
	return with(n, "responses", responses)
}

// securityOf lists the ways of authentication, as package auth has them by interface.
func securityOf(r *route.Route) *yaml.Node {
	ways := list()
	add := func(schemes ...string) {
		way := object()
		for _, scheme := range schemes {
			with(way, scheme, list())
		}
		ways.Content = append(ways.Content, way)
	}
	switch {
	case r.Public != "":
	case auth.Table()[r.Action].Operators == auth.OperatorsOnly:
		add("basic")
	case r.Action == auth.ExchangeToken: // the key is in the body as well
		add("apiKey")
		add("basic")
		add()
	default:
		add("apiKey")
		add("bearer")
		if r.Interface == respond.InterfaceAuthoring {
			add("accessKey")
		} else {
			add("basic")
		}
		add("oidcConfigKey", "oidcToken")
	}
	return ways
}

// failuresOf are the statuses of failures that follow from what a route is. What only its
// handler knows, such as a conflict, its fragment adds.
func failuresOf(r *route.Route) []int {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if r.Interface == respond.InterfaceCrash && r.Method == http.MethodPost {
		return []int{http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests,
			http.StatusInternalServerError, http.StatusServiceUnavailable}
	}
	if r.Action == "" || r.Fail != nil {
		return nil
	}
	statuses := []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusServiceUnavailable}
	if r.Query != nil || !reads || strings.ContainsAny(r.Path, ":*") {
		statuses = append(statuses, http.StatusBadRequest)
	}
	if !reads {
		statuses = append(statuses, http.StatusRequestEntityTooLarge)
	}
	if strings.ContainsAny(r.Path, ":*") {
		statuses = append(statuses, http.StatusNotFound)
	}
	slices.Sort(statuses)
	return statuses
}

// failureName is the component that describes a status; "": the interface has a code for
// each cause, which the fragment names.
func failureName(of respond.Interface, status int) string {
	name := map[int]string{http.StatusBadRequest: "BadRequest", http.StatusUnauthorized: "Unauthorized", http.StatusForbidden: "Forbidden",
		http.StatusNotFound: "NotFound", http.StatusConflict: "Conflict", http.StatusRequestEntityTooLarge: "TooLarge",
		http.StatusTooManyRequests: "TooMany", http.StatusInternalServerError: "Internal", http.StatusServiceUnavailable: "Unavailable"}[status]
	if name == "" {
		return ""
	}
	switch of {
	case respond.InterfaceLegacy:
		if status == http.StatusConflict {
			return ""
		}
		return "DistributionLegacy" + name
	case respond.InterfaceAuthoring:
		if status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusConflict {
			return ""
		}
		return "Authoring" + name
	case respond.InterfaceCrash:
		if status == http.StatusTooManyRequests {
			return "CrashQuota"
		}
		return "Crash" + name
	}
	return name
}

// failureSchema is the shape of an interface's failures.
func failureSchema(of respond.Interface) string {
	switch of {
	case respond.InterfaceLegacy:
		return "distribution_legacy_error"
	case respond.InterfaceAuthoring:
		return "authoring_error"
	case respond.InterfaceCrash:
		return "crash_error"
	}
	return "error"
}

// complete adds to an operation what its parts share, and orders it.
func complete(r *route.Route, n *yaml.Node) (*yaml.Node, error) {
	if err := checkSecurity(r, member(n, "security")); err != nil {
		return nil, err
	}
	responses := member(n, "responses")
	if more := without(n, "failures"); more != nil {
		for _, status := range more.Content {
			number, _ := strconv.Atoi(status.Value)
			name := failureName(r.Interface, number)
			if name == "" {
				return nil, fmt.Errorf("%s: %s is no failure that the interface has in common: describe it as a response", nameOf(r), status.Value)
			}
			with(responses, status.Value, refTo("responses", name))
		}
	}
	_ = members(responses, func(status string, response *yaml.Node) error {
		completeResponse(r, status, response)
		return nil
	})
	with(n, "responses", byName(responses))
	completeForms(member(n, "requestBody"))
	if body := member(n, "requestBody"); body != nil {
		with(n, "requestBody", ordered(body, "description", "required", "content"))
	}
	return ordered(n, "operationId", "tags", "summary", "description", "deprecated", "parameters", "requestBody", "responses", "security"), nil
}

// checkSecurity refuses a way of authentication that the route does not have: a handler, and
// so its fragment, can only take ways away. A public route can ask for some by a setting.
func checkSecurity(r *route.Route, ways *yaml.Node) error {
	if r.Public != "" {
		return nil
	}
	own := map[string]bool{}
	for _, way := range securityOf(r).Content {
		own[schemes(way)] = true
	}
	for _, way := range ways.Content {
		if !own[schemes(way)] {
			return fmt.Errorf("%s: nobody gets in by [%s]", nameOf(r), schemes(way))
		}
	}
	return nil
}

// schemes names the schemes of a way.
func schemes(way *yaml.Node) string {
	var names []string
	for i := 0; i < len(way.Content); i += 2 {
		names = append(names, way.Content[i].Value)
	}
	return strings.Join(names, " and ")
}

// completeResponse adds the header that every answer has, and to a failure the body of its
// interface.
func completeResponse(r *route.Route, status string, n *yaml.Node) {
	if member(n, "$ref") != nil {
		return
	}
	addRequestID(n)
	if status >= "400" && member(n, "content") == nil && r.Method != http.MethodHead {
		if r.Fail != nil {
			with(n, "content", with(object(), "text/html", with(object(), "schema", with(object(), "type", text("string")))))
		} else {
			with(n, "content", with(object(), typeJSON, with(object(), "schema", refTo("schemas", failureSchema(r.Interface)))))
		}
	}
	*n = *ordered(n, "description", "headers", "content")
}

// addRequestID adds X-Request-Id to the headers of an answer.
func addRequestID(n *yaml.Node) {
	headers := with(object(), "X-Request-Id", refTo("headers", "RequestId"))
	_ = members(member(n, "headers"), func(name string, header *yaml.Node) error {
		with(headers, name, header)
		return nil
	})
	with(n, "headers", headers)
	if member(n, "description") == nil {
		with(n, "description", text("OK"))
	}
}

// completeForms describes the forms that a body may be sent as: they have the members of
// the JSON, and may have the key.
func completeForms(body *yaml.Node) {
	forms := without(body, "forms")
	if forms == nil {
		return
	}
	content := member(body, "content")
	for _, form := range forms.Content {
		schema := copied(member(content, typeJSON, "schema"))
		if open := member(schema, "additionalProperties"); open != nil && open.Value == "false" {
			without(schema, "additionalProperties")
		}
		with(content, form.Value, with(object(), "schema", schema))
	}
}
