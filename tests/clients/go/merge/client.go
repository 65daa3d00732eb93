package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"sort"

	"sigs.k8s.io/structured-merge-diff/fieldpath"

	"vedette/harness"
)

const (
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	widgets     = "/apis/example.org/v1/namespaces/default/widgets"
)

const definition = `{
	"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
	"metadata": {"name": "widgets.example.org"},
	"spec": {
		"group": "example.org", "scope": "Namespaced",
		"names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
		"versions": [{
			"name": "v1", "served": true, "storage": true,
			"schema": {"openAPIV3Schema": {"type": "object", "properties": {
				"spec": {"type": "object", "properties": {
					"a": {"type": "integer"}, "b": {"type": "integer"},
					"map": {"type": "object", "additionalProperties": {"type": "integer"}},
					"whole": {"type": "object", "additionalProperties": {"type": "integer"},
						"x-kubernetes-map-type": "atomic"},
					"set": {"type": "array", "items": {"type": "string"},
						"x-kubernetes-list-type": "set"},
					"list": {"type": "array", "items": {"type": "integer"},
						"x-kubernetes-list-type": "atomic"},
					"ports": {"type": "array", "x-kubernetes-list-type": "map",
						"x-kubernetes-list-map-keys": ["port", "protocol"],
						"items": {"type": "object", "required": ["port", "protocol"], "properties": {
							"port": {"type": "integer"}, "protocol": {"type": "string"},
							"x": {"type": "integer"}, "y": {"type": "integer"},
							"tags": {"type": "array", "items": {"type": "string"},
								"x-kubernetes-list-type": "set"}}}},
					"inner": {"type": "object", "properties": {
						"p": {"type": "integer"}, "q": {"type": "integer"},
						"deep": {"type": "object", "properties": {
							"set": {"type": "array", "items": {"type": "string"},
								"x-kubernetes-list-type": "set"}}}}}
				}}}}}
		}]
	}
}`

// A client writes to the server what the model is given, too.
type client struct{ http *http.Client }

func (c *client) define(s *harness.Server) error {
	config, err := s.TLS()
	if err != nil {
		return err
	}
	c.http = &http.Client{Transport: &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   config,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, s.Door())
		},
	}}
	status, body, err := c.ask("POST", definitions, "application/json", []byte(definition))
	if err != nil || status != http.StatusCreated {
		return fmt.Errorf("%d %s %v", status, body, err)
	}
	return harness.Until("the kind is served", func() bool {
		status, _, err := c.ask("GET", widgets, "", nil)
		return err == nil && status == http.StatusOK
	})
}

func (c *client) ask(method, path, contentType string, body []byte) (int, []byte, error) {
	request, err := http.NewRequest(method, "https://127.0.0.1"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}

func (c *client) remove(name string) error {
	status, body, err := c.ask("DELETE", widgets+"/"+name, "", nil)
	if err == nil && status != http.StatusOK {
		err = errors.New(string(body))
	}
	return err
}

// What is looked at of an object, or of a refusal.
type widget struct {
	Metadata struct {
		ResourceVersion string
		ManagedFields   []struct {
			Manager, Operation string
			FieldsV1           json.RawMessage
		}
	}
	Spec    interface{}
	Reason  string
	Details struct {
		Causes []struct{ Message, Field string }
	}
}

// write: an object that is not there is made, by an update too.
func (c *client) write(name string, w write) (*state, error) {
	path := widgets + "/" + name
	status, old, err := c.ask("GET", path, "", nil)
	if err != nil {
		return nil, err
	}
	object := map[string]interface{}{"apiVersion": "example.org/v1", "kind": "Widget",
		"metadata": map[string]interface{}{"name": name}, "spec": w.spec}
	method, query, kind := "PATCH", "?fieldManager="+w.manager, "application/apply-patch+yaml"
	if w.apply && w.force {
		query += "&force=true"
	}
	if !w.apply {
		method, kind = "PUT", "application/json"
		if status == http.StatusNotFound {
			method, path = "POST", widgets
		} else {
			var live map[string]interface{}
			if err := json.Unmarshal(old, &live); err != nil {
				return nil, err
			}
			object["metadata"] = live["metadata"]
		}
	}
	status, body, err := c.ask(method, path+query, kind, []byte(text(object)))
	if err != nil {
		return nil, err
	}
	var result state
	var answer widget
	if status == http.StatusConflict {
		if err := json.Unmarshal(body, &answer); err != nil {
			return nil, err
		}
		for _, cause := range answer.Details.Causes {
			found := conflictMessage.FindStringSubmatch(cause.Message)
			if found == nil {
				return nil, fmt.Errorf("a conflict says %q", cause.Message)
			}
			result.conflicts = append(result.conflicts, found[1]+" "+cause.Field)
		}
		sort.Strings(result.conflicts)
		body = old
	} else if status/100 != 2 {
		return nil, fmt.Errorf("%d %s", status, body)
	}
	answer = widget{}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	result.spec = answer.Spec
	result.owners, err = owners(&answer)
	return &result, err
}

var conflictMessage = regexp.MustCompile(`^conflict with "([^"]*)"`)

// owners are the managed fields, as far as they are in the spec.
func owners(of *widget) (map[string]*fieldpath.Set, error) {
	all := map[string]*fieldpath.Set{}
	for _, entry := range of.Metadata.ManagedFields {
		whole, spec := fieldpath.NewSet(), fieldpath.NewSet()
		if err := whole.FromJSON(bytes.NewReader(entry.FieldsV1)); err != nil {
			return nil, err
		}
		whole.Iterate(func(path fieldpath.Path) {
			if path[0].FieldName != nil && *path[0].FieldName == "spec" {
				spec.Insert(path.Copy())
			}
		})
		name := entry.Manager + " " + entry.Operation
		if all[name] != nil {
			return nil, fmt.Errorf("%s has two entries", name)
		}
		if !spec.Empty() {
			all[name] = spec
		}
	}
	return all, nil
}
