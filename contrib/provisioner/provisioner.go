// SPDX-License-Identifier: Apache-2.0

// provisioner DIRECTORY: fifty volumes of 1 MiB in it; the first one that is full grows; then all are released.
// Build it with "go build provisioner.go".
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"a-seed-6abb170e.example/fsquota.git/contrib/clients/go"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "provisioner:", err)
		os.Exit(1)
	}
}

func main() {
	ctx, client, volumes := context.Background(), &fsquota.Client{}, map[uint32]string{}
	for number := 1; number <= 50; number++ {
		path := fmt.Sprintf("%s/volume%d", os.Args[1], number)
		row, err := client.Assign(ctx, fsquota.AssignRequest{
			Directory: path, Limits: fsquota.Limits{Hard: "1M"}, Mkdir: true, Owner: "1000:1000"})
		check(err)
		volumes[row.ID] = path
	}
	watch, err := client.Watch(os.Args[1])
	check(err)
	fmt.Println(len(volumes), "volumes")
	full := ""
	for event := range watch.Events {
		if *event.Event == "hard-reached" && volumes[event.ID] != "" {
			full = volumes[event.ID]
			break
		}
	}
	check(watch.Close())
	_, err = client.Resize(ctx, fsquota.ResizeRequest{Directory: full, Limits: fsquota.Limits{Hard: "+1M"}})
	check(err)
	rows, err := client.Usage(ctx, full)
	check(err)
	fmt.Println(filepath.Base(full), "was full, and has", *rows[0].HardBytes)
	for _, path := range volumes {
		_, err := client.Release(ctx, fsquota.ReleaseRequest{Directory: path})
		check(err)
	}
	check(client.Close())
}
