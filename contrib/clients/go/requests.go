// SPDX-License-Identifier: Apache-2.0

package fsquota

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
)

// Size is a number of bytes, "500M", "1.5G" or "10%" of the filesystem; a number of inodes; or "none" for no limit.
type Size string

// Bytes is a size in bytes.
func Bytes(bytes uint64) Size { return Size(strconv.FormatUint(bytes, 10)) }

// Inodes is a number of files and directories.
func Inodes(inodes uint64) Size { return Size(strconv.FormatUint(inodes, 10)) }

// Limits to set; what is empty stays. Of the rows of an answer, Limits() returns all four: with them another directory
// gets the same limits.
type Limits struct {
	Hard, Soft             Size
	HardInodes, SoftInodes Size
}

// limitsOf is the Limits method of each row that has them.
func limitsOf(hard, soft, hardInodes, softInodes *uint64) Limits {
	size := func(number *uint64) Size {
		if number == nil {
			return "none"
		}
		return Bytes(*number)
	}
	return Limits{size(hard), size(soft), size(hardInodes), size(softInodes)}
}

// AssignRequest is what fsquota-assign(8) takes.
type AssignRequest struct {
	Directory string
	Limits
	Name            string      // join this project, or create it
	ID              uint32      // insist on this ID
	Mkdir           bool        // create the directory if needed
	Mode            fs.FileMode // then, with these permissions
	Owner           string      // and this USER or USER:GROUP
	Around          bool        // leave registered directories in it to their projects
	RequireEnforced bool        // fail where the limits would stop nobody
	Force           bool        // also where the limit does not fit in a budget
	DryRun          bool
}

// ReleaseRequest is what fsquota-release(8) takes.
type ReleaseRequest struct {
	Directory string
	ID        uint32 // the ID that the directory carries is its own
	KeepTags  bool   // leave the ID on the files: the directory is about to be deleted
	IfExists  bool   // what has no quota is no failure
	DryRun    bool
}

// ResizeRequest is what fsquota-resize(8) takes. Hard can be "+5G" or "+20%", too.
type ResizeRequest struct {
	Directory string
	Limits
	Until       string // when the limits go back, such as 3d; "": they stay
	AllowShrink bool
	Force       bool
	DryRun      bool
}

type words []string

func (to *words) set(option, value string, given bool) {
	if given {
		*to = append(*to, option+"="+value)
	}
}

func (to *words) flag(option string, given bool) {
	if given {
		*to = append(*to, option)
	}
}

func (to *words) limits(limits Limits) {
	to.set("--hard", string(limits.Hard), limits.Hard != "")
	to.set("--soft", string(limits.Soft), limits.Soft != "")
	to.set("--hard-inodes", string(limits.HardInodes), limits.HardInodes != "")
	to.set("--soft-inodes", string(limits.SoftInodes), limits.SoftInodes != "")
}

// Assign puts a quota on a directory: all or nothing.
func (client *Client) Assign(ctx context.Context, request AssignRequest) (AssignRow, error) {
	to := words{"assign"}
	to.limits(request.Limits)
	to.set("--name", request.Name, request.Name != "")
	to.set("--id", fmt.Sprint(request.ID), request.ID != 0)
	to.flag("--mkdir", request.Mkdir)
	to.set("--mode", fmt.Sprintf("%o", request.Mode.Perm()), request.Mode != 0)
	to.set("--owner", request.Owner, request.Owner != "")
	to.flag("--around", request.Around)
	to.flag("--require-enforced", request.RequireEnforced)
	to.flag("--force", request.Force)
	to.flag("--dry-run", request.DryRun)
	answer, err := Ask[AssignAnswer](ctx, client, append(to, "--", request.Directory)...)
	return first(answer.Assign, err)
}

// Release takes the quota off a directory: all or nothing.
func (client *Client) Release(ctx context.Context, request ReleaseRequest) (ReleaseRow, error) {
	to := words{"release"}
	to.set("--id", fmt.Sprint(request.ID), request.ID != 0)
	to.flag("--keep-tags", request.KeepTags)
	to.flag("--if-exists", request.IfExists)
	to.flag("--dry-run", request.DryRun)
	answer, err := Ask[ReleaseAnswer](ctx, client, append(to, "--", request.Directory)...)
	if err == nil && len(answer.Release) == 0 && request.IfExists {
		return ReleaseRow{}, nil
	}
	return first(answer.Release, err)
}

// Resize changes the limits of the project that a directory belongs to.
func (client *Client) Resize(ctx context.Context, request ResizeRequest) (ResizeRow, error) {
	to := words{"resize"}
	to.limits(request.Limits)
	to.set("--until", request.Until, request.Until != "")
	to.flag("--allow-shrink", request.AllowShrink)
	to.flag("--force", request.Force)
	to.flag("--dry-run", request.DryRun)
	answer, err := Ask[ResizeAnswer](ctx, client, append(to, "--", request.Directory)...)
	return first(answer.Resize, err)
}

// Usage asks for the use and the limits of directories. With an error the rows are of those that have none.
func (client *Client) Usage(ctx context.Context, directories ...string) ([]UsageRow, error) {
	answer, err := Ask[UsageAnswer](ctx, client, append(words{"usage", "--"}, directories...)...)
	return answer.Usage, err
}

// List lists the projects whose directories are at or below the paths, or all.
func (client *Client) List(ctx context.Context, paths ...string) ([]ListRow, error) {
	answer, err := Ask[ListAnswer](ctx, client, append(words{"list", "--"}, paths...)...)
	return answer.List, err
}

// Supported asks whether a directory can get a quota.
func (client *Client) Supported(ctx context.Context, directory string) (SupportedRow, error) {
	answer, err := Ask[SupportedAnswer](ctx, client, "supported", "--", directory)
	return answer.Supported, err
}

func first[Row any](rows []Row, err error) (Row, error) {
	var none Row
	if len(rows) > 0 {
		return rows[0], err
	}
	if err == nil {
		err = fmt.Errorf("the answer has no row")
	}
	return none, err
}
