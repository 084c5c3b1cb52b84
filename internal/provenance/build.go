package provenance

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"io"
	"os"
)

// Build identifies the running program: two builds from other sources, or with other flags, differ in it even if they
// have the same version. It is short enough for a message.
func Build() string {
	path, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	return buildOf(path)
}

// buildOf identifies a program by what the linker wrote into it, or, if it was set not to, by its bytes.
func buildOf(path string) string {
	h := sha256.New()
	if id := linkerID(path); len(id) > 0 {
		h.Write(id)
	} else {
		f, err := os.Open(path)
		if err != nil {
			return "unknown"
		}
		defer f.Close()
		if _, err := io.Copy(h, f); err != nil {
			return "unknown"
		}
	}
	const enough = 6 // bytes
	return hex.EncodeToString(h.Sum(nil)[:enough])
}

// linkerID is the build ID of a program in ELF form: a hash of its content and of all that it was made of. It stays
// there when symbols are stripped. nil: there is none.
func linkerID(path string) []byte {
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	note := f.Section(".note.go.buildid")
	if note == nil {
		return nil
	}
	const head = 16 // three numbers and the name "Go"
	data, err := note.Data()
	if err != nil || len(data) <= head || !bytes.Equal(data[12:16], []byte("Go\x00\x00")) {
		return nil
	}
	return bytes.Trim(data[head:], "\x00")
}
