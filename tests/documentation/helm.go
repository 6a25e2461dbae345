// SPDX-License-Identifier: Apache-2.0

// helm NAMESPACE TEMPLATE: render a template of a chart as Helm does, with the values that are JSON on standard input.
package main

import (
	"encoding/json"
	"log"
	"os"
	"text/template"
)

func main() {
	var values map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&values); err != nil {
		log.Fatal(err)
	}
	toJSON := func(value any) (string, error) {
		text, err := json.Marshal(value)
		return string(text), err
	}
	parsed := template.Must(template.New("chart").Option("missingkey=error").
		Funcs(template.FuncMap{"toJson": toJSON}).Parse(os.Args[2]))
	release := map[string]string{"Namespace": os.Args[1]}
	if err := parsed.Execute(os.Stdout, map[string]any{"Values": values, "Release": release}); err != nil {
		log.Fatal(err)
	}
}
