// Package gatefile reads the policy of an app's gate as slipway.yaml has it.
//
// It is the document of the API, in which suites may be called by their names: who writes a
// policy into a repository knows those, not the ids of a server. Members that the package does
// not know are the server's to refuse.
package gatefile

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Read returns the policy as JSON has it: numbers are float64.
func Read(n *yaml.Node) (any, error) {
	var policy any
	if err := n.Decode(&policy); err != nil {
		return nil, err
	}
	text, err := json.Marshal(policy)
	if err != nil {
		return nil, fmt.Errorf("a policy is texts, numbers, lists and mappings with names: %w", err)
	}
	return policy, json.Unmarshal(text, &policy)
}

// NameSuites puts the ids of suites, which idOf returns, in place of their names: in suite_ids of
// conditions and in suite_id of run_suites. What is no text is left to the server to refuse.
func NameSuites(policy any, idOf func(word string) (string, error)) error {
	known := map[string]string{}
	name := func(at *any) error {
		word, ok := (*at).(string)
		if !ok {
			return nil
		}
		if known[word] == "" {
			id, err := idOf(word)
			if err != nil {
				return err
			}
			known[word] = id
		}
		*at = known[word]
		return nil
	}
	whole, _ := policy.(map[string]any)
	for _, condition := range members(whole, "conditions") {
		ids, _ := condition["suite_ids"].([]any)
		for i := range ids {
			if err := name(&ids[i]); err != nil {
				return err
			}
		}
	}
	for _, run := range members(whole, "run_suites") {
		id, there := run["suite_id"]
		if !there {
			continue
		}
		if err := name(&id); err != nil {
			return err
		}
		run["suite_id"] = id
	}
	return nil
}

// members returns the mappings of a list.
func members(of map[string]any, name string) (found []map[string]any) {
	list, _ := of[name].([]any)
	for _, one := range list {
		if m, ok := one.(map[string]any); ok {
			found = append(found, m)
		}
	}
	return found
}

// Differs returns where, below at, what is wanted is not so, "" when it is. Members that are not wanted may
// be there.
func Differs(wanted, have any, at string) string {
	switch w := wanted.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return at
		}
		for name, value := range w {
			if place := Differs(value, h[name], at+"."+name); place != "" {
				return place
			}
		}
		return ""
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return at
		}
		for i := range w {
			if place := Differs(w[i], h[i], at+"["+strconv.Itoa(i)+"]"); place != "" {
				return place
			}
		}
		return ""
	}
	if !reflect.DeepEqual(wanted, have) {
		return at
	}
	return ""
}
