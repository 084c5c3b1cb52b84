package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// RawDir finds the folder of raw files that a word on the command line means: the folder itself, the trace that it is going to be, or
// the number of a process of the run: a rank, its launcher, or the slackline that records it.
func RawDir(word string) (string, error) {
	if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
		if _, err := os.Stat(word); err != nil {
			return dirOfProcess(pid)
		}
	}
	if _, err := os.Stat(filepath.Join(word, orderFile)); err == nil {
		return word, nil
	}
	list := ordersBeside(word)
	if info, err := os.Stat(word); err == nil && info.IsDir() && len(list) == 0 {
		list, _ = filepath.Glob(filepath.Join(quoteGlob(word), ".*-raw-*", orderFile))
	}
	switch len(list) {
	case 0:
		_, err := readOrder(word)
		return "", err
	case 1:
		return filepath.Dir(list[0]), nil
	}
	var names []string
	for _, path := range list {
		names = append(names, filepath.Dir(path))
	}
	return "", fmt.Errorf("%s: there are raw files of several runs: give one of %s", word, strings.Join(names, ", "))
}

// ordersBeside are the orders in the folders of raw files that become a trace.
func ordersBeside(out string) []string {
	dir, name := filepath.Split(filepath.Clean(out))
	list, _ := filepath.Glob(quoteGlob(dir+"."+name+"-raw-") + "*/" + orderFile)
	return list
}

// dirOfProcess finds the folder that a process of this user writes to, or one that it has started.
func dirOfProcess(pid int) (string, error) {
	info, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	if err != nil {
		return "", fmt.Errorf("there is no process %d on this host; give the directory of its raw files", pid)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() {
		return "", fmt.Errorf("process %d belongs to another user: only own programs are looked at", pid)
	}
	children := childrenOf()
	for list := []int{pid}; len(list) > 0; {
		next := list[0]
		list = append(list[1:], children[next]...)
		if dir := rawDirIn(next); dir != "" {
			return dir, nil
		}
	}
	return "", fmt.Errorf("process %d is not recorded by slackline, nor is one that it has started; "+
		"give a process of a run under 'slackline record'", pid)
}

// rawDirIn is the folder that the environment of a process names; empty: none, or it cannot be read.
func rawDirIn(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return ""
	}
	for variable := range bytes.SplitSeq(text, []byte{0}) {
		dir, found := bytes.CutPrefix(variable, []byte("SLACKLINE_RECORD_DIR="))
		if !found {
			continue
		}
		if _, err := os.Stat(filepath.Join(string(dir), orderFile)); err == nil {
			return string(dir)
		}
	}
	return ""
}

// childrenOf is the processes by the one that started them.
func childrenOf() map[int][]int {
	children := map[int][]int{}
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range list {
		text, err := os.ReadFile(path)
		end := bytes.LastIndexByte(text, ')')
		fields := strings.Fields(string(text[end+1:]))
		if err != nil || len(fields) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], pid)
	}
	return children
}
