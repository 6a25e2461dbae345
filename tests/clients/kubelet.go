// SPDX-License-Identifier: Apache-2.0
//
// kubelet DIRECTORY...: volumes come and go there, with kubelet's own package for project quotas. Those that an earlier
// run has left go first. From one line of standard input to the next they come, in turn in each directory, and the
// oldest one goes when there are more than four; then the number of those that came is printed. What the package reads
// of a volume is what it takes on the disk, when it comes and before it goes, or it ends with status 1.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"syscall"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/volume/util/fsquota"
	"k8s.io/mount-utils"
)

var mounter = mount.New("")

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func comes(path string, number int) {
	must(os.MkdirAll(path, 0777))
	must(fsquota.AssignQuota(mounter, path, types.UID("pod"), resource.NewQuantity(1<<30, resource.BinarySI)))
	file, err := os.OpenFile(path+"/file", os.O_CREATE|os.O_WRONLY|os.O_SYNC, 0666)
	must(err)
	_, err = file.Write(make([]byte, (1+number%4)<<16))
	must(err)
	must(file.Close())
}

func goes(path string) {
	must(fsquota.ClearQuota(mounter, path))
	must(os.RemoveAll(path))
}

func countsTrue(path string) {
	var directory, file syscall.Stat_t
	must(syscall.Stat(path, &directory))
	must(syscall.Stat(path+"/file", &file))
	used, err := fsquota.GetConsumption(path)
	must(err)
	inodes, err := fsquota.GetInodes(path)
	must(err)
	if takes := 512 * (directory.Blocks + file.Blocks); used.Value() != takes || inodes.Value() != 2 {
		log.Fatalf("%s: %v bytes and %v inodes, not %d and 2", path, used, inodes, takes)
	}
}

func main() {
	must(utilfeature.DefaultMutableFeatureGate.Set("LocalStorageCapacityIsolationFSQuotaMonitoring=true"))
	for _, directory := range os.Args[1:] {
		left, err := filepath.Glob(directory + "/*")
		must(err)
		for _, path := range left {
			goes(path)
		}
	}
	lines := make(chan bool)
	go func() {
		for input := bufio.NewScanner(os.Stdin); input.Scan(); {
			lines <- true
		}
		close(lines)
	}()
	var volumes []string
	for number := 0; <-lines; fmt.Println(number) {
		for again := true; again; number++ {
			path := fmt.Sprint(os.Args[1+number%(len(os.Args)-1)], "/", number)
			comes(path, number)
			countsTrue(path)
			if volumes = append(volumes, path); len(volumes) > 4 {
				countsTrue(volumes[0])
				goes(volumes[0])
				volumes = volumes[1:]
			}
			select {
			case <-lines:
				again = false
			default:
			}
		}
	}
}
