// SPDX-License-Identifier: Apache-2.0

// client DIRECTORY...: how many bytes each uses, by one fsquota batch.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

type answer struct {
	Error *struct{ Message string }
	Usage []struct {
		UsedBytes uint64 `json:"used_bytes"`
	}
}

func main() {
	batch := exec.Command("fsquota", "batch")
	requests, _ := batch.StdinPipe()
	answers, _ := batch.StdoutPipe()
	if err := batch.Start(); err != nil {
		panic(err)
	}
	ask, hear := json.NewEncoder(requests), json.NewDecoder(answers)
	for _, directory := range os.Args[1:] {
		var got answer
		ask.Encode([]string{"usage", "--", directory})
		if err := hear.Decode(&got); err != nil {
			panic(err)
		} else if got.Error != nil {
			fmt.Println(got.Error.Message)
		} else {
			fmt.Println(got.Usage[0].UsedBytes)
		}
	}
	requests.Close()
	batch.Wait()
}
