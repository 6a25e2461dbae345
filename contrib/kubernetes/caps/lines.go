// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// A line of fsquota.d(5).
type line struct{ path, words string }

type container struct {
	RestartPolicy string
	Resources     struct{ Limits map[string]string }
}

// What counts of a pod.
type pod struct {
	Metadata struct {
		Namespace, Name, UID, ResourceVersion string
		Annotations                           map[string]string
	}
	Spec struct {
		HostUsers                  *bool
		Containers, InitContainers []container
		Overhead                   map[string]string
		Volumes                    []struct {
			Name     string
			EmptyDir *struct{ Medium, SizeLimit string }
		}
	}
}

const (
	storage   = "ephemeral-storage"
	most      = 1 << 58 // a larger limit is none
	blockSize = 4096    // a limit below it is one block
)

var (
	name     = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$`)
	label    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	uid      = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	quantity = regexp.MustCompile(`^([+-]?[0-9.]{1,40})([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$`)
	special  = regexp.MustCompile(`[^A-Za-z0-9/_.~\x80-\xff-]`)
)

func isName(text string) bool { return name.MatchString(text) }

// size is that of a quantity of Kubernetes in bytes, rounded up; 0: it limits nothing.
func size(text string) int64 {
	parts := quantity.FindStringSubmatch(text)
	if parts == nil {
		return 0
	}
	bytes, good := new(big.Rat).SetString(parts[1])
	if !good {
		return 0
	}
	factor := new(big.Rat).SetInt64(1)
	switch suffix := parts[2]; {
	case strings.HasSuffix(suffix, "i"):
		factor.SetInt64(1 << (10 * (1 + strings.Index("KMGTPE", suffix[:1]))))
	case len(suffix) == 1:
		exponent := 3 * (strings.Index("num kMGTPE", suffix) - 3)
		factor.SetString(fmt.Sprintf("1e%d", exponent))
	case suffix != "":
		factor.SetString("1" + suffix)
	}
	bytes.Mul(bytes, factor)
	up := new(big.Int).Add(bytes.Num(), new(big.Int).Sub(bytes.Denom(), big.NewInt(1)))
	up.Quo(up, bytes.Denom())
	if up.Sign() <= 0 || up.Cmp(big.NewInt(most)) >= 0 {
		return 0
	}
	return up.Int64()
}

func larger(one, other int64) int64 {
	if one > other {
		return one
	}
	return other
}

// limitOf is the limit of a pod as kubelet computes it to evict pods: of all containers that run at a time.
func limitOf(p *pod) int64 {
	var sum, sidecars, starting int64
	for _, c := range p.Spec.Containers {
		sum += size(c.Resources.Limits[storage])
	}
	for _, c := range p.Spec.InitContainers {
		own := size(c.Resources.Limits[storage])
		if c.RestartPolicy == "Always" {
			sum += own
			sidecars += own
			own = 0
		}
		starting = larger(starting, sidecars+own)
	}
	sum = larger(sum, starting)
	if sum > 0 {
		sum += size(p.Spec.Overhead[storage])
	}
	return sum
}

// lines caps the volumes of a pod that are on the disk.
func (c *controller) lines(p *pod) []line {
	var lines []line
	limit := limitOf(p)
	// Kubelet runs no pod with this annotation: it stands for a pod of a file, which has another UID.
	if _, mirror := p.Metadata.Annotations["kubernetes.io/config.mirror"]; mirror {
		return nil
	}
	for _, volume := range p.Spec.Volumes {
		if volume.EmptyDir == nil || volume.EmptyDir.Medium != "" {
			continue
		}
		bytes := size(volume.EmptyDir.SizeLimit)
		if bytes == 0 || (limit > 0 && limit < bytes) {
			bytes = limit
		}
		if bytes == 0 {
			continue
		}
		if !uid.MatchString(p.Metadata.UID) || !label.MatchString(volume.Name) {
			complain("pod %q of %q: UID %q or volume %q is not as Kubernetes names them: no cap",
				p.Metadata.Name, p.Metadata.Namespace, p.Metadata.UID, volume.Name)
			continue
		}
		lines = append(lines, c.line(p, volume.Name, larger(bytes, blockSize)))
	}
	return lines
}

func (c *controller) line(p *pod, volume string, bytes int64) line {
	words := fmt.Sprintf("hard=%d", bytes)
	if c.softFirst {
		words = fmt.Sprintf("soft=%d hard=%d", bytes, bytes+bytes/10)
	}
	if c.ids == "kubelet" || (c.ids == "both" && p.Spec.HostUsers != nil && !*p.Spec.HostUsers) {
		words += " registered"
	} else {
		// A pattern: where it does not match yet is no error.
		volume = "[" + volume[:1] + "]" + volume[1:]
	}
	root := special.ReplaceAllString(strings.TrimSuffix(c.root, "/"), `\$0`)
	return line{root + "/pods/" + p.Metadata.UID + "/volumes/kubernetes.io~empty-dir/" + volume, words}
}
