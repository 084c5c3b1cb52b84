// Package trusted decides whether what lies in a folder may be run as this user.
//
// A program that is preloaded, executed or compiled from a folder in which another user can write runs as the user with
// the code of that other one. So every folder on the way must belong to the user or to root, and be writable for its
// owner alone; a folder with the sticky bit, such as /tmp, may be on the way, since users cannot replace there what is not
// theirs. Symbolic links on the way must belong to the user or to root, too.
package trusted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ErrUntrusted means that another user can decide what a file contains.
var ErrUntrusted = errors.New("what lies there is not run")

// Dir makes a folder for this user alone, unless it is there, and checks it and all folders on the way to it.
func Dir(path string) error {
	if err := makeDirs(path); err != nil {
		return err
	}
	return check(path, true)
}

// makeDirs makes what is missing of a path.
func makeDirs(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if parent := filepath.Dir(path); parent != path {
		if err := makeDirs(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// File checks a file, its folder and all folders on the way to it.
func File(path string) error {
	if err := check(filepath.Dir(path), true); err != nil {
		return err
	}
	return check(path, false)
}

// Owned checks that a file, a folder or a link belongs to the user or to root and that not all users can write there. It
// does not look at the way to it, nor at groups: it is for folders that users choose and share with their colleagues.
func Owned(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	switch uid, mode := owner(info), info.Mode(); {
	case !isOurs(uid):
		return fmt.Errorf("%s belongs to user %d, not to you: %w", path, uid, ErrUntrusted)
	case mode.Type() != fs.ModeSymlink && mode.Perm()&0o002 != 0:
		return fmt.Errorf("%s can be written by all users (mode %04o; chmod o-w takes that away): %w", path, mode.Perm(), ErrUntrusted)
	}
	return nil
}

// check follows a path from the root on, link by link. At its end must be a folder, or else a plain file.
func check(path string, folder bool) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	const maxLinks = 40 // as the system has it
	at, rest, links := "/", split(path), 0
	for {
		info, err := os.Lstat(at)
		if err != nil {
			return err
		}
		if err := checkOne(at, info, len(rest) == 0); err != nil {
			return err
		}
		switch {
		case info.Mode().Type() == fs.ModeSymlink:
			target, err := os.Readlink(at)
			if err != nil {
				return err
			}
			if links++; links > maxLinks {
				return &fs.PathError{Op: "follow", Path: path, Err: syscall.ELOOP}
			}
			if at = filepath.Dir(at); filepath.IsAbs(target) {
				at = "/"
			}
			rest = append(split(target), rest...)
		case len(rest) == 0 && folder && !info.IsDir():
			return fmt.Errorf("%s is not a folder: %w", at, ErrUntrusted)
		case len(rest) == 0 && !folder && !info.Mode().IsRegular():
			return fmt.Errorf("%s is not a plain file: %w", at, ErrUntrusted)
		}
		if len(rest) == 0 {
			return nil
		}
		at, rest = filepath.Join(at, rest[0]), rest[1:] // no name before .. is a link any more
	}
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}

// checkOne checks one file, folder or link of a path.
func checkOne(path string, info fs.FileInfo, last bool) error {
	uid, mode := owner(info), info.Mode()
	switch others := mode.Perm() & 0o022; {
	case !isOurs(uid) && (last || !isHostRoot(uid)):
		return fmt.Errorf("%s belongs to user %d, not to you: %w", path, uid, ErrUntrusted)
	case mode.Type() == fs.ModeSymlink: // its permissions mean nothing
	case others != 0 && (last || mode&fs.ModeSticky == 0):
		return fmt.Errorf("%s can be written by others (mode %04o; chmod go-w takes that away): %w", path, mode.Perm(), ErrUntrusted)
	}
	return nil
}

func isOurs(uid int) bool { return uid == os.Getuid() || uid == 0 }

// owner is the user that a file belongs to; -1: the system does not report it.
func owner(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}

// isHostRoot reports whether a number is the one by which a container shows users that it does not know. Root of the
// host is one of them, whose folders lead to all others; the last one and the file must belong to a known user.
func isHostRoot(uid int) bool {
	users, err := os.ReadFile("/proc/self/uid_map")
	const all = "0 0 4294967295"
	if err != nil || strings.Join(strings.Fields(string(users)), " ") == all {
		return false
	}
	number, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	return err == nil && strconv.Itoa(uid) == strings.TrimSpace(string(number))
}
