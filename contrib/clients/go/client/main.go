// SPDX-License-Identifier: Apache-2.0

// client DIRECTORY...: how many bytes each uses, by one fsquota batch.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"a-seed-6abb170e.example/fsquota.git/contrib/clients/go"
)

func main() {
	var client fsquota.Client
	defer client.Close()
	for _, directory := range os.Args[1:] {
		rows, err := client.Usage(context.Background(), directory)
		var failure *fsquota.Error
		if errors.As(err, &failure) {
			fmt.Println(failure.Message)
		} else if err != nil {
			panic(err)
		} else {
			fmt.Println(*rows[0].UsedBytes)
		}
	}
}
