package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
)

// A write is an apply or an update of the whole spec by a manager.
type write struct {
	manager string
	apply   bool
	force   bool
	spec    map[string]interface{}
}

func (w write) String() string {
	verb := "updates"
	if w.apply {
		verb = map[bool]string{false: "applies", true: "applies by force"}[w.force]
	}
	return fmt.Sprintf("%s %s %s", w.manager, verb, text(w.spec))
}

func text(value interface{}) string {
	bytes, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(bytes)
}

// copied is the value as JSON has it.
func copied(value interface{}) interface{} {
	var result interface{}
	if err := json.Unmarshal([]byte(text(value)), &result); err != nil {
		return err
	}
	return result
}

func number(r *rand.Rand) interface{} { return float64(r.Intn(3)) }

// some gives a random part of the keys.
func some(r *rand.Rand, keys ...string) []string {
	var chosen []string
	for _, at := range r.Perm(len(keys)) {
		if r.Intn(2) == 0 {
			chosen = append(chosen, keys[at])
		}
	}
	return chosen
}

func numbers(r *rand.Rand, keys ...string) map[string]interface{} {
	result := map[string]interface{}{}
	for _, key := range some(r, keys...) {
		result[key] = number(r)
	}
	return result
}

func set(r *rand.Rand) []interface{} {
	result := []interface{}{}
	for _, item := range some(r, "a", "b", "c", "d") {
		result = append(result, item)
	}
	return result
}

func ports(r *rand.Rand) []interface{} {
	result := []interface{}{}
	for _, key := range some(r, "1TCP", "1UDP", "2TCP", "3UDP") {
		item := numbers(r, "x", "y")
		item["port"] = float64(key[0] - '0')
		item["protocol"] = key[1:]
		if r.Intn(3) == 0 {
			item["tags"] = set(r)
		}
		result = append(result, item)
	}
	return result
}

// randomSpec has some of the fields of the kind, now and then an empty map or list.
func randomSpec(r *rand.Rand) map[string]interface{} {
	spec := map[string]interface{}{}
	for _, field := range some(r, "a", "b", "map", "whole", "set", "list", "ports", "inner") {
		switch field {
		case "a", "b":
			spec[field] = number(r)
		case "map", "whole":
			spec[field] = numbers(r, "x", "y", "z")
		case "set":
			spec[field] = set(r)
		case "list":
			spec[field] = []interface{}{number(r), number(r)}[:r.Intn(3)]
		case "ports":
			spec[field] = ports(r)
		case "inner":
			inner := numbers(r, "p", "q")
			if r.Intn(2) == 0 {
				inner["deep"] = map[string]interface{}{"set": set(r)}
			}
			spec[field] = inner
		}
	}
	return spec
}

// withoutEmptyLists: nobody owns an empty set or keyed list, and what comes of one that is applied
// is known to differ (docs/apply.md, Differences from Kubernetes).
func withoutEmptyLists(value interface{}) {
	switch v := value.(type) {
	case map[string]interface{}:
		for key, member := range v {
			if list, ok := member.([]interface{}); ok && len(list) == 0 && key != "list" {
				delete(v, key)
			}
			withoutEmptyLists(member)
		}
	case []interface{}:
		for _, item := range v {
			withoutEmptyLists(item)
		}
	}
}

// randomWrite: an update keeps some of what is there.
func randomWrite(r *rand.Rand, live map[string]interface{}) write {
	spec := randomSpec(r)
	if r.Intn(3) > 0 {
		withoutEmptyLists(spec)
		return write{fmt.Sprintf("applier-%d", r.Intn(3)), true, r.Intn(2) == 0, spec}
	}
	for field, value := range live {
		if r.Intn(4) > 0 {
			spec[field] = copied(value)
		}
	}
	// Nor does the library see an object that has nothing but empty lists: it takes it out, and what
	// the updater owns with it, when the last applier of something else in it ceases to. The server
	// lets it stay.
	withoutEmptyLists(spec["inner"])
	return write{fmt.Sprintf("updater-%d", r.Intn(2)), false, false, spec}
}
